//! `bookend doctor`: what is the matter here, and what to do. `--fix` shows what it will change, changes
//! it, and looks again.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::args::Doctor;
use super::machine::Machine;
use super::out::Out;
use super::span::{Line, Style};
use super::table::{Table, cell};
use super::{Failed, Run, text};
use crate::doctor::finding::{Finding, Level};
use crate::doctor::fix::Fix;
use crate::doctor::hosts::HostReport;
use crate::doctor::report::{Kind, Report, StoreReport};
use crate::doctor::{self};
use crate::install::Means;

impl Run for Doctor {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        let mut report = doctor::examine(&machine.config, machine.now);
        let mut mended = Vec::new();
        if self.fix {
            let fixes = report.fixes();
            if !self.json {
                announce(&fixes, report.ok, out);
            }
            mended = apply(fixes, out);
            if !mended.is_empty() {
                report = doctor::examine(&machine.config, machine.now);
            }
        }
        if self.json {
            out.json(&self.document(&report, &mended)?)?;
        } else {
            print(&report, machine.now, out);
        }
        if report.ok { Ok(()) } else { Err(Failed::Shown) }
    }
}

/// A change, and why it could not be made.
type Mended = (Fix, Option<String>);

/// Says what will be changed, before it is.
fn announce(fixes: &[Fix], ok: bool, out: &mut Out) {
    if fixes.is_empty() {
        out.line(if ok {
            "There is nothing to mend."
        } else {
            "Nothing here can be mended without you."
        });
        out.gap();
        return;
    }
    out.line(Line::of(Style::Strong, "Will be changed"));
    for fix in fixes {
        out.line(format!("  {}", text::home(&fix.place())));
        for line in fix.diff() {
            let style = match line.as_bytes() {
                [b'-', ..] => Style::Bad,
                [b'+', ..] => Style::Good,
                [b'$', ..] => Style::Strong,
                _ => Style::Plain,
            };
            out.line(Line::of(style, &format!("    {}", line.replace('\t', "    "))));
        }
    }
    out.gap();
    out.flush();
}

fn apply(fixes: Vec<Fix>, out: &mut Out) -> Vec<Mended> {
    let tried = fixes.into_iter().map(|fix| {
        let failed = fix.apply().err();
        if let Some(why) = &failed {
            out.warn(&format!("failed to {why}"));
        }
        (fix, failed)
    });
    tried.collect()
}

impl Doctor {
    fn document(&self, report: &Report, mended: &[Mended]) -> Result<Value, Failed> {
        let mut document =
            serde_json::to_value(report).map_err(|e| Failed::to(format!("print JSON: {e}")))?;
        if let Some(members) = document.as_object_mut().filter(|_| self.fix) {
            let of = |(fix, failed): &Mended| json!({"place": fix.place(), "change": fix.diff(), "done": failed.is_none(), "failed": failed});
            members.insert("mended".to_owned(), mended.iter().map(of).collect());
        }
        Ok(document)
    }
}

fn print(report: &Report, now: DateTime<Utc>, out: &mut Out) {
    for host in report.hosts.iter().filter(|host| host.found) {
        host_section(host, report, now, out);
    }
    stores(&report.stores, out);
    latency(report, out);
    for level in [Level::Problem, Level::NotProven, Level::Note] {
        findings(level, &report.findings, out);
    }
    out.gap();
    let unproven = report
        .findings
        .iter()
        .filter(|f| f.level == Level::NotProven)
        .count();
    out.line(match report.problems() {
        0 if unproven == 0 => Line::of(Style::Good, "Nothing needs doing."),
        0 => Line::of(
            Style::Notice,
            "Nothing needs doing, but not everything is proven yet.",
        ),
        1 => Line::of(Style::Bad, "1 thing needs doing."),
        n => Line::of(Style::Bad, &format!("{n} things need doing.")),
    });
}

