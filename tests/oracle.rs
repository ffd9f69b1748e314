//! Redaction measured against a public rule set that the run installs, and against ordinary text.
//!
//! Recall: secrets are drawn from the oracle's own patterns and put into every place that a secret is found in. Where
//! the oracle says "secret", nothing of it may be left after redaction, and the oracle may find nothing in what is left.
//! Damage: text without secrets comes out byte for byte.

#![expect(
    clippy::print_stdout,
    reason = "the figures are what it is run for; a skipped test says why"
)]

mod families;
mod ordinary;
mod places;
mod rules;
mod sample;

use std::collections::BTreeMap;

use bookend::redact::redact;

use families::{OTHERS, family_of, vendor};
use places::{MADE, PLACES, WHOLE_TEXTS};
use rules::{Finding, Oracle, Rule, names_somebody};
use sample::{Dice, draw, secret_of};

/// Secrets drawn from one pattern, each for every place: at least, and texts.
const DRAWN: usize = 24;
const TEXTS: usize = 300;

/// A secret in its place.
struct Sample {
    family: &'static str,
    rule: String,
    secret: String,
    /// How many bytes at the secret's front every secret of the rule has: no secret themselves.
    prefix: usize,
    text: String,
}

#[derive(Default)]
struct Count {
    said: usize,
    removed: usize,
    misses: Vec<Miss>,
}

struct Miss {
    rule: String,
    /// What the oracle finds after redaction.
    after: String,
    redacted: String,
}

#[test]
fn nothing_is_left_of_what_the_public_rules_call_a_secret() {
    let Some(oracle) = Oracle::installed() else {
        return;
    };
    let samples = samples(&oracle.rules());
    let said = oracle.scan(samples.iter().map(|s| s.text.as_str()));
    let redacted: Vec<_> = samples.iter().map(|s| redact(&s.text)).collect();
    let after = oracle.scan(redacted.iter().map(AsRef::as_ref));

    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    for (((sample, said), redacted), after) in samples.iter().zip(&said).zip(&redacted).zip(&after) {
        if !says(said, &sample.secret) {
            continue;
        }
        let count = counts.entry(sample.family).or_default();
        count.said += 1;
        let found = after
            .iter()
            .find(|f| f.is_secret() && !f.secret.contains("[REDACTED:"));
        if leaks(sample, redacted) || found.is_some() {
            count.misses.push(Miss {
                rule: sample.rule.clone(),
                after: found.map_or_else(String::new, |f| format!(" (found after: {})", f.rule)),
                redacted: format!("{redacted:?}"),
            });
        } else {
            count.removed += 1;
        }
    }
    report(&counts);
    let few: Vec<_> = counts
        .iter()
        .filter(|(_, c)| c.said < 40)
        .map(|(family, _)| family)
        .collect();
    assert!(few.is_empty(), "too few samples to judge: {few:?}");
    let bad = |(family, c): &(&&str, &Count)| !OTHERS.contains(*family) && c.removed * 100 < c.said * 99;
    let bad: Vec<_> = counts.iter().filter(bad).map(|(family, _)| family).collect();
    assert!(bad.is_empty(), "recall under 99 %: {bad:?}");
}

fn samples(rules: &[Rule]) -> Vec<Sample> {
    let mut samples = Vec::new();
    for Rule { id, pattern } in rules {
        let whole = WHOLE_TEXTS
            .iter()
            .any(|name| families::short(id).starts_with(name));
        if let (false, Some(hir)) = (whole || names_somebody(id), secret_of(pattern)) {
            add(&mut samples, family_of(id, pattern), id, &hir, PLACES);
        }
    }
    for made in MADE {
        add(
            &mut samples,
            made.family,
            made.family,
            &regex_syntax::parse(made.pattern).unwrap(),
            made.places,
        );
    }
    samples
}

fn add(
    samples: &mut Vec<Sample>,
    family: &'static str,
    rule: &str,
    hir: &regex_syntax::hir::Hir,
    places: &[&str],
) {
    let mut dice = Dice::new(rule);
    let secrets: Vec<_> = (0..DRAWN.max(TEXTS / places.len()))
        .map(|_| draw(hir, &mut dice))
        .collect();
    let same = |at: &usize| {
        secrets
            .iter()
            .all(|s| s.as_bytes().get(*at) == secrets[0].as_bytes().get(*at))
    };
    let prefix = (0..secrets[0].len()).take_while(same).count();
    let name = vendor(rule);
    for secret in secrets {
        for place in places {
            let text = place
                .replace("⟨name⟩", name)
                .replace("⟨NAME⟩", &name.to_uppercase())
                .replace("⟨\\n⟩", &secret.replace('\n', "\\n"))
                .replace("⟨⟩", &secret);
            samples.push(Sample {
                family,
                rule: rule.to_owned(),
                secret: secret.clone(),
                prefix,
                text,
            });
        }
    }
}

/// The oracle found this secret, or a part of it, or a text around it.
fn says(found: &[Finding], secret: &str) -> bool {
    let first = secret.lines().next().unwrap_or_default();
    found.iter().any(|f| {
        f.is_secret() && f.secret.len() >= 8 && (f.secret.contains(first) || secret.contains(&f.secret))
    })
}

/// Eight bytes of the secret, the common prefix apart, are still there.
fn leaks(sample: &Sample, redacted: &str) -> bool {
    let body = sample.secret.get(sample.prefix..).unwrap_or_default();
    body.lines().any(|line| {
        let line = line.as_bytes();
        // A path or a blank of the place is no part of the secret, nor is a word.
        let telling = |part: &&[u8]| part.iter().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
        let mut parts = line.windows(8.min(line.len().max(1))).filter(telling);
        parts.any(|part| redacted.as_bytes().windows(part.len()).any(|w| w == part))
    })
}

fn report(counts: &BTreeMap<&str, Count>) {
    println!("{:<28}{:>9}{:>9}{:>10}", "family", "said", "removed", "recall");
    let row = |name: &str, said: usize, removed: usize| {
        let tenths = removed * 10_000 / said.max(1);
        println!(
            "{name:<28}{said:>9}{removed:>9}{:>7}.{:02} %",
            tenths / 100,
            tenths % 100
        );
    };
    for (family, count) in counts {
        row(family, count.said, count.removed);
    }
    let named = || {
        counts
            .iter()
            .filter(|(family, _)| !OTHERS.contains(family))
            .map(|(_, c)| c)
    };
    row(
        "all named",
        named().map(|c| c.said).sum(),
        named().map(|c| c.removed).sum(),
    );
    // One of each rule's misses tells enough.
    for (family, count) in counts {
        let mut shown: Option<&Miss> = None;
        for miss in &count.misses {
            if shown.is_none_or(|shown| shown.rule != miss.rule) {
                println!("left of {family}, {}{}: {}", miss.rule, miss.after, miss.redacted);
                shown = Some(miss);
            }
        }
    }
}
