use super::super::families::FAMILIES;
use super::{check, redact};

fn sample_of(family: &super::super::shapes::Family) -> (String, String) {
    let marker = format!("[REDACTED:{}]", family.rule);
    let kept = if family.keep { family.prefix } else { "" };
    (
        format!("{}{}", family.prefix, family.sample),
        format!("{kept}{marker}"),
    )
}

/// `⟨⟩` is the token. None of the places names it.
const PLACES: &[&str] = &[
    "⟨⟩",
    "see ⟨⟩ there",
    "(⟨⟩)",
    "\"⟨⟩\"",
    "'⟨⟩',",
    "`⟨⟩`",
    "x=⟨⟩;y",
    "\t⟨⟩\r\nnext",
    r#"{"a":"first\n⟨⟩\nlast"}"#,
    "öäü ⟨⟩ 漢字",
    "漢⟨⟩字",
    "%20⟨⟩%20",
    "\u{1b}[31m⟨⟩\u{1b}[0m",
    "/tmp/⟨⟩/x",
    "error: cannot open '⟨⟩': no such file",
    "<b>⟨⟩</b>",
];

#[test]
fn every_family_is_replaced_in_every_place() {
    for family in FAMILIES {
        let (token, marker) = sample_of(family);
        for place in PLACES {
            let text = place.replace("⟨⟩", &token);
            let out = redact(&text);
            let path = place.starts_with("/tmp") || place.starts_with("%20");
            // A body that may hold `/` or `%` takes what follows with it.
            if path {
                assert!(!out.contains(family.sample), "{text} -> {out}");
            } else {
                assert_eq!(out, place.replace("⟨⟩", &marker), "{text}");
            }
            assert_eq!(redact(&out), out);
        }
    }
}

#[test]
fn the_table_is_sorted_by_its_first_two_letters() {
    assert!(FAMILIES.is_sorted_by_key(super::super::shapes::Family::letters));
}

#[test]
fn every_rule_name_makes_a_marker() {
    for family in FAMILIES {
        let marker = format!("[REDACTED:{}]", family.rule);
        let text = format!("password=\"{marker}\"");
        assert_eq!(redact(&text), text);
    }
    for rule in super::super::marker::RULES {
        let text = format!("password=\"[REDACTED:{rule}]\"");
        assert_eq!(redact(&text), text);
    }
}

#[test]
fn a_secret_in_the_clothes_of_a_marker_is_found() {
    check(&[("[REDACTED:⟨ghp⟩]", "[REDACTED:«github-token»]")]);
}

#[test]
fn tokens_known_by_their_middle() {
    check(&[
        ("a ⟨jwt⟩.", "a «jwt»."),
        ("⟨jwt⟩", "«jwt»"),
        (
            "https://api.telegram.org/bot⟨telegram⟩/getMe",
            "https://api.telegram.org/bot«telegram-token»/getMe",
        ),
        ("login ⟨discord⟩ ok", "login «discord-token» ok"),
        ("use ⟨mailchimp⟩, then", "use «mailchimp-key», then"),
        ("tf ⟨atlas⟩", "tf «terraform-token»"),
        ("azure \"⟨azure⟩\"", "azure \"«azure-client-secret»\""),
    ]);
}

