//! The ids of the log against an oracle that knows no date library: what is taken has the form, letter by
//! letter, is a real date and time, and is a safe file name.

use bookend::host::Host;
use bookend::live::key::SessionKey;
use bookend::log::id::{RequestId, SessionId};
use chrono::DateTime;
use proptest::prelude::*;

use super::cases;

/// Longest id that is taken.
const MAX: usize = 200;

fn number(text: &[u8], range: std::ops::RangeInclusive<u32>) -> bool {
    let digit = |n: u32, b: &u8| n * 10 + u32::from(b - b'0');
    text.iter().all(u8::is_ascii_digit) && range.contains(&text.iter().fold(0, digit))
}

fn is_leap(year: &[u8]) -> bool {
    // `00` is a leap year's ending only where the century's number is one of four.
    let ending = if &year[2..] == b"00" {
        &year[..2]
    } else {
        &year[2..]
    };
    (u32::from(ending[0]) * 10 + u32::from(ending[1])).is_multiple_of(4)
}

fn days(year: &[u8], month: &[u8]) -> u32 {
    match month {
        b"02" if is_leap(year) => 29,
        b"02" => 28,
        b"04" | b"06" | b"09" | b"11" => 30,
        _ => 31,
    }
}

fn is_real_time(text: &str) -> bool {
    let t = text.as_bytes();
    t.len() == 16
        && (t[8], t[15]) == (b'T', b'Z')
        && number(&t[..4], 0..=9999)
        && number(&t[4..6], 1..=12)
        && number(&t[6..8], 1..=days(&t[..4], &t[4..6]))
        && number(&t[9..11], 0..=23)
        && number(&t[11..13], 0..=59)
        && number(&t[13..15], 0..=59)
}

fn is_id(text: &str, head: fn(&str) -> bool) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let slug = |p: &&str| {
        !p.is_empty()
            && p.bytes()
                .all(|b| b"abcdefghijklmnopqrstuvwxyz0123456789".contains(&b))
    };
    text.len() <= MAX
        && parts.len() >= 3
        && head(parts[0])
        && is_real_time(parts[1])
        && parts[2..].iter().all(slug)
}

fn is_agent(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_uppercase()) && bytes.all(|b| b.is_ascii_alphanumeric())
}

/// Times that are real, nearly real, and spelt in ways that a lenient parser takes.
fn times() -> impl Strategy<Value = String> {
    let near = (
        0..=9999_u32,
        0..=13_u32,
        0..=32_u32,
        0..=24_u32,
        0..=60_u32,
        0..=61_u32,
    );
    let near = near.prop_map(|(y, mo, d, h, mi, s)| format!("{y:04}{mo:02}{d:02}T{h:02}{mi:02}{s:02}Z"));
    let real = (0..=253_402_300_799_i64).prop_map(|at| bookend::clock::compact(at_second(at)));
    let edges = prop::sample::select(vec![
        "20240229T235959Z",
        "20230229T000000Z",
        "19000229T000000Z",
        "20000229T000000Z",
        "20261231T235960Z",
        "20260409T120060Z",
        "2026 4 9T120000Z",
        "2026\t4\n9T120000Z",
        " 26 4 9T 1 2 3Z",
        "+20264 9T120000Z",
        "20260409t120000z",
        "20260409T120000",
        "２02604T120000Z",
    ]);
    prop_oneof![
        4 => near,
        3 => real,
        2 => edges.prop_map(str::to_owned),
        1 => "[0-9 TZ+\t]{16}",
    ]
}

/// Ids, and what is one but for a letter.
fn nearly() -> impl Strategy<Value = String> {
    let head = prop_oneof![
        Just("req".to_owned()),
        "[A-Z][A-Za-z0-9]{0,10}",
        "[a-zA-Z0-9./é]{0,4}"
    ];
    let slug = prop_oneof![
        6 => "[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}",
        1 => "turn-[0-9]{1,9}",
        1 => "[a-zA-Z0-9./\u{0}\n -]{0,8}",
        1 => "[a-z]{150,200}",
    ];
    let whole = (head, times(), slug)
        .prop_map(|(h, t, s)| format!("{h}-{t}-{s}"))
        .boxed();
    let spoilt = (whole.clone(), any::<prop::sample::Index>(), any::<char>()).prop_map(|(id, at, c)| {
        let mut chars: Vec<char> = id.chars().collect();
        let at = at.index(chars.len());
        chars[at] = c;
        chars.into_iter().collect()
    });
    prop_oneof![8 => whole, 2 => spoilt, 1 => any::<String>()]
}

fn at_second(at: i64) -> DateTime<chrono::Utc> {
    DateTime::from_timestamp(at, 0).unwrap()
}

fn assert_safe_name(id: &str) {
    assert!(!id.is_empty() && id.len() <= MAX);
    assert!(id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'), "{id}");
}

proptest! {
    #![proptest_config(cases(4096))]

    #[test]
    fn an_id_is_taken_exactly_if_it_has_the_form_and_a_real_time(id in nearly()) {
        prop_assert_eq!(SessionId::try_from(id.clone()).is_ok(), is_id(&id, is_agent), "session id {:?}", id);
        prop_assert_eq!(RequestId::try_from(id.clone()).is_ok(), is_id(&id, |h| h == "req"), "request id {:?}", id);
    }

    #[test]
    fn a_taken_id_is_a_safe_file_name_and_is_read_back_as_it_was(id in nearly()) {
        if let Ok(session) = SessionId::try_from(id.clone()) {
            assert_safe_name(session.as_str());
            let text = serde_json::to_string(&session).unwrap();
            prop_assert_eq!(serde_json::from_str::<SessionId>(&text).unwrap(), session.clone());
            prop_assert!(id.starts_with(session.agent()));
            // The case counts: `req` is no agent, and `Req` begins no request.
            prop_assert!(RequestId::try_from(id.clone()).is_err());
        }
        if let Ok(request) = RequestId::try_from(id) {
            assert_safe_name(request.as_str());
            let text = serde_json::to_string(&request).unwrap();
            prop_assert_eq!(serde_json::from_str::<RequestId>(&text).unwrap(), request);
        }
    }

    #[test]
    fn made_ids_are_ids_at_any_time_and_for_any_session(
        session in any::<String>(), at in 0..=253_402_300_799_i64, n in any::<u32>(),
    ) {
        for host in Host::ALL {
            let id = SessionId::of(host, &session, at_second(at));
            prop_assert!(is_id(id.as_str(), is_agent), "{}", id);
            prop_assert_eq!(SessionId::try_from(id.to_string()).unwrap(), id);
        }
        let id = RequestId::turn(at_second(at), n);
        prop_assert!(is_id(id.as_str(), |h| h == "req"), "{}", id);
        prop_assert_eq!(RequestId::try_from(id.to_string()).unwrap(), id);
    }

    #[test]
    fn a_session_key_is_a_safe_name_that_no_two_ids_share(a in any::<String>(), b in "[A-Za-z0-9_./\u{0}-]{0,140}") {
        for id in [&a, &b] {
            let key = SessionKey::of(id);
            prop_assert_eq!(key.is_none(), id.is_empty());
            if let Some(key) = key {
                let name = key.as_str();
                prop_assert!((1..=128).contains(&name.len()));
                prop_assert!(name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-'), "{}", name);
                prop_assert_eq!(SessionKey::from_name(name), Some(key));
            }
        }
        prop_assert!(a == b || SessionKey::of(&a) != SessionKey::of(&b) || a.is_empty() && b.is_empty());
    }
}
