//! Ordinary text: made here, this repository's own, and the crates in cargo's registry.

use std::fs;
use std::path::{Path, PathBuf};

use bookend::redact::redact;

use super::rules::Oracle;
use super::sample::{Dice, draw};

/// How much of the registry is read.
const MOST: usize = 48 << 20;

/// Lines of every kind that a session log sees. `{…}` is a pattern that is drawn anew for each line.
const LINES: &[&str] = &[
    "commit {[0-9a-f]{40}}\nAuthor: Ada Byron <ada@example.com>\nDate:   Tue May 6 07:08:09 2026 +0200\n",
    "{[0-9a-f]{7}} Rename the token type; keep the secret of good tests\n",
    "index {[0-9a-f]{10}}..{[0-9a-f]{10}} 100644\n--- a/src/auth/token.rs\n+++ b/src/auth/token.rs\n",
    "id: {[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}}\n",
    "{[A-Za-z0-9+/]{76}}\n{[A-Za-z0-9+/]{76}}\n{[A-Za-z0-9+/]{40}}==\n",
    "<img src=\"data:image/png;base64,iVBORw0KGgo{[A-Za-z0-9+/]{200}}=\">\n",
    "AAAAEAAAAB{[A-Za-z0-9+/]{30}}/EAAA{[A-Za-z0-9+/]{30}}+ATAT{[A-Za-z0-9]{20}}/AC{[A-Za-z0-9+/]{40}}\n",
    "name = \"serde\"\nversion = \"1.0.{[0-9]{3}}\"\nchecksum = \"{[0-9a-f]{64}}\"\n",
    "      \"integrity\": \"sha512-{[A-Za-z0-9+/]{86}}==\",\n",
    "      \"resolved\": \"https://registry.example.com/lodash/-/lodash-4.17.{[0-9]{2}}.tgz\",\n",
    "left-pad@1.3.0: sha256:{[0-9a-f]{64}}\n",
    "!function(e,t){var n=t[{[0-9]{3}}],r=n.token||\"\",a={k:e.key,s:void 0};return r?a:n({[a-z]{2}},\"{[a-z]{5}}\")}(window,this);\n",
    "/home/ada/.cargo/registry/src/index.example-{[0-9a-f]{16}}/serde-1.0.{[0-9]{3}}/src/lib.rs:42:7\n",
    "C:\\Users\\ada\\AppData\\Local\\Temp\\{[a-z0-9]{8}}\\out.txt\n",
    "https://example.com/a/{[0-9a-f]{24}}/b?page=2&sort=key&id={[0-9]{9}}#token-types\n",
    "2026-05-06T07:08:09.{[0-9]{6}}Z  INFO server: request done id={[0-9a-f]{16}} status=200 token_count={[0-9]{4}}\n",
    "[07:08:09] WARN  retry 3 of 5 (key: session, pass: 2) in {[0-9]{3}} ms\n",
    "req-20260506T070809Z-{[a-z]{5}}-{[a-z]{7}} ClaudeCode-20260506T070809Z-{[0-9a-f]{8}} turn-{[0-9]{2}}\n",
    "{\"tool_use_id\":\"toolu_01{[A-Za-z0-9]{22}}\",\"call_id\":\"call_{[A-Za-z0-9]{24}}\",\"id\":\"msg_01{[A-Za-z0-9]{22}}\"}\n",
    "{\"session_id\":\"{[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}}\",\"input_tokens\":{[1-9][0-9]{4}}}\n",
    "{\"prompt_id\":\"prompt_{[A-Za-z0-9]{20}}\",\"cwd\":\"/home/ada/shop\",\"hook_event_name\":\"PostToolUse\"}\n",
    "The password must have {[1-9]} characters; a token is a word, and the secret: read twice, write once.\n",
    "She asked for the key to the {[a-z]{6}} room. \"Which key?\" he said. The pass was closed: snow.\n",
    "## API keys\n\nSet `API_KEY` to your key, e.g. `API_KEY=your-key-here`. See [tokens](#tokens-{[0-9]{2}}).\n",
    "| token | meaning |\n| --- | --- |\n| `{[a-z]{4}}_token` | the {[a-z]{6}} token |\n",
    "    let {[a-z]{6}}_token = lexer.next_token()?; // token: Ident({[0-9]{2}})\n",
    "def check(self, password: str, token: Optional[str] = None) -> bool:  # {[a-z]{8}}\n",
    "  const { token, secret } = useAuth{[A-Z][a-z]{5}}(props.apiKey, { password: state.password });\n",
    "func New{[A-Z][a-z]{6}}(secret []byte, opts ...Option) (*Client, error) {\n",
    "public class {[A-Z][a-z]{6}} { private final String apiKey; private char[] password = null; }\n",
    "#define {[A-Z]{6}}_KEY_LEN {[0-9]{2}}\nstatic const char *passwd_file = NULL;\n",
    "SELECT password_hash, api_key_id FROM users WHERE token_type = 'bearer' AND id = {[0-9]{6}};\n",
    "error[E0308]: mismatched types: expected `Token`, found `Secret<{[A-Z][a-z]{5}}>`\n",
    "test auth::tokens::{[a-z]{6}}_is_refused ... ok\n",
    "postgres://localhost:5432/shop_{[a-z]{4}} http://127.0.0.1:{[1-9][0-9]{3}}/a@2x.png\n",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{[A-Za-z0-9+/]{43}} ada@example.com\n",
    "-----BEGIN CERTIFICATE-----\nMIID{[A-Za-z0-9+/]{60}}\n{[A-Za-z0-9+/]{64}}\n-----END CERTIFICATE-----\n",
    ".pa-{[a-z]{4}}-grid__cell--is-wide { color: #{[0-9a-f]{6}}; --sk-size: {[0-9]{2}}px }\n",
    "W/\"{[0-9a-f]{32}}\" etag; sha1 {[0-9a-f]{40}}; md5 {[0-9a-f]{32}}; trace {[0-9a-f]{32}}-{[0-9a-f]{16}}-01\n",
];

