//! The words of a limit in an error's text, and when it resets. A tool's error may be anybody's output, in
//! which `429` is a line, "quota" a disk's and `rate_limit.rs` a file: there a word counts only as a word.

use chrono::{DateTime, TimeDelta, Utc};

use super::LimitSource;

/// Spellings of the two words.
const RATE_LIMIT: [&str; 4] = ["rate limit", "rate-limit", "rate_limit", "ratelimit"];
/// How the words may go on and still be the same words, as services spell their kinds of error.
const GOES_ON: [&str; 8] = [
    "ing",
    "ed",
    "s",
    "_exceeded",
    "_error",
    "_reached",
    "exceeded",
    "error",
];

/// The words of a limit in an error's text; which of them.
pub(super) fn words(text: &str, source: LimitSource) -> Option<&'static str> {
    let text = text.to_lowercase();
    if is_status_429(&text) {
        return Some("status 429");
    }
    if RATE_LIMIT.iter().any(|word| says(&text, word, source)) {
        return Some("words \"rate limit\"");
    }
    if text.contains("too many requests") {
        return Some("words \"too many requests\"");
    }
    says(&text, "quota", source).then_some("word \"quota\"")
}

/// Whether the text says that word: anywhere in the provider's error; in a tool's error not as a part of a
/// name (`src/quota.rs`, `rate_limit_is_told`), and no disk's quota.
fn says(text: &str, word: &str, source: LimitSource) -> bool {
    text.match_indices(word).any(|(i, _)| {
        let before = text.get(..i).unwrap_or_default();
        let after = text.get(i + word.len()..).unwrap_or_default();
        source == LimitSource::Provider
            || !(begins_in_a_name(before) || ends_in_a_name(after) || before.trim_end().ends_with("disk"))
    })
}

fn begins_in_a_name(before: &str) -> bool {
    let before = before.strip_suffix("insufficient_").unwrap_or(before);
    before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '\\' | '-' | '.'))
}

fn ends_in_a_name(after: &str) -> bool {
    let after = GOES_ON
        .iter()
        .find_map(|end| after.strip_prefix(end))
        .unwrap_or(after);
    let mut next = after.chars();
    match next.next() {
        Some('.' | ':') => next.next().is_some_and(char::is_alphanumeric),
        Some(c) => c.is_alphanumeric() || matches!(c, '_' | '/' | '\\' | '-'),
        None => false,
    }
}

/// `429` as a status: `HTTP 429`, `HTTP/1.1 429`, `status: 429`, `code 429`, `(429)`, `429 too many`; not
/// `line 429`, not port 4290.
fn is_status_429(text: &str) -> bool {
    text.match_indices("429").any(|(i, _)| {
        let before = text.get(..i).unwrap_or_default();
        let after = text.get(i + 3..).unwrap_or_default();
        if after.starts_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_')
            || before.ends_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_')
        {
            return false;
        }
        if after
            .trim_start_matches([' ', ':', '-', ')'])
            .starts_with("too many")
        {
            return true;
        }
        let lead = before.trim_end_matches([' ', ':', '=', '(', '[', '"', '\'', '#']);
        let word = lead
            .rsplit(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '"' | '(' | '{' | '\''))
            .next();
        word.is_some_and(|w| {
            w.starts_with("http/")
                || matches!(
                    w,
                    "http"
                        | "status"
                        | "code"
                        | "statuscode"
                        | "status_code"
                        | "error"
                        | "rejected"
                        | "response"
                )
        })
    })
}

/// When it resets, as far as the text says how long that takes: `retry-after: 30`, `try again in 1m20s`.
pub(super) fn resets(text: &str, at: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let text = text.to_lowercase();
    let after = |words: &str| {
        let (_, rest) = text.split_once(words)?;
        Some(rest.trim_start_matches([':', '=', '"', ' ']))
    };
    let time = ["retry-after", "retry after", "try again in", "retry in"]
        .iter()
        .find_map(|words| span(after(words)?))?;
    at.checked_add_signed(time)
}

