//! Tests of redaction. Token values are put together at run time: `⟨ghp⟩` in
//! a table row stands for a prefix and a body that no source line joins.

mod attack;
mod damage;
mod families;
mod found;
mod ordinary;
mod places;
mod properties;
mod spellings;

use super::redact;

const TOKENS: &[(&str, &[&str])] = &[
    ("⟨ghp⟩", &["gh", "p_x7Kd93mQpL2vB8nR4tY6wZ1cF5gH0jSaEuIo"]),
    ("⟨sk⟩", &["s", "k-x7Kd93mQpL2vB8nR4tY6wZ1c"]),
    ("⟨ant⟩", &["sk-", "ant-api03-x7Kd93mQpL2vB8nR4tY6wZ1c"]),
    ("⟨akia⟩", &["AK", "IAQ7KD93MXPL2VB8NR"]),
    (
        "⟨jwt⟩",
        &[
            "ey",
            "JhbGciOiJIUzI1NiJ9.",
            "ey",
            "JzdWIiOiIxMjM0In0.x7Kd93mQpL2vB8nR4tY6wZ1c",
        ],
    ),
    (
        "⟨telegram⟩",
        &["123456789", ":AAx7Kd93mQpL2vB8nR4tY6wZ1cF5gH0jSaEu"],
    ),
    (
        "⟨discord⟩",
        &[
            "MTIzNDU2Nzg5MDEyMzQ1Njc4",
            ".GxYz12.",
            "x7Kd93mQpL2vB8nR4tY6wZ1cF5gH0jSaEuIo",
        ],
    ),
    ("⟨mailchimp⟩", &["9f86d081884c7d659a2feaa0c55ad015", "-us12"]),
    (
        "⟨atlas⟩",
        &[
            "x7Kd93mQpL2vB8",
            ".atlas",
            "v1.x7Kd93mQpL2vB8nR4tY6wZ1cF5gH0jSaEuIox7Kd93mQpL2vB8nR4tY6wZ1c",
        ],
    ),
    ("⟨azure⟩", &["abc8", "Q~x7Kd93mQpL2vB8nR4tY6wZ1cF5gH0jSaE"]),
    ("⟨begin⟩", &["-----BEGIN RSA PRIV", "ATE KEY-----"]),
    ("⟨end⟩", &["-----END RSA PRIV", "ATE KEY-----"]),
    (
        "⟨b64⟩",
        &["MIIEpAIBAAKCAQEAx7Kd93mQpL2vB8nR4tY6wZ1cF5gH0jSaEuIox7Kd93mQpL2v"],
    ),
];

/// The row with each `⟨name⟩` replaced by its token.
fn fill(row: &str) -> String {
    TOKENS.iter().fold(row.to_owned(), |text, (name, parts)| {
        text.replace(name, &parts.concat())
    })
}

/// Each row is what goes in and what comes out (`«rule»` for a marker).
#[track_caller]
fn check(rows: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (input, expected) in rows {
        let input = fill(input);
        let expected = fill(expected).replace('«', "[REDACTED:").replace('»', "]");
        let got = redact(&input);
        if got != expected {
            wrong.push(format!("in   {input}\nwant {expected}\ngot  {got}"));
        }
        if redact(&got) != got {
            wrong.push(format!("not idempotent: {input}"));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Each row comes out as it went in.
#[track_caller]
fn untouched(rows: &[&str]) {
    let rows: Vec<_> = rows.iter().map(|row| (*row, *row)).collect();
    check(&rows);
}
