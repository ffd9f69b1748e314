//! What the documents say is what the code does.

use std::path::Path;

use bookend::config::VARIABLES;

fn text(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

#[test]
fn the_readmes_environment_table_is_the_codes() {
    let readme = text("README.md");
    let rows: Vec<String> = VARIABLES
        .iter()
        .map(|(n, d, m)| format!("| `{n}` | {d} | {m} |"))
        .collect();
    let table: Vec<&str> = readme
        .lines()
        .skip_while(|l| !l.starts_with("| variable | default |"))
        .skip(2)
        .take_while(|l| l.starts_with('|'))
        .collect();
    assert_eq!(table, rows);
}

#[test]
fn every_document_names_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    let manifest: serde_json::Value = serde_json::from_str(&text("plugin.json")).unwrap();
    assert_eq!(manifest["version"], version);
    assert!(text("CHANGELOG.md").contains(&format!("## {version}")));
}

#[test]
fn the_committed_registration_is_the_generated_one() {
    assert_eq!(
        text("hooks/hooks.json"),
        bookend::hosts::registration::plugin_hooks_json()
    );
}

#[test]
fn every_file_named_in_the_readme_is_there() {
    let readme = text("README.md");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for link in readme
        .split("](")
        .skip(1)
        .filter_map(|l| l.split(')').next())
        .filter(|l| !l.contains("://"))
    {
        assert!(root.join(link.split('#').next().unwrap()).exists(), "{link}");
    }
}

/// The modules and the name of every test that a text names, as `module::…::name`.
fn tests_named_in(text: &str) -> Vec<(Vec<&str>, &str)> {
    let named = text.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        word.contains("::")
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == ':')
    };
    named
        .filter(is_path)
        .map(|word| {
            let mut parts: Vec<&str> = word.split("::").collect();
            let name = parts.pop().unwrap();
            (parts, name)
        })
        .collect()
}

/// The rows of all tables of a text, without their heads.
fn rows(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let is_head = |i: usize| lines.get(i + 1).is_some_and(|next| next.starts_with("| ---"));
    (0..lines.len())
        .filter(|i| lines[*i].starts_with("| ") && !lines[*i].starts_with("| ---") && !is_head(*i))
        .map(|i| lines[i])
        .collect()
}

#[test]
fn every_promise_and_every_fault_of_others_has_a_test_that_is_there() {
    let promises = text("docs/promises.md");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (modules, name) in tests_named_in(&promises) {
        let path = modules.join("/");
        let places = ["tests", "src"]
            .into_iter()
            .flat_map(|dir| [format!("{dir}/{path}.rs"), format!("{dir}/{path}/mod.rs")]);
        let function = format!("fn {name}(");
        let is_there = |file: &String| {
            std::fs::read_to_string(root.join(file)).is_ok_and(|source| source.contains(&function))
        };
        assert!(places.clone().any(|file| is_there(&file)), "no {name} in {path}");
    }
    let rows = rows(&promises);
    assert!(rows.len() > 70, "{}", rows.len());
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let shown = cells[2];
        // A figure shows itself; what cannot occur is said to be so.
        let is_shown = !tests_named_in(shown).is_empty() || shown.starts_with("`cargo bench`");
        assert!(is_shown, "nothing shows: {row}");
        assert!(!row.contains('@'), "a figure is missing: {row}");
    }
}
