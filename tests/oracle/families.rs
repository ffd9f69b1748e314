//! Which of the oracle's rules are about a family that `src/redact` names.

/// Our family, and how the oracle's rules for it begin.
#[rustfmt::skip]
const NAMED: &[(&str, &[&str])] = &[
    ("1Password", &["1password"]), ("Adobe", &["adobe-client-secret"]), ("age", &["age-"]),
    ("Alibaba", &["alibaba"]), ("Anthropic", &["anthropic"]), ("Artifactory", &["artifactory-api"]),
    ("Atlassian", &["atlassian"]), ("AWS", &["aws"]), ("Azure", &["azure"]), ("Brave", &["brave"]),
    ("Cerebras", &["cerebras"]), ("Clojars", &["clojars"]), ("Cloudflare", &["cloudflare"]),
    ("Contentful", &["contentful"]), ("Databricks", &["databricks"]),
    ("DigitalOcean", &["digitalocean"]), ("Discord", &["discord"]), ("Docker", &["docker"]),
    ("Doppler", &["doppler"]), ("Duffel", &["duffel"]), ("Dynatrace", &["dynatrace"]),
    ("EasyPost", &["easypost"]), ("Figma", &["figma"]), ("Flutterwave", &["flutterwave-secret"]),
    ("Fly", &["flyio"]), ("GitHub", &["github"]), ("GitLab", &["gitlab"]), ("Google", &["gcp"]),
    ("Grafana", &["grafana"]), ("Groq", &["groq"]), ("Heroku", &["heroku"]), ("HubSpot", &["hubspot"]),
    ("HuggingFace", &["huggingface"]), ("Infracost", &["infracost"]), ("LangSmith", &["langchain"]),
    ("Linear", &["linear"]), ("Mailchimp", &["mailchimp"]), ("Mailgun", &["mailgun"]),
    ("Netlify", &["netlify"]), ("New Relic", &["new-relic"]), ("Notion", &["notion"]), ("npm", &["npm"]),
    ("NVIDIA", &["nvidia"]), ("OpenAI", &["openai"]), ("OpenRouter", &["openrouter"]),
    ("Perplexity", &["perplexity"]), ("PlanetScale", &["planetscale"]), ("Postman", &["postman"]),
    ("Prefect", &["prefect"]), ("Pulumi", &["pulumi"]), ("PyPI", &["pypi"]), ("ReadMe", &["readme"]),
    ("Replicate", &["replicate"]), ("Resend", &["resend"]), ("RubyGems", &["rubygems"]),
    ("Scalingo", &["scalingo"]), ("SendGrid", &["sendgrid"]), ("Sendinblue", &["sendinblue"]),
    ("Sentry", &["sentry"]), ("Shippo", &["shippo"]), ("Shopify", &["shopify"]), ("Slack", &["slack"]),
    ("Sourcegraph", &["sourcegraph"]), ("Square", &["square-"]), ("Stripe", &["stripe"]),
    ("Supabase", &["supabase"]), ("Tailscale", &["tailscale"]), ("Telegram", &["telegram"]),
    ("Terraform, Vault", &["hashicorp", "vault"]), ("Together", &["together"]), ("Twilio", &["twilio"]),
    ("Typeform", &["typeform"]), ("Vercel", &["vercel"]), ("xAI", &["xai", "grokxai"]),
];

/// A secret by the name in front of it only, or by its own form, of a vendor that `src/redact` does not name.
pub const OTHERS: [&str; 2] = ["(other vendors, by name)", "(other vendors, by form)"];

/// The rule's name without its publisher's.
pub fn short(rule: &str) -> &str {
    rule.split_once(['.', '/']).map_or(rule, |(_, name)| name)
}

/// The family of a rule; the others are told by whether their pattern needs a name in front.
pub fn family_of(rule: &str, pattern: &str) -> &'static str {
    let name = short(rule);
    let named = NAMED
        .iter()
        .find(|(_, begins)| begins.iter().any(|begin| name.starts_with(begin)));
    let needs_name = pattern.contains("(?:=|>|") || pattern.contains(r"{0,32}?") || pattern.contains("[=:]");
    named.map_or(OTHERS[usize::from(!needs_name)], |(family, _)| family)
}

/// The vendor, as it is written in the name of a variable.
pub fn vendor(rule: &str) -> &str {
    let name = short(rule);
    // As the oracle's own pattern shortens it.
    name.split_once('-').map_or(name, |(vendor, _)| vendor)
}
