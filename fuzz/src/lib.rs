//! What the fuzz targets share: the promises that must hold for any bytes, and mutations that keep JSON whole.

pub mod decoder;
pub mod mutate;

/// The lines that a cut leaves whole.
#[must_use]
pub fn whole(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    &bytes[..end]
}
