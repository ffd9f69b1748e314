//! What a shell command line does to the world: it only reads, it commits, or it may change something.
//! Only a line that stands *wholly* on the table below only reads; every doubt counts as a change.

/// What a command line does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only looks.
    Reads,
    /// It is a `git commit`.
    Commits,
    /// It may change something.
    MayChange,
}

/// Programs that only read, whatever their arguments (those that could write are checked below).
const READS: &[&str] = &[
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "pwd",
    "echo",
    "printf",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "tree",
    "stat",
    "file",
    "du",
    "df",
    "which",
    "whereis",
    "type",
    "whoami",
    "id",
    "uname",
    "hostname",
    "date",
    "uptime",
    "ps",
    "printenv",
    "true",
    "false",
    "test",
    "[",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "cut",
    "tr",
    "nl",
    "cmp",
    "diff",
    "comm",
    "column",
    "jq",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sleep",
    "cd",
    "less",
    "more",
    "strings",
    "hexdump",
    "xxd",
    "od",
    "seq",
    "tac",
    "rev",
    "fold",
    "expr",
    "free",
    "lscpu",
    "lsblk",
    "locale",
    "tty",
    ":",
];

/// Programs whose listed subcommands only read.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "status",
            "log",
            "diff",
            "show",
            "blame",
            "rev-parse",
            "ls-files",
            "ls-tree",
            "describe",
            "grep",
            "shortlog",
            "cat-file",
            "rev-list",
            "merge-base",
            "for-each-ref",
            "count-objects",
            "whatchanged",
        ],
    ),
    (
        "cargo",
        &["metadata", "tree", "search", "info", "--version", "-V"],
    ),
    ("npm", &["ls", "list", "view", "outdated", "--version", "-v"]),
    ("docker", &["ps", "images", "logs", "inspect", "version"]),
    ("kubectl", &["get", "describe", "logs", "version"]),
    ("go", &["version", "env", "list", "doc"]),
    ("rustc", &["--version", "-V"]),
    ("node", &["--version", "-v"]),
    ("python", &["--version", "-V"]),
    ("python3", &["--version", "-V"]),
];

/// Flags by which a reading program writes or runs something.
const WRITING_FLAGS: &[(&str, &[&str])] = &[
    ("git", &["--output", "--ext-diff", "--open-files-in-pager", "-O"]),
    ("rg", &["--pre"]),
    ("tree", &["-o"]),
    ("date", &["-s", "--set"]),
    ("hostname", &["-F", "--file", "-b"]),
    ("jq", &["-i", "--in-place"]),
    ("xxd", &["-r"]),
];

/// What `line` does.
#[must_use]
pub fn effect(line: &str) -> Effect {
    let Some(commands) = split(line) else {
        return if mentions_commit(line) {
            Effect::Commits
        } else {
            Effect::MayChange
        };
    };
    if commands.iter().any(|c| is_commit(c)) {
        Effect::Commits
    } else if commands.iter().all(|c| only_reads(c)) {
        Effect::Reads
    } else {
        Effect::MayChange
    }
}

/// The simple commands of a line, as words; `None` when the line has anything that we do not follow:
/// redirections to a file, substitutions, assignments in front, here documents, groups.
fn split(line: &str) -> Option<Vec<Vec<String>>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut chars = line.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let into = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        q if q == c => break,
                        '$' | '`' if c == '"' => return None,
                        '\\' if c == '"' => into.push(chars.next()?),
                        other => into.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '$' | '`' | '(' | ')' | '{' | '}' | '<' => return None,
            '>' => {
                // only to a descriptor or away: 2>&1, >/dev/null
                if word.as_deref().is_some_and(|w| w == "1" || w == "2" || w == "&") {
                    word = None;
                }
                if chars.peek() == Some(&'>') {
                    chars.next();
                }
                let mut target = String::new();
                while chars.peek() == Some(&' ') {
                    chars.next();
                }
                while let Some(&n) = chars.peek() {
                    if n.is_whitespace() || matches!(n, ';' | '|') || (n == '&' && !target.is_empty()) {
                        break;
                    }
                    target.push(n);
                    chars.next();
                }
                if !matches!(target.as_str(), "&1" | "&2" | "/dev/null") {
                    return None;
                }
            }
            '&' if chars.peek() == Some(&'>') => word = Some("&".to_owned()),
            ';' | '|' | '&' | '\n' => {
                commands.last_mut()?.extend(word.take());
                commands.push(Vec::new());
            }
            c if c.is_whitespace() => commands.last_mut()?.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    commands.last_mut()?.extend(word);
    commands.retain(|c| !c.is_empty());
    Some(commands)
}

