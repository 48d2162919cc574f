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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Choice;
    use crate::facts::catalog::controller::BatteryCondition;
    use crate::facts::catalog::mount::MountClass;

    #[test]
    fn compiled_tables_have_only_complete_rows_with_known_words() {
        check_rows::<1>(include_str!("system/boot/crypttab_options.txt"));
        check_rows::<1>(include_str!("system/boot/per_mount_options.txt"));
        check_rows::<2>(include_str!("system/hypervisors.txt"));
        let types = include_str!("filesystems/types.txt");
        check_rows::<4>(types);
        for [fstype, class, flushes, named] in rows(types) {
            assert!(
                class.is_empty() || MountClass::from_word(class).is_some(),
                "{fstype}"
            );
            assert!(
                ["", "flushes"].contains(&flushes) && ["", "named"].contains(&named),
                "{fstype}"
            );
        }
        let flags = include_str!("storage/controller/battery_flags.txt");
        check_rows::<4>(flags);
        // A missing flag could make a battery count as healthy.
        assert_eq!(rows::<4>(flags).count(), 11);
        let newer = rows::<4>(flags).filter(|[.., age]| *age == "newer");
        assert_eq!(newer.count(), 3);
        for [flag, harmless, state, age] in rows(flags) {
            assert!(
                ["ok", "no"].contains(&harmless) && ["", "newer"].contains(&age),
                "{flag}"
            );
            let state = BatteryCondition::from_word(state).unwrap();
            assert_ne!(state, BatteryCondition::Healthy, "{flag}");
        }
        let states = include_str!("storage/controller/battery_states.txt");
        check_rows::<3>(states);
        for [extent, word, state] in rows(states) {
            assert!(["exactly", "begins"].contains(&extent), "{word}");
            let state = BatteryCondition::from_word(state).unwrap();
            assert_ne!(state, BatteryCondition::Healthy, "{word}");
        }
    }

    #[test]
    fn comments_and_incomplete_rows_are_left_out() {
        let table = "# a | b\nc | d\ne\nf | g | h\n | i\n";
        assert!(rows::<2>(table).eq([["c", "d"], ["", "i"]]));
    }
}
