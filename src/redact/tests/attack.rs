//! Cases written against the finished scanner, to make it leak or damage.

use super::{check, untouched};

#[test]
fn leaks_that_were_tried() {
    check(&[
        ("export DB_PASS=swordfish; run", "export DB_PASS=«password»; run"),
        (r#"DB_PASSWORD="p a s s""#, r#"DB_PASSWORD="«password»""#),
        (
            r#"  "client_secret" : "abcdef""#,
            r#"  "client_secret" : "«secret»""#,
        ),
        ("clientSecret: 'abcdef'", "clientSecret: '«secret»'"),
        (
            "{'password': 'x', 'user': 'y'}",
            "{'password': '«password»', 'user': 'y'}",
        ),
        (r#"{"accessToken": "abc"}"#, r#"{"accessToken": "«token»"}"#),
        (
            r#"{"refresh_token":"abc123","expires_in":3600}"#,
            r#"{"refresh_token":"«token»","expires_in":3600}"#,
        ),
        (
            r#"credentials = "abc123def456""#,
            r#"credentials = "«credential»""#,
        ),
        ("AZURE_CLIENT_SECRET=abc", "AZURE_CLIENT_SECRET=«secret»"),
        ("private_key = abc123def", "private_key = «private-key»"),
        (r#"secret: "my little secret 1""#, r#"secret: "«secret»""#),
        (
            "password: 'correct horse battery staple'",
            "password: '«password»'",
        ),
        (
            r#"passphrase = "correct horse battery staple""#,
            r#"passphrase = "«password»""#,
        ),
        ("**Password**: hunter2", "**Password**: «password»"),
        ("Password: `hunter2`", "Password: `«password»`"),
        ("password:hunter2", "password:«password»"),
        ("password : hunter2", "password : «password»"),
        ("pwd=hunter2;", "pwd=«password»;"),
        ("Pwd: hunter2!", "Pwd: «password»"),
        (r#"PASSWORD: "hunter2""#, r#"PASSWORD: "«password»""#),
        ("db.password=hunter2", "db.password=«password»"),
        (
            "spring.datasource.password=swordfish",
            "spring.datasource.password=«password»",
        ),
        (
            "quarkus.datasource.password = sw0rdfish",
            "quarkus.datasource.password = «password»",
        ),
        ("-Dpassword=swordfish", "-Dpassword=«password»"),
        ("--set auth.password=swordfish", "--set auth.password=«password»"),
        ("--api-key abcdefgh", "--api-key «api-key»"),
        ("--api-key=abcdef", "--api-key=«api-key»"),
        ("--secret 'x y'", "--secret '«secret»'"),
        (
            "-e POSTGRES_PASSWORD=swordfish",
            "-e POSTGRES_PASSWORD=«password»",
        ),
        ("ENV SECRET_KEY=abc", "ENV SECRET_KEY=«access-key»"),
        ("ARG TOKEN=abc", "ARG TOKEN=«token»"),
        (
            r#""Env": ["API_KEY=abc", "DB_PASSWORD=x1"]"#,
            r#""Env": ["API_KEY=«api-key»", "DB_PASSWORD=«password»"]"#,
        ),
        (
            r#"curl "https://x.io/?api_key=abc&y=1""#,
            r#"curl "https://x.io/?api_key=«api-key»&y=1""#,
        ),
        (
            "curl https://x.io/?password=swordfish",
            "curl https://x.io/?password=«password»",
        ),
        (
            "GET /login?user=a&password=b HTTP/1.1",
            "GET /login?user=a&password=«password» HTTP/1.1",
        ),
        ("user=a&password=swordfish&x=y", "user=a&password=«password»&x=y"),
        (
            "http://u:p@localhost:8080/",
            "http://u:«url-password»@localhost:8080/",
        ),
        ("https://user:pa:ss@h/", "https://user:«url-password»@h/"),
        ("ftp://u:p@h", "ftp://u:«url-password»@h"),
        (
            "amqp://guest:guest@localhost:5672",
            "amqp://guest:«url-password»@localhost:5672",
        ),
        (
            "smtp://a%40b.c:pw@mail:587",
            "smtp://a%40b.c:«url-password»@mail:587",
        ),
        (
            "jdbc:mysql://u:p@h/d?x=1",
            "jdbc:mysql://u:«url-password»@h/d?x=1",
        ),
        (
            "jdbc:postgresql://h/d?user=u&password=p",
            "jdbc:postgresql://h/d?user=u&password=«password»",
        ),
        (
            "git clone https://oauth2:abc@gitlab.com/x.git",
            "git clone https://oauth2:«url-password»@gitlab.com/x.git",
        ),
        (
            r#""url": "https://u:p@h""#,
            r#""url": "https://u:«url-password»@h""#,
        ),
        (
            "'postgresql+psycopg2://u:p@h/db'",
            "'postgresql+psycopg2://u:«url-password»@h/db'",
        ),
        ("x-api-key: abc", "x-api-key: «api-key»"),
        ("x-auth-token: abc", "x-auth-token: «token»"),
        ("X-Vault-Token: abcd", "X-Vault-Token: «token»"),
        ("PRIVATE-TOKEN: abcdefgh", "PRIVATE-TOKEN: «token»"),
        (
            r#"curl -H "PRIVATE-TOKEN: abcd" x"#,
            r#"curl -H "PRIVATE-TOKEN: «token»" x"#,
        ),
        (
            "curl --header 'X-API-KEY: abcd' x",
            "curl --header 'X-API-KEY: «api-key»' x",
        ),
        ("-H 'api-key:abcd'", "-H 'api-key:«api-key»'"),
        (
            r#""X-Amz-Security-Token": "abc""#,
            r#""X-Amz-Security-Token": "«token»""#,
        ),
        (
            "Authorization: abcdef1234567890",
            "Authorization: «authorization»",
        ),
        (
            "authorization:Bearer abcdef",
            "authorization:Bearer «bearer-token»",
        ),
        (
            r#""authorization" => "Bearer abc""#,
            r#""authorization" => "Bearer «bearer-token»""#,
        ),
        (
            r#"headers = {"Authorization": "Token abc"}"#,
            r#"headers = {"Authorization": "Token «token»"}"#,
        ),
        (
            r#"Authorization: "Bearer abc123""#,
            r#"Authorization: "Bearer «bearer-token»""#,
        ),
        (
            "Authorization: `Bearer abc123`",
            "Authorization: `Bearer «bearer-token»`",
        ),
        (
            "AUTHORIZATION=Bearer abcdef123",
            "AUTHORIZATION=Bearer «bearer-token»",
        ),
        (
            "HTTP_AUTHORIZATION=Bearer abc",
            "HTTP_AUTHORIZATION=Bearer «bearer-token»",
        ),
        ("bearer: abc123def456", "bearer: «bearer-token»"),
        (r#"{"password":"hunter2"#, r#"{"password":"«password»"#),
        (r#"password="hunter2"#, r#"password="«password»"#),
        (
            r#"{"key":"SECRET_TOKEN","value":"abc"}"#,
            r#"{"key":"SECRET_TOKEN","value":"«token»"}"#,
        ),
        (
            r#"{"Name":"DbPassword","Value":"abc"}"#,
            r#"{"Name":"DbPassword","Value":"«password»"}"#,
        ),
        (
            r#"[{"name": "TOKEN", "value": "abc"}]"#,
            r#"[{"name": "TOKEN", "value": "«token»"}]"#,
        ),
        ("<Password>x</Password>", "<Password>«password»</Password>"),
        (
            r#"<property name="password" value="abc"/>"#,
            r#"<property name="password" value="«password»"/>"#,
        ),
        (
            r#"password="abc" username='d'"#,
            r#"password="«password»" username='d'"#,
        ),
        ("db_pass: hunter2", "db_pass: «password»"),
        (r#"dbPass = "hunter2""#, r#"dbPass = "«password»""#),
        ("mysql -uroot -p'my pass' x", "mysql -uroot -p'«password»' x"),
        (
            "mysqldump --password=abc db",
            "mysqldump --password=«password» db",
        ),
        (
            r#"psql "host=x password=abc""#,
            r#"psql "host=x password=«password»""#,
        ),
        (r#"ssh_password: "abc""#, r#"ssh_password: "«password»""#),
        ("$password = 'abc';", "$password = '«password»';"),
        (r#"var password = "abc""#, r#"var password = "«password»""#),
        (
            r#"let password: String = "abc".into();"#,
            r#"let password: String = "«password»".into();"#,
        ),
        (r#".env("API_KEY", "abc")"#, r#".env("API_KEY", "«api-key»")"#),
        (
            r#"os.environ.setdefault("SECRET_KEY", "abc")"#,
            r#"os.environ.setdefault("SECRET_KEY", "«access-key»")"#,
        ),
        (
            r#"process.env.API_KEY = "abc""#,
            r#"process.env.API_KEY = "«api-key»""#,
        ),
        (
            "API_KEY = 'abc' if x else 'def'",
            "API_KEY = '«api-key»' if x else 'def'",
        ),
        (
            r#"password: "a", token: "abcdef1""#,
            r#"password: "«password»", token: "«token»""#,
        ),
        ("PASSWORD=abc,def;ghi", "PASSWORD=«password»"),
        ("PASSWORD=p@ss#word!", "PASSWORD=«password»"),
        ("PASSWORD=p$ss", "PASSWORD=«password»"),
        ("PASSWORD=$2b$12$abcdefghijk", "PASSWORD=«password»"),
        ("PASSWORD=<abc>x", "PASSWORD=«password»"),
        ("PASSWORD=%abc", "PASSWORD=«password»"),
        ("PASSWORD={abc", "PASSWORD=«password»"),
        (r"PASSWORD=abc\def", "PASSWORD=«password»"),
        ("SECRET=null1", "SECRET=«secret»"),
        ("TOKEN=12345678901", "TOKEN=«token»"),
        ("token: abc123def456ghi", "token: «token»"),
        ("secret key: abc123def456", "secret key: «access-key»"),
        (
            "AWS Secret Access Key [None]: wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "AWS Secret Access Key [None]: «access-key»",
        ),
        (
            r#"AWS_SECRET_ACCESS_KEY="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY""#,
            r#"AWS_SECRET_ACCESS_KEY="«access-key»""#,
        ),
        (
            r#""SecretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY","#,
            r#""SecretAccessKey": "«access-key»","#,
        ),
        (
            r#""SessionToken": "IQoJb3JpZ2luX2VjEabc==","#,
            r#""SessionToken": "«token»","#,
        ),
        (
            "fatal: could not read Password for 'https://u:p@h'",
            "fatal: could not read Password for 'https://u:«url-password»@h'",
        ),
    ]);
}

/// Where nothing but the reader's mind tells the secret from a word.
#[test]
fn known_limits() {
    untouched(&[
        "| password | hunter2 |",
        "password - hunter2",
        "my password is hunter2",
        "passwd hunter2",
        r#".with_password("hunter2")"#,
        "set_password('hunter2')",
        r#"login("user", "hunter2")"#,
        r#"password ?? "hunter2""#,
        "apikey%3Dabcdef",
        "PASSWORD=$ecret1",
        "token abc123def456ghi",
        "error: invalid password 'hunter2' for user",
    ]);
}