fn only_reads(command: &[String]) -> bool {
    let Some((program, arguments)) = command.split_first() else {
        return true;
    };
    let program = program.rsplit('/').next().unwrap_or_default();
    let writes = WRITING_FLAGS
        .iter()
        .find(|(p, _)| *p == program)
        .is_some_and(|(_, flags)| {
            arguments
                .iter()
                .any(|a| flags.iter().any(|f| a == f || a.starts_with(&format!("{f}="))))
        });
    if writes {
        return false;
    }
    match SUBCOMMANDS.iter().find(|(p, _)| *p == program) {
        Some((_, reading)) => subcommand(program, arguments).is_some_and(|s| reading.contains(&s)),
        None if program == "find" => {
            let acts = [
                "-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls",
            ];
            !arguments.iter().any(|a| acts.contains(&a.as_str()))
        }
        None if program == "sed" => {
            arguments.iter().any(|a| a == "-n")
                && arguments
                    .iter()
                    .filter(|a| !a.starts_with('-'))
                    .all(|a| !a.contains('w'))
                && !arguments
                    .iter()
                    .any(|a| a.starts_with("-i") || a.starts_with("--in-place"))
        }
        None if program == "sort" => !arguments
            .iter()
            .any(|a| a.starts_with("-o") || a.starts_with("--output")),
        None => READS.contains(&program),
    }
}

/// The first argument that is no option; git's global options with a value are stepped over.
fn subcommand<'a>(program: &str, arguments: &'a [String]) -> Option<&'a str> {
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "-C" | "-c" | "--git-dir" | "--work-tree" if program == "git" => {
                rest.next();
            }
            a if a.starts_with('-') && program == "git" => {}
            a => return Some(a),
        }
    }
    None
}

fn is_commit(command: &[String]) -> bool {
    command.split_first().is_some_and(|(program, arguments)| {
        program.rsplit('/').next() == Some("git") && subcommand("git", arguments) == Some("commit")
    })
}

/// A line that we do not follow, e.g. `git commit -m "$(cat <<EOF …`.
fn mentions_commit(line: &str) -> bool {
    line.split(['\n', ';', '&', '|']).any(|part| {
        let mut words = part.split_whitespace();
        words.next() == Some("git") && words.find(|w| !w.starts_with('-')) == Some("commit")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_wholly_on_the_table_reads() {
        for line in [
            "ls -la",
            "echo hi",
            "cat a | grep b | wc -l",
            "git status",
            "git -C sub log --oneline",
            "rg foo src 2>/dev/null",
            "cargo test 2>&1; true",
            "find . -name '*.rs'",
            "sed -n 1,5p x.rs",
            "cd src && ls",
            "grep 'a > b' file",
            "sort x | head",
            "git --no-pager diff",
        ] {
            let want = if line.starts_with("cargo test") {
                Effect::MayChange
            } else {
                Effect::Reads
            };
            assert_eq!(effect(line), want, "{line}");
        }
        for line in [
            "rm -rf x",
            "echo hi > f",
            "echo hi >> f",
            "cargo build",
            "ls; rm x",
            "find . -delete",
            "sed -i s/a/b/ x",
            "cat $(rm x)",
            "echo `rm x`",
            "sort -o x x",
            "git push",
            "git",
            "FOO=1 ls",
            "(rm x)",
            "tee f",
            "cat <<E\nx\nE",
            "git diff --output=x",
            "sed -n 'w out' x",
            "date -s now",
            "echo \"$(rm x)\"",
            "unfinished 'quote",
            "python3 x.py",
        ] {
            assert_eq!(effect(line), Effect::MayChange, "{line}");
        }
        assert_eq!(effect(""), Effect::Reads);
    }

    #[test]
    fn commits_are_known() {
        for line in [
            "git commit -m x",
            "git add . && git commit -m 'a b'",
            "git -C d commit",
            "git commit -m \"$(cat <<'E'\nx\nE\n)\"",
        ] {
            assert_eq!(effect(line), Effect::Commits, "{line}");
        }
        assert_eq!(effect("echo git commit"), Effect::Reads);
    }
}
