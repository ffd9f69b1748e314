use super::check;

/// The inputs that were run through both predecessors; each leaked or
/// damaged some of them.
#[test]
fn the_predecessors_inputs() {
    check(&[
        ("X-Api-Key: abcd1234", "X-Api-Key: «api-key»"),
        ("X-Api-Key: short", "X-Api-Key: «api-key»"),
        (
            r#"{"X-Api-Key": "abcd1234efgh"}"#,
            r#"{"X-Api-Key": "«api-key»"}"#,
        ),
        ("x-api-key=abcd1234efgh", "x-api-key=«api-key»"),
        ("apiKey: abcdefghij0123456789", "apiKey: «api-key»"),
        ("apiKey: abcdefghij012345678", "apiKey: «api-key»"),
        (r#""apiKey":"abcdefghij0123456789""#, r#""apiKey":"«api-key»""#),
        ("apiKey=abcdefghij0123456789", "apiKey=«api-key»"),
        ("api_key: abcdefghij0123456789", "api_key: «api-key»"),
        (
            "Authorization: Bearer abcdefghij0123456789abcd",
            "Authorization: Bearer «bearer-token»",
        ),
        (
            "Authorization: Bearer short1234",
            "Authorization: Bearer «bearer-token»",
        ),
        (
            "Authorization: Basic dXNlcjpwYXNzd29yZA==",
            "Authorization: Basic «basic-auth»",
        ),
        ("authorization: tok_1234567890", "authorization: «authorization»"),
        ("Bearer abc+def/ghi=jklmnop1234567890", "Bearer «bearer-token»"),
        ("export OPENAI_API_KEY=⟨sk⟩", "export OPENAI_API_KEY=«openai-key»"),
        (
            "signature:\n  value: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
            "signature:\n  value: «signature»",
        ),
        ("the secret: to good tests", "the secret: to good tests"),
        ("token: 5 tokens left", "token: 5 tokens left"),
    ]);
}

#[test]
fn authorization_in_every_spelling() {
    check(&[
        ("Authorization: token abc123", "Authorization: token «token»"),
        (
            "Authorization=Bearer abc123def",
            "Authorization=Bearer «bearer-token»",
        ),
        (
            r#"{"Authorization":"Bearer abcdef"}"#,
            r#"{"Authorization":"Bearer «bearer-token»"}"#,
        ),
        (
            r#"{"h":"{\"authorization\":\"Basic eDp5\"}"}"#,
            r#"{"h":"{\"authorization\":\"Basic «basic-auth»\"}"}"#,
        ),
        (
            "  authorization: 'ApiKey abc123'",
            "  authorization: 'ApiKey «api-key»'",
        ),
        (
            "proxy-authorization: Basic eDp5",
            "proxy-authorization: Basic «basic-auth»",
        ),
        (
            "Authorization: AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=h, Signature=9f86\r\nHost: x",
            "Authorization: AWS4-HMAC-SHA256 «authorization»\r\nHost: x",
        ),
        (
            "Authorization: Digest username=\"u\", response=\"9f86d081\"\nHost: x",
            "Authorization: Digest «authorization»\nHost: x",
        ),
        ("send Bearer ⟨jwt⟩ now", "send Bearer «bearer-token» now"),
        ("(bearer abcdef123456)", "(bearer «bearer-token»)"),
        (
            "use Basic dXNlcjpwYXNzd29yZA== here",
            "use Basic «basic-auth» here",
        ),
        (
            "curl -H 'Authorization: Bearer abc123' -H \"X-Api-Key: foo\" https://x.io",
            "curl -H 'Authorization: Bearer «bearer-token»' -H \"X-Api-Key: «api-key»\" https://x.io",
        ),
        (
            ".header(\"Authorization\", \"Bearer abc123\")",
            ".header(\"Authorization\", \"Bearer «bearer-token»\")",
        ),
        (
            "Cookie: session=abc123; theme=dark\r\nHost: x",
            "Cookie: «cookie»\r\nHost: x",
        ),
        ("Set-Cookie: sid=abcd; Path=/; HttpOnly", "Set-Cookie: «cookie»"),
        (r#"{"cookie":"a=b; c=d"}"#, r#"{"cookie":"«cookie»"}"#),
        ("curl -H 'Cookie: a=b' x", "curl -H 'Cookie: «cookie»' x"),
    ]);
}

#[test]
fn assignments_keep_their_syntax() {
    check(&[
        ("password = \"hunter2\"", "password = \"«password»\""),
        ("PASSWORD=hunter2", "PASSWORD=«password»"),
        ("PASSWORD='hun ter2'", "PASSWORD='«password»'"),
        (r#"{"password":"hunter2"}"#, r#"{"password":"«password»"}"#),
        (r#"{"password":"swordfish"}"#, r#"{"password":"«password»"}"#),
        (
            r#"{"password": 12345678, "x": 1}"#,
            r#"{"password": "«password»", "x": 1}"#,
        ),
        (
            r#"{"a":"{\"password\": 12345678}"}"#,
            r#"{"a":"{\"password\": \"«password»\"}"}"#,
        ),
        (
            r#"{"a":"{\"apiKey\":\"a1\",\"pwd\":\"p\\\"w\"}"}"#,
            r#"{"a":"{\"apiKey\":\"«api-key»\",\"pwd\":\"«password»\"}"}"#,
        ),
        (
            r#"{"a":"{\"b\":\"{\\\"token\\\":\\\"abc123x\\\"}\"}"}"#,
            r#"{"a":"{\"b\":\"{\\\"token\\\":\\\"«token»\\\"}\"}"}"#,
        ),
        (r#"{"password":"a\"b\\"}"#, r#"{"password":"«password»"}"#),
        (
            r#"{"env":"A=1\nDB_PASSWORD=hunter2\nB=2"}"#,
            r#"{"env":"A=1\nDB_PASSWORD=«password»\nB=2"}"#,
        ),
        ("password: hunter2", "password: «password»"),
        (
            "db:\n  password: hunter2 # dev\n  port: 1",
            "db:\n  password: «password» # dev\n  port: 1",
        ),
        ("POSTGRES_PASSWORD: swordfish", "POSTGRES_PASSWORD: «password»"),
        ("password=swordfish\r\nx=1", "password=«password»\r\nx=1"),
        (
            "const apiKey: string = \"abcdef\";",
            "const apiKey: string = \"«api-key»\";",
        ),
        (
            "const API_KEY: &str = \"abcdef\";",
            "const API_KEY: &str = \"«api-key»\";",
        ),
        ("apiKey := \"abcdef\"", "apiKey := \"«api-key»\""),
        ("'password' => 'hunter2',", "'password' => '«password»',"),
        (
            "define('DB_PASSWORD', 'hunter2');",
            "define('DB_PASSWORD', '«password»');",
        ),
        (
            "os.environ[\"API_KEY\"] = \"abc\"",
            "os.environ[\"API_KEY\"] = \"«api-key»\"",
        ),
        ("if password != \"hunter2\" {", "if password != \"«password»\" {"),
        ("password ||= `hunter2`", "password ||= `«password»`"),
        ("client_secret = b'abc'", "client_secret = b'«secret»'"),
        (
            r#"{"name":"API_KEY","value":"abc"}"#,
            r#"{"name":"API_KEY","value":"«api-key»"}"#,
        ),
        (
            "- name: DB_PASSWORD\n  value: hunter22",
            "- name: DB_PASSWORD\n  value: «password»",
        ),
        ("<password>hunter2</password>", "<password>«password»</password>"),
        (
            "<add key=\"ApiKey\" value=\"abc\" />",
            "<add key=\"ApiKey\" value=\"«api-key»\" />",
        ),
        (
            "//npm.example.com/:_authToken=abcdef",
            "//npm.example.com/:_authToken=«token»",
        ),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYabc",
            "aws_secret_access_key = «access-key»",
        ),
        (
            "AWS_ACCESS_KEY_ID=⟨akia⟩",
            "AWS_ACCESS_KEY_ID=«aws-access-key-id»",
        ),
        (
            "API_KEY_PROD=abc\nSECRET_1=x1y2",
            "API_KEY_PROD=«api-key»\nSECRET_1=«secret»",
        ),
        ("the API key: abc123def456 works", "the API key: «api-key» works"),
        ("$env:API_KEY = \"abc\"", "$env:API_KEY = \"«api-key»\""),
        (
            "Environment=\"PASSWORD=abc\" \"X=1\"",
            "Environment=\"PASSWORD=«password»\" \"X=1\"",
        ),
        (
            r#"{"auths":{"x":{"auth":"dXNlcjpwYXNzd29yZA=="}}}"#,
            r#"{"auths":{"x":{"auth":"«credential»"}}}"#,
        ),
        (
            "HEROKU_API_KEY=550e8400-e29b-41d4-a716-446655440000",
            "HEROKU_API_KEY=«api-key»",
        ),
        (
            "пароль password: \"мойпароль\" да",
            "пароль password: \"«password»\" да",
        ),
    ]);
}
