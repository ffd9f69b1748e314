//! The scanner that ends the reading of stdin: the same in pieces and whole, and where a JSON reader ends too.
#![no_main]

use bookend::frame::payload::{Scanner, parse};
use libfuzzer_sys::fuzz_target;
use serde_json::{Deserializer, Value};

fn scan(pieces: &[&[u8]]) -> (usize, bool) {
    let mut scanner = Scanner::default();
    let used = pieces.iter().map(|p| scanner.take(p)).sum();
    (used, scanner.is_complete())
}

fuzz_target!(|data: &[u8]| {
    let (used, complete) = scan(&[data]);
    assert!(complete || used == data.len());
    let bytes: Vec<&[u8]> = data.chunks(1).collect();
    assert_eq!(scan(&bytes), (used, complete));
    let at = data.first().map_or(0, |b| usize::from(*b) % data.len());
    assert_eq!(scan(&[&data[..at], &data[at..]]), (used, complete));
    let first = Deserializer::from_slice(data).into_iter::<Value>().next();
    let mut stream = Deserializer::from_slice(data).into_iter::<Value>();
    if let Some(Ok(value)) = first.filter(|v| v.as_ref().is_ok_and(|v| v.is_object() || v.is_array())) {
        stream.next();
        assert_eq!((used, complete), (stream.byte_offset(), true));
        assert_eq!(parse(&data[..used]).as_ref(), Ok(&value));
    }
    if let Err(why) = parse(&data[..used]) {
        assert!(why.starts_with("it is no JSON at line "), "{why}");
    }
});
