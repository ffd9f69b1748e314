//! What `bookend probe` tells of one host.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::out::Out;
use super::span::{Line, Style};
use super::table::{Table, cell, styled};
use super::text;
use crate::host::Host;
use crate::probe::{EventProof, Proof, TurnEnd};

/// A host that was probed.
pub(super) struct Probed {
    /// Which.
    pub(super) host: Host,
    /// Its program.
    pub(super) program: PathBuf,
    /// What was seen, or why nothing was.
    pub(super) proof: Result<Proof, String>,
    /// Its scratch folder, where it is kept.
    pub(super) kept: Option<PathBuf>,
}

impl Probed {
    /// Whether all is as it should be.
    pub(super) fn is_proven(&self) -> bool {
        self.proof.as_ref().is_ok_and(Proof::is_proven)
    }

    /// Why it is not proven.
    pub(super) fn lacks(&self) -> Vec<String> {
        let proof = match &self.proof {
            Ok(proof) => proof,
            Err(why) => return vec![why.clone()],
        };
        let mut lacks = Vec::new();
        let missing: Vec<&str> = proof.missing().collect();
        if !missing.is_empty() {
            lacks.push(format!("{} did not fire", missing.join(", ")));
        }
        if !proof.context_reached {
            lacks.push("the resume text did not reach the model".to_owned());
        }
        match &proof.turn {
            Some(turn) if turn.status == "completed" => {}
            Some(turn) => lacks.push(format!("a turn that was completed is {} in the log", said(turn))),
            None => lacks.push("no turn is in the log".to_owned()),
        }
        lacks
    }

    /// For people.
    pub(super) fn print(&self, out: &mut Out) {
        let version = self
            .proof
            .as_ref()
            .ok()
            .and_then(|proof| proof.version.as_deref());
        let head = Line::of(Style::Strong, self.host.title()).then(&format!(
            " {}  {}",
            version.unwrap_or("(version unknown)"),
            text::home(&self.program.to_string_lossy())
        ));
        out.line(head);
        if let Ok(proof) = &self.proof {
            let mut table = Table::new(&["EVENT", "HOOK", "FIRED", "MEDIAN"]).indented();
            for seen in &proof.events {
                table.row(row(seen));
            }
            table.print(out);
            let reached = if proof.context_reached {
                "the resume text was in the model's first request"
            } else {
                "the resume text was not in the model's first request"
            };
            let turn = |end: &Option<TurnEnd>| end.as_ref().map_or("not in the log".to_owned(), said);
            out.field("  context", reached);
            out.field("  turn", turn(&proof.turn));
            out.field("  cut off", turn(&proof.cut_turn));
            for fault in &proof.faults {
                out.field("  fault", Line::of(Style::Bad, &format!("failed to {fault}")));
            }
            for complaint in &proof.complaints {
                out.field("  the host", Line::of(Style::Notice, complaint));
            }
        }
        if let Some(kept) = &self.kept {
            out.field("  kept", kept.to_string_lossy().as_ref());
        }
        out.line(self.conclusion());
    }

    fn conclusion(&self) -> Line {
        match &self.proof {
            Ok(proof) if proof.is_proven() => {
                let fired = proof.events.iter().filter(|seen| seen.fired > 0).count();
                let all = if fired == proof.events.len() {
                    format!("all {fired} events fired")
                } else {
                    format!(
                        "{fired} of {} events fired, the others were not provoked",
                        proof.events.len()
                    )
                };
                let seconds = proof.took.as_secs_f64();
                Line::of(Style::Good, "Proven").then(&format!(
                    ": {all}, and a session that was cut off is resumed. It took {seconds:.1} s, with no account and no network."
                ))
            }
            _ => Line::of(Style::Bad, "Not proven").then(&format!(": {}.", self.lacks().join("; "))),
        }
    }

    /// As JSON: what `bookend probe --help` says.
    pub(super) fn document(&self) -> Value {
        let proof = self.proof.as_ref().ok();
        let event = |seen: &EventProof| {
            json!({"event": seen.event, "hook": seen.hook, "provoked": seen.provoked, "fired": seen.fired,
                "medianMicros": seen.median_micros})
        };
        let problems = match &self.proof {
            Ok(proof) => proof.complaints.clone(),
            Err(why) => vec![why.clone()],
        };
        json!({
            "host": self.host,
            "program": self.program.to_string_lossy(),
            "version": proof.and_then(|proof| proof.version.as_deref()),
            "proven": self.is_proven(),
            "events": proof.map(|proof| proof.events.iter().map(event).collect::<Vec<_>>()).unwrap_or_default(),
            "contextReached": proof.is_some_and(|proof| proof.context_reached),
            "turn": proof.and_then(|proof| proof.turn.as_ref()),
            "cutTurn": proof.and_then(|proof| proof.cut_turn.as_ref()),
            "faults": proof.map(|proof| proof.faults.as_slice()).unwrap_or_default(),
            "problems": problems,
            "seconds": proof.map(|proof| (proof.took.as_secs_f64() * 10.0).round() / 10.0),
            "kept": self.kept.as_ref().map(|kept| kept.to_string_lossy()),
        })
    }
}

fn row(seen: &EventProof) -> Vec<Line> {
    let (style, fired) = match (seen.fired, seen.provoked) {
        (0, true) => (Style::Bad, "did not fire".to_owned()),
        (0, false) => (Style::Faint, "not provoked by this run".to_owned()),
        (n, _) => (
            Style::Good,
            text::count(usize::try_from(n).unwrap_or(usize::MAX), "time"),
        ),
    };
    vec![
        cell(seen.event, 40),
        cell(seen.hook.name(), 20),
        styled(style, &fired, 40),
        Line::from(seen.median_micros.map_or("-".to_owned(), text::micros)),
    ]
}

/// How a turn ended.
fn said(end: &TurnEnd) -> String {
    let code = end.code.as_ref().map(|code| format!(" ({code})"));
    let presumed = if end.presumed { ", presumed" } else { "" };
    format!("{}{}{presumed}", text::word(end.status), code.unwrap_or_default())
}
