//! What the environment says, where it says something that cannot be or that is not what it seems.

use super::finding::Finding;
use crate::config::{self, Config};

/// Every variable of ours.
pub(super) fn examine(config: &Config, findings: &mut Vec<Finding>) {
    if config.disabled {
        findings.push(
            Finding::problem(
                "hooks-disabled",
                "BOOKEND_DISABLE",
                "It is set, so every hook does nothing.",
            )
            .remedy("Unset it, or set it to 0, where the host is started."),
        );
    }
    for odd in config::odd_values() {
        let what = format!(
            "Its value {} is none that it may have; it is taken for {}.",
            odd.value, odd.taken_for
        );
        findings.push(
            Finding::note("setting-unknown", odd.name, what).remedy(format!("Set it to {}.", odd.may_be)),
        );
    }
    if let Err(why) = &config.hook_root {
        let name = if why.starts_with("MAESTRO") {
            "MAESTRO_HOOKS_DIR"
        } else {
            "TMPDIR"
        };
        findings.push(unusable(
            "hook-root-unusable",
            name,
            why,
            "hooks keep their state in the data directory",
        ));
    }
    if let Err(why) = &config.data_dir {
        let name = if why.starts_with("BOOKEND") {
            "BOOKEND_DATA_DIR"
        } else {
            "HOME"
        };
        findings.push(unusable("data-dir-unusable", name, why, "nothing is logged"));
    }
}

/// `why` says what is the matter, then after a colon what to do.
fn unusable(code: &'static str, subject: &str, why: &str, so: &str) -> Finding {
    let (what, remedy) = why.rsplit_once(": ").unwrap_or((why, "give an absolute one"));
    Finding::problem(code, subject, format!("{}, so {so}.", capital(what)))
        .remedy(format!("{}.", capital(remedy)))
}

/// With a capital first letter.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_config_says_of_a_directory_becomes_a_finding_and_a_remedy() {
        let found = unusable(
            "hook-root-unusable",
            "MAESTRO_HOOKS_DIR",
            "MAESTRO_HOOKS_DIR is a relative path (a: b): give an absolute one",
            "it is not used",
        );
        assert_eq!(
            (found.what.as_str(), found.remedy.as_str()),
            (
                "MAESTRO_HOOKS_DIR is a relative path (a: b), so it is not used.",
                "Give an absolute one."
            )
        );
    }
}
