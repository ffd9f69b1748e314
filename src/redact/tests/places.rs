use super::super::Redacted;
use super::{check, fill, redact};

#[test]
fn addresses_and_connection_strings() {
    check(&[
        ("postgres://u:p@h/db", "postgres://u:«url-password»@h/db"),
        (
            "postgres://user:p@ss/w0rd@h:5432/db",
            "postgres://user:«url-password»@h:5432/db",
        ),
        (
            "redis://:secretpw@localhost:6379/0",
            "redis://:«url-password»@localhost:6379/0",
        ),
        (
            "https://abcdef1234567890abcdef1234567890@host/x",
            "https://«url-password»@host/x",
        ),
        (
            "https://x-access-token:⟨ghp⟩@github.com/a/b",
            "https://x-access-token:«url-password»@github.com/a/b",
        ),
        (
            "https://⟨ghp⟩@github.com/a/b",
            "https://«url-password»@github.com/a/b",
        ),
        (
            "(mongodb+srv://u:p%40ss@c0.mongodb.net/x?y=1)",
            "(mongodb+srv://u:«url-password»@c0.mongodb.net/x?y=1)",
        ),
        (
            r#"{"DATABASE_URL":"mysql://u:p@h/d"}"#,
            r#"{"DATABASE_URL":"mysql://u:«url-password»@h/d"}"#,
        ),
        (
            "https://x.io/a?token=abc&x=1#f",
            "https://x.io/a?token=«token»&x=1#f",
        ),
        (
            "https://x.io/?x=1&access_token=abcdef",
            "https://x.io/?x=1&access_token=«token»",
        ),
        (
            "https://b/k?X-Amz-Signature=9f86d081884c7d659a2f&x=1",
            "https://b/k?X-Amz-Signature=«signature»&x=1",
        ),
        (
            "https://a/c?sv=2020&sig=abcDEF123%2Fabc%3D&se=2024",
            "https://a/c?sv=2020&sig=«signature»&se=2024",
        ),
        (
            "Server=x;User Id=sa;Password=P@ss word;Encrypt=true",
            "Server=x;User Id=sa;Password=«password»;Encrypt=true",
        ),
        ("Server=x;Uid=sa;Pwd=abc", "Server=x;Uid=sa;Pwd=«password»"),
        (
            "AccountName=a;AccountKey=abc+def/123==;Suffix=core",
            "AccountName=a;AccountKey=«access-key»;Suffix=core",
        ),
        (
            "host=localhost password=swordfish dbname=x",
            "host=localhost password=«password» dbname=x",
        ),
    ]);
}

#[test]
fn command_lines() {
    check(&[
        (
            "curl -u user:pass https://x.io",
            "curl -u user:«basic-auth» https://x.io",
        ),
        (
            "curl --user 'user:pa ss' https://x.io",
            "curl --user 'user:«basic-auth»' https://x.io",
        ),
        ("tool --token=abc --x", "tool --token=«token» --x"),
        (
            "tool --password swordfish --verbose",
            "tool --password «password» --verbose",
        ),
        ("tool --password 'hunter 2'", "tool --password '«password»'"),
        (r#"["--password","hunter2"]"#, r#"["--password","«password»"]"#),
        ("mysql -u root -pSecret123 db", "mysql -u root -p«password» db"),
        ("sshpass -p 'hunter2' ssh x", "sshpass -p '«password»' ssh x"),
        (
            "docker login -u me -p hunter2 reg.io",
            "docker login -u me -p «password» reg.io",
        ),
        ("redis-cli -a hunter2 ping", "redis-cli -a «password» ping"),
        (
            "machine h.io login me password hunter2",
            "machine h.io login me password «password»",
        ),
        ("PGPASSWORD=abc psql -h x", "PGPASSWORD=«password» psql -h x"),
        (
            "docker run -e API_KEY=abc img",
            "docker run -e API_KEY=«api-key» img",
        ),
        (
            r#"{"command":"export TOKEN=abc\ncurl x"}"#,
            r#"{"command":"export TOKEN=«token»\ncurl x"}"#,
        ),
    ]);
}

#[test]
fn json_stays_json() {
    let secrets = [
        "hunter2",
        "a\"b",
        "a\\b",
        "ünï",
        "⟨ghp⟩",
        "p@ss;w,rd",
        "line\nbreak1",
    ];
    for secret in secrets {
        let secret = fill(secret);
        let inner = serde_json::json!({"password": secret, "n": [1, {"api_key": secret}]}).to_string();
        let texts = [
            inner.clone(),
            serde_json::json!({"cmd": format!("PASSWORD={secret} x --token={secret}"), "z": 1}).to_string(),
            serde_json::json!({"text": inner, "env": {"A_TOKEN": secret}}).to_string(),
            serde_json::json!({"t": serde_json::json!({"u": inner}).to_string()}).to_string(),
            serde_json::json!({"password": 123_456_789, "secret": null, "token": true}).to_string(),
        ];
        for text in texts {
            let out = redact(&text);
            let parsed = serde_json::from_str::<serde_json::Value>(&out);
            assert!(parsed.is_ok(), "{text}\n{out}");
            assert!(!out.contains("hunter2") && !out.contains(&fill("⟨ghp⟩")), "{out}");
        }
    }
}

#[test]
fn a_cut_never_splits_a_marker_or_shows_a_secret() {
    let text = fill("héllo ⟨ghp⟩ and password=\"hunter2\" end");
    let whole = Redacted::new(&text);
    for max in 0..whole.chars().count() + 3 {
        let short = Redacted::truncated(&text, max);
        assert!(short.chars().count() <= max);
        assert_eq!(short.matches('[').count(), short.matches(']').count(), "{short}");
        assert!(!short.contains("hunter") && !short.contains("x7Kd"));
        assert_eq!(short.ends_with('…'), max > 0 && max < whole.chars().count());
    }
    assert_eq!(Redacted::truncated(&text, 1000), whole);
    assert_eq!(Redacted::truncated("abc", 3).as_str(), "abc");
    assert_eq!(Redacted::truncated("abcd", 3).as_str(), "ab…");
}

#[test]
fn a_long_text_is_cut_as_if_redacted_whole() {
    let text = fill("⟨ghp⟩ word password=hunter2\n").repeat(4000);
    let whole = Redacted::new(&text);
    for max in [0, 1, 10, 100, 5000] {
        let short = Redacted::truncated(&text, max);
        let kept = short.trim_end_matches('…');
        assert!(whole.starts_with(kept) && !short.contains("hunter2"));
    }
}

#[test]
fn the_first_line_is_the_first_that_is_not_blank() {
    assert_eq!(Redacted::first_line("\n\n  one \r\ntwo", 10).as_str(), "one");
    assert_eq!(Redacted::first_line("one two three", 8).as_str(), "one two…");
    assert_eq!(Redacted::first_line("", 8).as_str(), "");
    assert_eq!(
        Redacted::first_line(&fill("k ⟨begin⟩\n⟨b64⟩\n⟨end⟩ z\nb"), 80).as_str(),
        "k [REDACTED:private-key] z"
    );
}

#[test]
fn serde_writes_a_plain_string() {
    let text = Redacted::new("password=\"x1\"");
    let json = serde_json::to_string(&text).unwrap();
    assert_eq!(json, r#""password=\"[REDACTED:password]\"""#);
    assert_eq!(serde_json::from_str::<Redacted>(&json).unwrap(), text);
}
