//! Where a secret can stand, and the secrets that no pattern of the oracle's gives by itself.
//!
//! `⟨⟩` is the secret, `⟨name⟩` and `⟨NAME⟩` its vendor's name.

/// Around any secret.
pub const PLACES: &[&str] = &[
    // Nothing names it.
    "⟨⟩",
    "The new one is ⟨⟩ and it works.",
    "- old\n- ⟨⟩\n- next",
    "use `⟨⟩` here",
    "She wrote: \"⟨⟩\"; that was all.",
    r#"{"role":"user","content":"first line\n⟨⟩\nlast line"}"#,
    "$ tool login ⟨⟩\nLogged in.",
    "https://api.corp.net/v1/items?id=⟨⟩",
    "2026-05-06T07:08:09Z ERROR refused '⟨⟩' (401)",
    // Something does.
    "⟨NAME⟩_API_KEY=⟨⟩",
    "PORT=80\nexport ⟨NAME⟩_TOKEN=\"⟨⟩\"\nDEBUG=1",
    r#"{"⟨name⟩_secret": "⟨⟩", "port": 80}"#,
    "{\"command\":\"⟨NAME⟩_SECRET='⟨⟩' make deploy\"}",
    r#"{"content":"{\"⟨name⟩_token\": \"⟨⟩\"}"}"#,
    "⟨name⟩_client:\n  ⟨name⟩_api_key: ⟨⟩\n  region: eu",
    "⟨name⟩_secret_key = '⟨⟩'\n",
    "const ⟨name⟩ApiKey = \"⟨⟩\";",
    "docker run -e ⟨NAME⟩_API_KEY=⟨⟩ image",
    "⟨name⟩-cli --token ⟨⟩ deploy --force",
    "curl -H \"Authorization: Bearer ⟨⟩\" https://api.corp.net/v1/items",
    "curl -X POST -H 'X-Api-Key: ⟨⟩' https://api.corp.net/v1/items",
    "GET /v1/items HTTP/1.1\r\nHost: api.corp.net\r\nAuthorization: Bearer ⟨⟩\r\n\r\n",
];

/// A family whose place is part of it: what it is called, a pattern of the secret, its places.
pub struct Made {
    pub family: &'static str,
    pub pattern: &'static str,
    pub places: &'static [&'static str],
}

pub const MADE: &[Made] = &[
    Made {
        family: "private key",
        pattern: "MII[A-Za-z0-9+/]{61}(\n[A-Za-z0-9+/]{64}){4,10}\n[A-Za-z0-9+/]{30}==",
        places: &[
            "-----BEGIN RSA PRIVATE KEY-----\n⟨⟩\n-----END RSA PRIVATE KEY-----\n",
            "key: |\n-----BEGIN PRIVATE KEY-----\n⟨⟩\n-----END PRIVATE KEY-----\nnext: 1",
            "cat <<EOF > id\n-----BEGIN OPENSSH PRIVATE KEY-----\n⟨⟩\n-----END OPENSSH PRIVATE KEY-----\nEOF\n",
            "{\"private_key\": \"-----BEGIN EC PRIVATE KEY-----\\n⟨\\n⟩\\n-----END EC PRIVATE KEY-----\\n\", \"a\": 1}",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n⟨⟩\n-----END PGP PRIVATE KEY BLOCK-----\n",
        ],
    },
    Made {
        family: "JSON web token",
        pattern: r"eyJ[a-zA-Z0-9]{17,30}\.eyJ[a-zA-Z0-9_-]{17,80}\.[a-zA-Z0-9_-]{30,43}",
        places: PLACES,
    },
    Made {
        family: "password in an address",
        pattern: "[A-Za-z0-9_.!~*-]{9,24}",
        places: &[
            "postgres://app:⟨⟩@db.corp.net:5432/shop",
            "DATABASE_URL=mysql://root:⟨⟩@10.1.2.3/shop",
            "see https://bot:⟨⟩@git.corp.net/a/b.git for it",
            "redis://:⟨⟩@cache.corp.net:6379/0",
            r#"{"url":"amqp://guest:⟨⟩@mq.corp.net:5672/vhost"}"#,
            "mongodb+srv://app:⟨⟩@cluster0.corp.net/test?retryWrites=true",
        ],
    },
    Made {
        family: "authorization header",
        pattern: "[A-Za-z0-9_.-]{16,64}",
        places: &[
            "curl -H \"Authorization: Bearer ⟨⟩\" https://api.corp.net/",
            "curl -H 'Authorization: Token ⟨⟩' https://api.corp.net/",
            "curl -H 'Authorization: ⟨⟩' https://api.corp.net/",
            "curl --header \"X-Api-Key: ⟨⟩\" https://api.corp.net/",
            "curl -H 'X-Auth-Token: ⟨⟩' https://api.corp.net/",
        ],
    },
    Made {
        family: "user and password of curl",
        pattern: "[A-Za-z0-9_.-]{9,30}",
        places: &[
            "curl -u bob:⟨⟩ https://api.corp.net/",
            "curl --user 'bob:⟨⟩' https://api.corp.net/",
            "curl -s -u \"bob:⟨⟩\" https://api.corp.net/ | jq .",
        ],
    },
    Made {
        family: "AWS secret key",
        pattern: "[A-Za-z0-9/+]{40}",
        places: &[
            "AWS_SECRET_ACCESS_KEY=⟨⟩",
            "[default]\naws_secret_access_key = ⟨⟩\nregion = eu-1",
            r#"{"SecretAccessKey": "⟨⟩", "Expiration": "x"}"#,
            "secret_key: \"⟨⟩\"",
            "{\"command\":\"export AWS_SECRET_ACCESS_KEY=⟨⟩\\nmake\"}",
        ],
    },
    Made {
        family: "Azure connection string",
        pattern: "[A-Za-z0-9+/]{86}==",
        places: &[
            "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=⟨⟩;EndpointSuffix=core.windows.net",
            "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=⟨⟩",
            "Endpoint=https://shop.azconfig.io;Id=abcd-l0-s0:xyz;Secret=⟨⟩",
            "azure_storage_account_key = \"⟨⟩\"",
        ],
    },
];

/// Rules whose group holds more than the secret; `MADE` stands for them.
pub const WHOLE_TEXTS: &[&str] = &[
    "azure-app-configuration",
    "azure-servicebus",
    "codecatalyst",
    "codecommit",
    "bitbucketcredentials",
    "curl-auth",
    "gcp-application-default",
    "gcp-service-account",
    "generic-credential-uri",
    "jwt",
    "kubernetes-secret",
    "mongodb-connection",
    "private-key",
];
