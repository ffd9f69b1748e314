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