/// `30`, `1.5s`, `1m20s`, `2 hours`, `20 seconds`: numbers with units, seconds without.
fn span(text: &str) -> Option<TimeDelta> {
    let (mut rest, mut millis) = (text, None::<f64>);
    while let Some(end) = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .or(Some(rest.len()))
    {
        let (number, tail) = rest.split_at(end);
        let Ok(number) = number.trim_end_matches('.').parse::<f64>() else {
            break;
        };
        let tail = tail.trim_start_matches(' ');
        let unit = tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let (unit, next) = tail.split_at(unit);
        let factor = match unit {
            "ms" | "milliseconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60_000.0,
            "h" | "hour" | "hours" => 3_600_000.0,
            _ => 1_000.0,
        };
        millis = Some(millis.unwrap_or_default() + number * factor);
        rest = next;
    }
    // A year is no time to wait; more is no time at all.
    let millis = millis.filter(|m| (1.0..365.0 * 86_400_000.0).contains(m))?;
    TimeDelta::from_std(std::time::Duration::try_from_secs_f64(millis / 1_000.0).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_429_is_a_limit_only_as_a_status() {
        for yes in [
            "http/1.1 429 too many requests",
            "http 429",
            "status: 429",
            "error code: 429",
            "api error: request rejected (429) · x",
            "429 too many requests",
            "{\"status\":429}",
            "unexpected status code 429",
            "http error 429:",
            "Request failed with status code 429",
            "exceeded retry limit, last status: 429 Too Many Requests",
        ] {
            for source in [LimitSource::Tool, LimitSource::Provider] {
                assert_eq!(words(yes, source), Some("status 429"), "{yes}");
            }
        }
        for no in [
            "line 429: syntax error",
            "127.0.0.1:4290 refused",
            "localhost:429",
            "connect http://localhost:429/x: refused",
            "file.rs:429:5",
            "took 429 ms",
            "4291",
            "v0.429",
            "commit 429f00d",
            "commit 3a429bc1",
            "commit d429",
            "fatal: bad object 4290000000000000000000000000000000000000",
            "req_429",
            "Exit code 1\n429 tests failed",
        ] {
            for source in [LimitSource::Tool, LimitSource::Provider] {
                assert_eq!(words(no, source), None, "{no}");
            }
        }
    }

    #[test]
    fn the_words_of_a_limit_count_anywhere_in_the_providers_error_and_as_words_in_a_tools() {
        // Text, whether it is a limit in a tool's error, and in the provider's.
        for (text, tool, provider) in [
            ("Rate limit reached for x", true, true),
            ("You are being rate limited.", true, true),
            ("rate-limit exceeded", true, true),
            ("{\"type\":\"rate_limit_error\"}", true, true),
            ("RateLimitExceeded: slow down", true, true),
            ("API rate limits apply", true, true),
            ("Too Many Requests", true, true),
            ("You exceeded your current quota", true, true),
            ("Quota exceeded for quota metric 'Reads'", true, true),
            ("\"code\": \"insufficient_quota\"", true, true),
            ("reason: quotaExceeded", true, true),
            ("write failed: Disk quota exceeded", false, true),
            ("insufficient disk quota", false, true),
            ("src/quota.rs:12:5: unused variable", false, true),
            ("test task::rate_limit_is_told_once ... FAILED", false, true),
            ("No such file: lib/rate-limit/index.js", false, true),
            ("check_quota.py failed", false, true),
            ("cannot find crate ratelimit_meter", false, true),
            ("No such file", false, false),
            ("the rate is limited to 5", false, false),
            ("too many open files", false, false),
        ] {
            assert_eq!(words(text, LimitSource::Tool).is_some(), tool, "a tool's: {text}");
            assert_eq!(
                words(text, LimitSource::Provider).is_some(),
                provider,
                "the provider's: {text}"
            );
        }
    }

    #[test]
    fn the_rule_that_matched_is_a_text_that_matches() {
        for (rule, source) in [
            ("status 429", LimitSource::Tool),
            ("words \"rate limit\"", LimitSource::Tool),
            ("words \"too many requests\"", LimitSource::Provider),
            ("word \"quota\"", LimitSource::Tool),
        ] {
            assert_eq!(words(&format!("{rule}: cut short"), source), Some(rule));
        }
    }

    #[test]
    fn a_text_that_says_how_long_says_when() {
        let at = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        for (text, millis) in [
            ("429: rate limit exceeded, retry-after: 30", Some(30_000)),
            ("Retry-After=\"5\"", Some(5_000)),
            ("Please try again in 1.5s.", Some(1_500)),
            ("Please try again in 250ms.", Some(250)),
            ("Rate limit reached. Please try again in 1m20s", Some(80_000)),
            ("try again in 2 hours", Some(7_200_000)),
            ("Please retry in 12.5s", Some(12_500)),
            ("Please try again later.", None),
            ("try again in a while", None),
            ("retry after", None),
            ("retry-after: 0", None),
            ("retry-after: 99999999999999999999", None),
            ("it resets some day", None),
        ] {
            let resets = resets(text, at).map(|r| (r - at).num_milliseconds());
            assert_eq!(resets, millis, "{text}");
        }
    }
}
