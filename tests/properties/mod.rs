//! What must hold for any sequence of events, any cut and any damage of the files: generated, not chosen.

mod ids;
mod model;
mod secrets;
mod stores;
mod story;
mod turns;
mod words;

use proptest::test_runner::Config;

/// So many cases, or as many as `PROPTEST_CASES` says.
fn cases(usual: u32) -> Config {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    if asked {
        config
    } else {
        Config {
            cases: usual,
            ..config
        }
    }
}
