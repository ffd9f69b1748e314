#![no_main]

use bookend::hosts::Host;
use bookend_fuzz::{decoder, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::payload(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| decoder::run(Host::ClaudeCode, data));
