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