/// What is known of a host: where, how, and when which event fired.
fn host_section(host: &HostReport, report: &Report, now: DateTime<Utc>, out: &mut Out) {
    let version = host
        .version
        .as_deref()
        .map_or(String::new(), |version| format!(" {version}"));
    let path = |path: &std::path::PathBuf| text::home(&path.to_string_lossy());
    let program = host
        .program
        .as_ref()
        .map_or_else(|| "its program is not on PATH".to_owned(), path);
    out.line(
        Line::of(Style::Strong, &format!("{}{version}", host.host.title()))
            .then("  ")
            .and(Style::Faint, &program),
    );
    let concerns = |f: &&Finding| f.subject == host.host.id() && f.level == Level::Problem;
    let sound = !report.findings.iter().any(|f| concerns(&f));
    let state = match (host.means, sound, host.is_proven()) {
        (None, ..) => Line::of(Style::Bad, "not installed"),
        (Some(_), false, _) => Line::of(Style::Bad, "installed, but see below"),
        (Some(_), true, false) => Line::of(Style::Notice, "installed, not proven"),
        (Some(_), true, true) => Line::of(Style::Good, "installed and proven"),
    };
    let means = match host.means {
        Some(Means::Plugin) => " (plugin)",
        Some(Means::Settings) => " (user settings)",
        None => "",
    };
    let trusted = match host.trusted {
        Some(true) => ", trusted",
        Some(false) => ", not trusted",
        None => "",
    };
    out.field("  hooks", state.then(means).then(trusted));
    if host.means.is_some() {
        out.field(
            "  tools",
            if host.tools {
                "registered with the plugin (bookend mcp)"
            } else {
                "not registered: they are a part of the plugin, which needs the host's program on PATH"
            },
        );
    }
    let fired: Vec<String> = host
        .events
        .iter()
        .filter_map(|event| Some((event.event, event.last_at?)))
        .map(|(event, at)| format!("{event} {}", text::age(Some(at), now)))
        .collect();
    if !fired.is_empty() {
        out.field("  last fired", format!("{} ago", fired.join(", ")));
        let never: Vec<&str> = host
            .events
            .iter()
            .filter(|event| event.last_at.is_none())
            .map(|event| event.event)
            .collect();
        if !never.is_empty() {
            out.field("  not lately", never.join(", "));
        }
    } else if let Some(at) = host.last_fired {
        out.field(
            "  last fired",
            format!("{} ago, as the log has it", text::age(Some(at), now)),
        );
    }
    if let Some(at) = host.last_probed {
        out.field("  probed", format!("{} ago", text::age(Some(at), now)));
    }
    out.gap();
}

fn stores(stores: &[StoreReport], out: &mut Out) {
    let mut table = Table::new(&["STORE", "PATH", "STATE", "FREE", "SESSIONS"]);
    for store in stores {
        let (style, state) = match (store.exists, store.safe, store.in_use) {
            (_, false, _) => (Style::Bad, "not usable"),
            (false, true, _) => (Style::Faint, "not there yet"),
            (true, true, true) => (Style::Good, "in use"),
            (true, true, false) => (Style::Plain, "usable"),
        };
        let kind = match store.kind {
            Kind::HookRoot => "hook root",
            Kind::DataDir => "data directory",
        };
        let sessions = match store.sessions - store.looked_at.min(store.sessions) {
            0 => store.sessions.to_string(),
            _ => format!("{}, the newest {} looked at", store.sessions, store.looked_at),
        };
        table.row(vec![
            cell(kind, 14),
            cell(&text::home(&store.path.to_string_lossy()), 120),
            Line::of(style, state),
            cell(&store.free_bytes.map_or_else(|| "-".to_owned(), text::bytes), 10),
            cell(&sessions, 40),
        ]);
    }
    table.print(out);
    for history in stores.iter().filter_map(|s| s.history) {
        let (log, index) = (text::bytes(history.log_bytes), text::bytes(history.index_bytes));
        let kept = text::retention(history.retention_days);
        out.gap();
        out.field("history", format!("{log} of logs, {index} of index; kept {kept}"));
    }
}

fn latency(report: &Report, out: &mut Out) {
    let parts: Vec<String> = report
        .latency
        .rows()
        .map(|(hook, us)| {
            format!(
                "{} {}",
                hook.name(),
                us.map_or_else(|| "-".to_owned(), text::micros)
            )
        })
        .collect();
    if !parts.is_empty() {
        out.gap();
        out.field("hooks take", parts.join(", "));
    }
}

fn findings(level: Level, all: &[Finding], out: &mut Out) {
    let (style, title) = match level {
        Level::Problem => (Style::Bad, "Needs doing"),
        Level::NotProven => (Style::Notice, "Not proven"),
        Level::Note => (Style::Plain, "Worth knowing"),
    };
    let mut of_level = all.iter().filter(|f| f.level == level).peekable();
    if of_level.peek().is_some() {
        out.heading(title);
    }
    for finding in of_level {
        let head = Line::from("  ").and(style, finding.code);
        out.line(head.then("  ").then(&text::home(&finding.subject)));
        out.line(format!("    {}", finding.what));
        let by_itself = if finding.fix.is_some() {
            " (`bookend doctor --fix` does it)"
        } else {
            ""
        };
        out.line(
            Line::of(Style::Faint, "    → ")
                .then(&finding.remedy)
                .and(Style::Faint, by_itself),
        );
    }
}
