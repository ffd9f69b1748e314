//! What the fuzzers found, as small as it gets.

use super::check;

#[test]
fn a_form_feed_before_a_name_ends_the_look_back() {
    check(&[
        ("\u{c}ApiKey:", "\u{c}ApiKey:"),
        ("\u{c}ApiKey: x7Kd93mQpL2vB8nR", "\u{c}ApiKey: «api-key»"),
        (
            "1 \u{c} 2\u{c}\u{c}password=hunter2",
            "1 \u{c} 2\u{c}\u{c}password=«password»",
        ),
        ("\u{b}token: x7Kd93mQpL2vB8nR", "\u{b}token: «token»"),
    ]);
}

#[test]
fn the_quote_that_ends_the_text_around_a_name_begins_no_value() {
    check(&[
        (
            r#"{"a":"{\"PWD\":","list":["x"]}"#,
            r#"{"a":"{\"PWD\":","list":["x"]}"#,
        ),
        (
            r#"{"a":"f(\"X-Api-Key\",","list":["x"]}"#,
            r#"{"a":"f(\"X-Api-Key\",","list":["x"]}"#,
        ),
        (
            r#"{"a":"{\"password\":\"hunter2\"","b":1}"#,
            r#"{"a":"{\"password\":\"«password»\"","b":1}"#,
        ),
        (
            r#"{"a":"{\"password\":'hunter2'","b":1}"#,
            r#"{"a":"{\"password\":'«password»'","b":1}"#,
        ),
    ]);
}

#[test]
fn a_string_that_ends_behind_a_name_or_an_option_stays_whole() {
    let ends = [
        r#"Server=db;Password=hunter2"tail"#,
        r"mysql -pr",
        r"mysql -pu",
        r"mysql -p$",
        r"x --password $",
        r"mysql -p",
        r"x --password r",
        r"password=r",
        r"let api_key: &str = ",
        r#"X-Api-Key: "a\\\\"#,
        r#"X-Api-Key: "a\"#,
        r#"password: "x7Kd93mQ\""#,
        r#"{"token": "x7Kd93mQpL2vB8nR\\"}"#,
    ];
    for text in ends {
        for level in 0..3 {
            let mut json = serde_json::json!({"a": text, "b": [text, 1], "c": "tail"});
            for _ in 0..level {
                json = serde_json::json!({"text": json.to_string(), "n": [1]});
            }
            let json = json.to_string();
            let out = super::redact(&json);
            assert!(
                serde_json::from_str::<serde_json::Value>(&out).is_ok(),
                "{json}\n{out}"
            );
            assert!(out.contains("tail"), "{json}\n{out}");
        }
    }
}
