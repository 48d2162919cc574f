//! Words to which values of settings are compared, and the normalisation of numbers in values.

/// Normalises a whole number, alone or after `=`: `00`, `+0` and `0x0` become `0`.
pub fn normalise_value_number(value: &str) -> String {
    let (before, number) = match value.split_once('=') {
        Some((key, number)) => (format!("{key}="), number),
        None => (String::new(), value),
    };
    let unsigned = number.strip_prefix('+').unwrap_or(number);
    let hex = unsigned
        .strip_prefix("0x")
        .or_else(|| unsigned.strip_prefix("0X"));
    let read = match hex {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => unsigned.parse().ok(),
    };
    read.map_or_else(|| value.to_owned(), |number| format!("{before}{number}"))
}

pub const OFF: &[&str] = &["off", "false", "no", "0"];
pub const ON: &[&str] = &["on", "true", "yes", "1"];
