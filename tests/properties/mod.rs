//! What must hold for any sequence of events, any cut and any damage of the files: generated, not chosen.

mod ids;
mod model;
mod secrets;
mod stores;
mod story;
mod turns;
mod words;

use proptest::test_runner::{Config, RngSeed};

/// So many cases, always the same ones: whether a change passes is no matter of luck. With `PROPTEST_CASES` that
/// many, and other ones at each run.
pub(crate) fn cases(usual: u32) -> Config {
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
            rng_seed: RngSeed::Fixed(0xB00C),
            ..config
        }
    }
}
