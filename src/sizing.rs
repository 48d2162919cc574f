//! Judges whether the log of a server is as large as what is written to it needs, and what another size would come to.
//!
//! The arithmetic is in [`wal`] for PostgreSQL and in [`redo`] for InnoDB, upon plain numbers; [`derive()`] takes these
//! from facts and makes facts of the results. A prediction is a range that says what it is based on. Whether a size is
//! advised is left to the rules.

mod forecast;
mod wal;
mod redo;
mod derive;

pub use derive::derive;

/// The smallest power of two that is at least this many bytes, and no less than a megabyte.
fn round_up(bytes: f64) -> u64 {
    let mut size = 1 << 20;
    while (size as f64) < bytes && size < 1 << 44 {
        size *= 2;
    }
    size
}

/// A rate in whole bytes.
fn bytes(figure: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate, whose ends are cut")]
    let whole = figure.round() as u64;
    whole
}
