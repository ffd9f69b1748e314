use std::borrow::Cow;

use super::{redact, untouched};

#[test]
fn prose_is_not_damaged() {
    untouched(&[
        "the secret: to good tests",
        "token: 5 tokens left",
        "password: required",
        "Authorization: required",
        "the token is expired",
        "Password: 8-16 characters",
        "use --password to set the password",
        "the --token and --password flags are new",
        "Bearer authentication is used",
        "bearer token required",
        "Basic authentication",
        "Secret: never tell anyone",
        "my secret: patience",
        "API key: see the settings page",
        "The password: it must have 8 characters.",
        "Cookie: yes, please",
        "cookie: accepted",
        "WWW-Authenticate: Bearer realm=\"x\"",
        "token: 2024-01-01",
        "secret: v1.2.3",
        "Passwort: bitte eingeben",
        "credentials: include",
        "password (optional): string",
        "key: value",
        "a task-management-system-for-people",
        "secret: https://example.com/docs",
    ]);
}

#[test]
fn code_is_not_damaged() {
    untouched(&[
        "token: String,",
        "password: &str,",
        "pub fn f(password: &str, token: String) -> X",
        "let api_key = env::var(\"API_KEY\")",
        "secret = get_secret(name)",
        "password=$PASSWORD",
        "password = \"${TOKEN}\"",
        "PASSWORD=${TOKEN}",
        "token: {{ secret }}",
        "token=<your-token>",
        "token: null",
        "\"token\": true,",
        "token = None",
        "credentials: 'include'",
        "function f(token: CancellationToken): void {",
        "  secret: Uint8Array",
        "login(password=password, token=token)",
        "connect(password=self.password)",
        "token = next_token",
        "token := os.Getenv(\"TOKEN\")",
        "const token = await getToken()",
        "if password == \"\" {",
        "password != None",
        "\"password\": \"Enter your password\"",
        "\"token\": \"identifier\"",
        "{\"token\": \"==\", \"x\": 1}",
        "api_key=process.env.API_KEY",
        "apiKey: process.env.OPENAI_API_KEY,",
        "apiKey: config.apiKey",
        "token => token.value",
        "\"Authorization\": f\"Bearer {token}\"",
        "headers[\"Authorization\"] = \"Bearer \" + token",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "std::token::Token",
        "Token::new(secret)",
        ".token.keyword { color: red }",
        "--ds-token: #ff0011;",
        "\"password\": \"password\"",
        "\"token\": \"GITHUB_TOKEN\"",
        "api_key: YOUR_API_KEY",
        "OPENAI_API_KEY=your-key-here",
        "PASSWORD=",
        "password:",
        "password: Option<SecretString>,",
        "secret_key_base: <%= ENV[\"X\"] %>",
        "let token = &tokens[0];",
        "token = tokens[i+1]",
        "password = input(\"Password: \")",
        "parser.add_argument(\"--password\", help=\"the password\")",
        "FormField(\"password\", \"text\")",
        "{\"tokens\": 100, \"max_tokens\": 4096, \"token\": 12}",
        "max_tokens: 4096",
        "token_count=12",
        "MAX_TOKEN=4096",
        "primary_key: id1234567",
        "secret_name: my-k8s-secret1",
        "PWD=/home/user",
        "OLDPWD=/home/dev/x",
        "docker run -u 1000:1000 img",
        "mkdir -p foo",
        "token: /var/run/secrets/token",
        "password: ${{ secrets.DB_PASSWORD }}",
        "TOKEN=$(cat /run/token)",
        "password='$PASSWORD'",
        "\"secret\": \"%s\"",
        "token: '...'",
        "sk-estimator-doc-link-foo-bar",
        "class=\"sk-toggleable__content-wrapper\"",
    ]);
}