#[test]
fn private_keys_whole_and_cut() {
    check(&[
        ("a\n⟨begin⟩\n⟨b64⟩\n⟨b64⟩\nab12=\n⟨end⟩\nb", "a\n«private-key»\nb"),
        ("a\r\n⟨begin⟩\r\n⟨b64⟩\r\n⟨end⟩\r\nb", "a\r\n«private-key»\r\nb"),
        (
            r#"{"k":"⟨begin⟩\n⟨b64⟩\n⟨end⟩\n","x":1}"#,
            r#"{"k":"«private-key»\n","x":1}"#,
        ),
        (
            r#"{"private_key":"⟨begin⟩\n⟨b64⟩\n⟨end⟩\n","x":1}"#,
            r#"{"private_key":"«private-key»\n","x":1}"#,
        ),
        ("⟨begin⟩\n⟨b64⟩\n⟨b64⟩", "«private-key»"),
        (
            "⟨begin⟩\n⟨b64⟩\nab12\n\nthe rest of the text",
            "«private-key»\n\nthe rest of the text",
        ),
        (r#"{"k":"⟨begin⟩\n⟨b64⟩\n⟨b64⟩"}"#, r#"{"k":"«private-key»"}"#),
        (
            "⟨begin⟩\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0102\n\n⟨b64⟩\n",
            "«private-key»\n",
        ),
        (
            "     1\t⟨begin⟩\n     2\t⟨b64⟩\n     3\t⟨b64⟩\nx y",
            "     1\t«private-key»\nx y",
        ),
        (
            "PRIVATE_KEY=\"⟨begin⟩\n⟨b64⟩\n⟨end⟩\"\nA=1",
            "PRIVATE_KEY=\"«private-key»\"\nA=1",
        ),
        (
            "key: |\n  ⟨begin⟩\n  ⟨b64⟩\n  ⟨end⟩\nnext: 1",
            "key: |\n  «private-key»\nnext: 1",
        ),
        (
            "a ⟨begin⟩ line and an ⟨end⟩ line",
            "a ⟨begin⟩ line and an ⟨end⟩ line",
        ),
        (
            "-----BEGIN CERTIFICATE-----\n⟨b64⟩\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\n⟨b64⟩\n-----END CERTIFICATE-----",
        ),
    ]);
}

#[test]
fn what_a_public_rule_set_found_that_was_left() {
    let alnum = "x7Kd93mQpL2vB8nR4tY6wZ1cF5gH0jSaEuIo";
    let hex = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    for (before, secret, after) in [
        ("see s", ".2b6bokboacq7v1tvgbwp7hj4", " there"),
        ("pat", &format!("oDpqK4HZIzbNSu.{hex}"), " ok"),
        ("SK", "80EAF7DAAC57CA2E65DBC4B78B3D4AFA", ""),
        ("_gitlab_session=", "eg010ze0lf3bzrbnvplsn1bn1d2iskt3", "; x=1"),
        ("FLY_API_TOKEN=FlyV1 ", &format!("{alnum},{alnum}/="), "\n"),
        ("API_TOKEN=Bearer ", alnum, "\n"),
        ("xoxd-", &format!("{alnum}+{alnum}\\/{alnum}="), "\""),
        ("export ACME_TOKEN=\"", "064306357791198536", "\""),
        ("fly --token FlyV1 ", &format!("{alnum},{alnum}/="), " deploy"),
        ("curl -H 'Authorization: ", "pixAs9YC.dGpmuBrHatd85TCM", "' x"),
        ("curl -H 'Authorization: ", "IKyGh_YzyzM8OIEhyNc9Gk", "' x"),
        (
            "-H \"Authorization: Bearer FlyV1 ",
            &format!("{alnum},{alnum}/="),
            "\" x",
        ),
        ("FB_PAGE_TOKEN=", alnum, "\n"),
        ("acme_api_key: ", "eu1.xiz6UtLyCxsNcd62oZTO", ""),
        ("acme_api_key: ", "UZnlcs2JSKQTACqqCAqpuIFQZigoqpRnIjrbpUabk", ""),
        (
            "curl -H 'Authorization: ",
            "Bg0hsxgnMWtnx4cpCCnv.q3ujdZ6FU98XxQSJJ",
            "' x",
        ),
        (
            "https://graph.corp.net/EAAC",
            &format!("{alnum}{alnum}{alnum}"),
            "/me",
        ),
    ] {
        let text = format!("{before}{secret}{after}");
        let out = redact(&text);
        let parts = [
            secret.get(2..12).unwrap(),
            secret.get(secret.len() - 12..).unwrap(),
        ];
        assert!(parts.iter().all(|part| !out.contains(part)), "{text} -> {out}");
        assert!(out.ends_with(after), "{text} -> {out}");
    }
}
