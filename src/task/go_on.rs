//! Prompts that only say to go on. The whole prompt must be one of these words: "continue with the
//! tests" is a new task.

/// The words, lower case, without closing punctuation.
const WORDS: &[&str] = &[
    "continue",
    "please continue",
    "continue please",
    "go on",
    "please go on",
    "carry on",
    "keep going",
    "go ahead",
    "proceed",
    "resume",
    "try again",
    "retry",
    "continue from where you left off",
    "continue where you left off",
    "weiter",
    "mach weiter",
    "bitte weiter",
    "weitermachen",
    "fortfahren",
    "fortsetzen",
    "continuer",
    "continue stp",
    "continúa",
    "continua",
    "sigue",
    "seguir",
    "prossegui",
    "avanti",
    "vai avanti",
    "continuar",
    "prosseguir",
    "ga verder",
    "verder",
    "doorgaan",
    "fortsätt",
    "fortsett",
    "fortsæt",
    "jatka",
    "kontynuuj",
    "dalej",
    "pokračuj",
    "folytasd",
    "продолжай",
    "продолжить",
    "дальше",
    "devam",
    "devam et",
    "続けて",
    "続行",
    "继续",
    "繼續",
    "계속",
    "계속해",
    "जारी रखें",
];

/// Whether `prompt` only says to go on.
#[must_use]
pub fn says_go_on(prompt: &str) -> bool {
    let trimmed = prompt
        .trim()
        .trim_end_matches(['.', '!', '…', '。', '！'])
        .trim_end();
    trimmed.len() <= 64 && {
        let folded = trimmed.to_lowercase();
        WORDS.contains(&folded.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_prompt_of_the_list_says_to_go_on() {
        for yes in [
            "continue",
            " Continue. ",
            "go on!",
            "WEITER",
            "继续",
            "Go on…",
            "продолжай",
        ] {
            assert!(says_go_on(yes), "{yes}");
        }
        for no in [
            "continue with the tests",
            "weiter mit dem Test",
            "",
            "why continue",
            "goon",
            &"x".repeat(10_000),
        ] {
            assert!(!says_go_on(no), "{no}");
        }
    }

    #[test]
    fn every_word_is_in_the_folded_form() {
        for word in WORDS {
            assert!(says_go_on(word), "{word}");
        }
    }
}
