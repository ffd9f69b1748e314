//! Fingerprints, for telling things apart in a process that lives for a fraction of a millisecond; not for
//! safety: what must not be made to collide is hashed with SHA-256.

/// FNV-1a, 64 bit: a fingerprint, for telling events apart, not for safety.
#[must_use]
pub fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3)
    })
}
