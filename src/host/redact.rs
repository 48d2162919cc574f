//! What may leave a configuration file, a command line or an environment.

use super::Dialect;

/// The allow-listed settings of a configuration file, encoded.
pub fn config(_text: &[u8], _dialect: Dialect) -> Vec<u8> {
    Vec::new()
}