#[test]
fn made_ordinary_text_comes_out_byte_for_byte() {
    let mut dice = Dice::new("ordinary");
    let text: String = (0..20_000)
        .map(|i| filled(LINES[i % LINES.len()], &mut dice))
        .collect();
    let changed = changes(&text);
    println!(
        "{} lines, {} bytes of ordinary text: {} changed",
        text.lines().count(),
        text.len(),
        changed.len()
    );
    assert!(changed.is_empty(), "{:#?}", &changed[..changed.len().min(50)]);
}

#[test]
fn this_repository_comes_out_byte_for_byte() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for part in [
        "src",
        "hooks",
        "benches",
        "tests/payloads",
        "Cargo.lock",
        "Cargo.toml",
        "README.md",
        "CONTRIBUTING.md",
    ] {
        collect(&root.join(part), &mut files);
    }
    // Its tests plant secrets, and the redactor's own comments name some.
    let has = |file: &Path, name: &str| file.components().any(|part| part.as_os_str() == name);
    files.retain(|file| has(file, "payloads") || !(has(file, "tests") || has(file, "redact")));
    let texts: Vec<_> = files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok())
        .collect();
    // What documents and captured sessions plant to show that it goes.
    let planted = |line: &str| {
        let known = ["hunter2", "ghp_0000", "A command line with a key"];
        known.iter().any(|part| line.contains(part))
    };
    let changed = texts.iter().flat_map(|text| changes(text));
    let changed: Vec<_> = changed.filter(|(before, _)| !planted(before)).collect();
    println!(
        "{} files, {} bytes: {} changed",
        texts.len(),
        bytes(&texts),
        changed.len()
    );
    assert!(changed.is_empty(), "{:#?}", &changed[..changed.len().min(50)]);
}

/// Crates hold secrets, too (keys in examples): a changed place that the oracle also finds is no damage.
#[test]
fn the_crates_of_this_machine_are_not_damaged() {
    let Some(oracle) = Oracle::installed() else {
        return;
    };
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
        .unwrap();
    let mut files = Vec::new();
    collect(&home.join("registry/src"), &mut files);
    files.sort();
    let mut size = 0;
    let texts: Vec<_> = files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok())
        .take_while(|text| {
            size += text.len();
            size < MOST
        })
        .collect();
    let changed: Vec<_> = texts.iter().flat_map(|text| changes(text)).collect();
    let found = oracle.scan(changed.iter().map(|(before, _)| before.as_str()));
    let secrets = found
        .iter()
        .filter(|found| found.iter().any(super::Finding::is_secret))
        .count();
    println!(
        "{} files of crates, {} bytes: {} lines changed, {secrets} of them secrets for the oracle, too",
        texts.len(),
        bytes(&texts),
        changed.len()
    );
    let rest = changed
        .iter()
        .zip(&found)
        .filter(|(_, found)| !found.iter().any(super::Finding::is_secret));
    for ((before, after), _) in rest.take(50) {
        println!("- {before}\n+ {after}");
    }
    let each = bytes(&texts) / (changed.len() - secrets).max(1);
    assert!(each > 1 << 20, "a line changed every {each} bytes");
}

fn bytes(texts: &[String]) -> usize {
    texts.iter().map(String::len).sum()
}

/// The lines that redaction changes, before and after. A secret over several lines counts once.
fn changes(text: &str) -> Vec<(String, String)> {
    let redacted = redact(text);
    if redacted == text {
        return Vec::new();
    }
    let diff = similar::TextDiff::from_lines(text, &redacted);
    let mut changed = Vec::new();
    for op in diff.ops().iter().filter(|op| op.tag() != similar::DiffTag::Equal) {
        let cut = |text: String| text.chars().take(400).collect::<String>();
        let old = op.old_range().filter_map(|line| diff.old_slice(line)).collect();
        let new = op.new_range().filter_map(|line| diff.new_slice(line)).collect();
        changed.push((cut(old), cut(new)));
    }
    changed
}

/// The line with every `{pattern}` drawn. Braces that hold no class are the line's own.
fn filled(line: &str, dice: &mut Dice) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, from)) = rest.split_once("{[") {
        let mut ends = from.match_indices('}').map(|(at, _)| from.split_at(at));
        let (pattern, behind) = ends.find(|(pattern, _)| !is_count(pattern)).unwrap();
        out.push_str(before);
        out.push_str(&draw(&regex_syntax::parse(&format!("[{pattern}")).unwrap(), dice));
        rest = behind.strip_prefix('}').unwrap();
    }
    out + rest
}

/// True when the brace behind `pattern` ends a count (`[a-z]{8}`), not the pattern.
fn is_count(pattern: &str) -> bool {
    let digits = pattern.trim_end_matches(|c: char| c.is_ascii_digit() || c == ',');
    digits.ends_with('{')
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(path) else {
        files.push(path.to_owned());
        return;
    };
    entries.for_each(|entry| collect(&entry.unwrap().path(), files));
}