#[test]
fn ids_hashes_and_data_are_not_damaged() {
    untouched(&[
        "auth = base64.b64encode(user.encode())",
        "DEVSTAT_TYPE_PASS = 0x100,",
        "pub const IFLA_INET6_TOKEN: _bindgen_ty_5 = _bindgen_ty_5::IFLA_INET6_TOKEN;",
        r"X-Api-Key:\s*[^\s]{8,}",
        "550e8400-e29b-41d4-a716-446655440000",
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "\"integrity\": \"sha512-n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg==\",",
        "checksum = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "session_id: 0198c0de-7f3a-7b4e-9b1a-0123456789ab",
        "\"session_id\":\"x7Kd93mQpL2vB8nR\"",
        "2024-05-06T07:08:09Z",
        "src/redact/token.rs:12:5: error",
        "http://host:80/a@2x.png",
        "https://example.com/foo@bar",
        "user@example.com",
        "git@github.com:a/b.git",
        "npm i @scope/pkg@1.2.3",
        "tool_use_id: toolu_01A09q90qw90lq917835lq9",
        "\"request_id\":\"req_011CSHoEeqs5C35K2UUqR7Fy\"",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIx me@x",
        "10.0.0.1:8080",
        "a-us1 b",
        "3.14.15",
        "~/.config/x",
        "1Q~x",
    ]);
}

#[test]
fn what_real_texts_showed_is_not_damaged() {
    let data = "AAAAEAAAABx7Kd93mQpL2vB8nR4tY6wZ1/EAAAx7Kd93mQpL2vB8nR4tY6wZ1+x7Kd93mQpL2vB8nR4tY6wZ1";
    untouched(&[
        "const PASSWORD: &[u8] = b\" password \";",
        "{\"_meta\":{\"progressToken\":\"c8c04a95-4887-4f0d-b0ea-cec9eab436b4\"}}",
        "{\"nextPageToken\":\"CAUQAA1x7Kd93\",\"next_token\":\"x7Kd93mQpL2v\"}",
        "auto DedupToken1 = GetDedupTokenFromCmdOutput(CmdOutput);",
        "token: config.oauth2Token1.sha256Hash,",
        "s.computeSha256OfEverythin = 1",
        data,
    ]);
    // Nothing stands before the pair.
    untouched(&["value: x7Kd93mQpL2v", "\"value\": \"x7Kd93mQpL2v\"", ",value=1"]);
}

#[test]
fn a_text_without_a_secret_is_borrowed() {
    for text in ["", "plain", "a: b", "öäü = 漢字", "token: String"] {
        assert!(matches!(redact(text), Cow::Borrowed(_)));
    }
}

#[test]
fn our_own_sources_are_not_damaged() {
    for source in [
        include_str!("../scan.rs"),
        include_str!("../text.rs"),
        include_str!("../shapes.rs"),
        include_str!("../keys.rs"),
        include_str!("../odd.rs"),
        include_str!("../families.rs"),
        include_str!("../marker.rs"),
        include_str!("../mod.rs"),
        include_str!("../value.rs"),
    ] {
        for (out, line) in redact(source).lines().zip(source.lines()) {
            assert_eq!(out, line);
        }
    }
}

/// `cargo test --release redact -- --ignored --nocapture`
#[test]
#[ignore = "a measurement, for a quiet machine"]
fn sixty_four_kib_of_ordinary_text_in_under_a_millisecond() {
    for source in [
        include_str!("../shapes.rs"),
        include_str!("../mod.rs"),
        include_str!("../value.rs"),
    ] {
        let text = source.repeat(1 + 65_536 / source.len());
        let text = text.get(..text.floor_char_boundary(65_536)).unwrap();
        let mut times: Vec<_> = (0..200)
            .map(|_| {
                let start = std::time::Instant::now();
                std::hint::black_box(redact(std::hint::black_box(text)));
                start.elapsed()
            })
            .collect();
        times.sort();
        eprintln!("64 KiB: median {:?}, best {:?}", times[100], times[0]);
        assert!(times[100].as_micros() < 1000);
    }
}
