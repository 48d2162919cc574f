//! Tables in text files that are compiled into walwise. A row is a line of fields with ` | ` between
//! them; lines that begin with `#` are comments.

/// The rows of a table with `N` fields. A row with another number of fields is left out; each
/// table has a test that finds such rows.
pub fn rows<const N: usize>(table: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        fields.try_into().ok()
    })
}

/// Panics if a line of the table is neither a comment nor a row with `N` fields, or occurs twice.
#[cfg(test)]
pub fn check_rows<const N: usize>(table: &'static str) {
    let lines = table.lines().filter(|line| !line.starts_with('#')).count();
    let distinct: std::collections::BTreeSet<[&str; N]> = rows(table).collect();
    assert_eq!(distinct.len(), lines, "{table}");
}
