//! Sizes and times as PostgreSQL writes them (guc.c): a whole number with the largest unit that leaves one.

/// A size: `16GB`, `96MB`, `80kB`, and `512` where nothing larger divides it.
pub fn postgres_size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")];
    let fits = |unit: &u64| bytes > 0 && bytes.is_multiple_of(*unit);
    match UNITS.iter().find(|(unit, _)| fits(unit)) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => bytes.to_string(),
    }
}

/// A size as an option file of MySQL has it: `4G`, `100M`, `80K`, and `512` where nothing larger divides it.
pub fn mysql_size(bytes: u64) -> String {
    let size = postgres_size(bytes);
    size.strip_suffix('B').map_or(size.clone(), str::to_uppercase)
}

/// A time: `5min`, `90s`, `1d`.
pub fn postgres_time(micros: f64) -> String {
    const UNITS: [(f64, &str); 5] = [(86_400e6, "d"), (3600e6, "h"), (60e6, "min"), (1e6, "s"), (1e3, "ms")];
    let fits = |unit: f64| micros >= unit && (micros / unit).fract() == 0.0;
    match UNITS.iter().find(|(unit, _)| fits(*unit)) {
        Some((unit, name)) => format!("{}{name}", micros / unit),
        None => format!("{micros}us"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_the_largest_unit() {
        let sizes = [1 << 40, 16 << 30, 1536 << 20, 80 << 10, 512, 0].map(postgres_size);
        assert_eq!(sizes, ["1TB", "16GB", "1536MB", "80kB", "512", "0"]);
        let times = [86_400e6, 5400e6, 300e6, 90e6, 250e3, 7.0].map(postgres_time);
        assert_eq!(times, ["1d", "90min", "5min", "90s", "250ms", "7us"]);
    }
}
