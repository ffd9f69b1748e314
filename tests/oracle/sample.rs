//! Strings that a regular expression matches, the same ones in every run.
//!
//! Classes give printable ASCII, endless repetitions a few rounds more than they must, and case counts as the rule
//! writes it (no vendor makes `gHp_`, whatever a rule's `(?i)` would take).

use regex_syntax::Parser;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Rounds beyond the least of a repetition.
const MORE: u32 = 24;

/// A small generator (xorshift), seeded by the caller.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: &str) -> Self {
        let mix = |hash: u64, b| (hash ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
        Self(seed.bytes().fold(0xcbf2_9ce4_8422_2325, mix) | 1)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % bound
    }
}

/// What a rule calls the secret: its first group, else the whole. `None` for a pattern in another dialect.
pub fn secret_of(pattern: &str) -> Option<Hir> {
    let as_written = pattern
        .replace("(?i)", "")
        .replace("(?i:", "(?:")
        .replace("(?-i:", "(?:");
    let whole = Parser::new().parse(&as_written).ok()?;
    Some(first_group(&whole).cloned().unwrap_or(whole))
}

fn first_group(hir: &Hir) -> Option<&Hir> {
    match hir.kind() {
        HirKind::Capture(group) => Some(&group.sub),
        HirKind::Repetition(repetition) => first_group(&repetition.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().find_map(first_group),
        _ => None,
    }
}

/// One string that `hir` matches.
pub fn draw(hir: &Hir, dice: &mut Dice) -> String {
    let mut out = String::new();
    push(hir, dice, &mut out);
    out
}

fn push(hir: &Hir, dice: &mut Dice, out: &mut String) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(std::str::from_utf8(&literal.0).unwrap()),
        HirKind::Class(class) => out.push(letter(class, dice)),
        HirKind::Capture(group) => push(&group.sub, dice, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| push(part, dice, out)),
        HirKind::Alternation(parts) => push(&parts[dice.below(parts.len())], dice, out),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX).min(repetition.min + MORE);
            let more = dice.below(usize::try_from(most - repetition.min).unwrap() + 1);
            for _ in 0..usize::try_from(repetition.min).unwrap() + more {
                push(&repetition.sub, dice, out);
            }
        }
    }
}

fn letter(class: &Class, dice: &mut Dice) -> char {
    let Class::Unicode(class) = class else {
        panic!("a class of bytes in {class:?}")
    };
    let has = |c: char| {
        class
            .iter()
            .any(|range| (range.start()..=range.end()).contains(&c))
    };
    // A rule's bare dot stands for the dot of its tokens, `[Ss]` for an `s`, a backslash for JSON's `\/`.
    if has('\u{e000}') && has('.') && has('a') {
        return '.';
    }
    let letters: Vec<char> = (' '..='~').filter(|c| *c != '\\' && has(*c)).collect();
    match letters[..] {
        [] => '\n',
        [upper, lower] if upper.eq_ignore_ascii_case(&lower) => lower,
        _ => letters[dice.below(letters.len())],
    }
}
