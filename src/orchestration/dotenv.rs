//! One value of a project's `.env`: `NAME=value`, `export NAME=value`, quotes, comments. Nothing is expanded, and
//! nothing else of the file, which holds keys, is kept.

/// The value of a name, the last one if it is there twice; empty is absent.
pub(crate) fn value(text: &str, name: &str) -> Option<String> {
    let lines = text.trim_start_matches('\u{feff}').lines();
    let found = lines.filter_map(|line| assigned(line, name)).next_back();
    found.filter(|value| !value.is_empty())
}

fn assigned(line: &str, name: &str) -> Option<String> {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").map_or(line, str::trim_start);
    let rest = line.strip_prefix(name)?.trim_start().strip_prefix('=')?.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = rest.strip_prefix(quote) {
            return inner.split_once(quote).map(|(value, _)| value.to_owned());
        }
    }
    let comment = rest.find(" #").or_else(|| rest.find("\t#"));
    let rest = comment.and_then(|at| rest.get(..at)).unwrap_or(rest);
    Some(
        if rest.starts_with('#') { "" } else { rest }
            .trim_end()
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn a_value_is_what_stands_behind_its_name() {
        for (text, wanted) in [
            ("X=a/b", Some("a/b")),
            ("export  X = a b # why", Some("a b")),
            ("X=\"a # b\" # c", Some("a # b")),
            ("X='a'\nX=b", Some("b")),
            ("\u{feff}X=a\r\nY=b\r\n", Some("a")),
            ("X=", None),
            ("X=''", None),
            ("X=# nothing", None),
            ("#X=a", None),
            ("XY=a\nMY_X=b", None),
            ("X=\"open", None),
            ("X=a#b", Some("a#b")),
        ] {
            assert_eq!(value(text, "X").as_deref(), wanted, "{text:?}");
        }
    }
}
