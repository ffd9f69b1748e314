//! A file of JSON lines, read for what is wrong with it.

use serde::de::DeserializeOwned;

/// The lines of a file.
pub(super) struct Lines<T> {
    /// Those that read.
    pub(super) good: Vec<T>,
    /// The numbers, from 1, of those that do not.
    pub(super) bad: Vec<usize>,
    /// Bytes of a last line that is not whole: its writer was killed, or writes.
    pub(super) torn: usize,
}

/// Reads them.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Lines<T> {
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let mut lines = Lines {
        good: Vec::new(),
        bad: Vec::new(),
        torn: bytes.len() - whole,
    };
    let all = bytes.get(..whole).unwrap_or_default().split(|b| *b == b'\n');
    for (i, line) in all.enumerate().filter(|(_, line)| !line.is_empty()) {
        match serde_json::from_slice(line) {
            Ok(value) => lines.good.push(value),
            Err(_) => lines.bad.push(i + 1),
        }
    }
    lines
}

/// The first three of several names, and how many more there are.
pub(super) fn some(names: &[String]) -> String {
    let first = names
        .iter()
        .take(3)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match names.len().saturating_sub(3) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_lines_have_their_number_and_a_torn_one_is_none_of_them() {
        let lines = read::<u32>(b"1\nx\n\n3\n{\"a\":\n4");
        assert_eq!((lines.good, lines.bad, lines.torn), (vec![1, 3], vec![2, 5], 1));
        let lines = read::<u32>(b"");
        assert_eq!((lines.good.len(), lines.bad.len(), lines.torn), (0, 0, 0));
        let names = ["a", "b", "c", "d", "e"].map(str::to_owned);
        assert_eq!(
            (some(&names).as_str(), some(&names[..2]).as_str()),
            ("a, b, c and 2 more", "a, b")
        );
    }
}
