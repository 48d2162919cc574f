//! One value per key: between two includes only the last setting of a key can count, so earlier ones are counted and
//! dropped. A key written a million times makes the answer no longer.

use std::collections::BTreeMap;

use crate::host::{ConfigDirective, Miss, MissKind};

/// The largest number of settings kept per file; no server has so many that count.
const MOST: usize = 2048;

/// Each key once between two includes, with its last value, in the order of the lines; `is_include` tells includes from
/// settings.
pub fn each(
    settings: Vec<ConfigDirective>,
    is_include: impl Fn(&[u8]) -> bool,
) -> Result<Vec<ConfigDirective>, Miss> {
    let mut kept: Vec<ConfigDirective> = Vec::new();
    let mut after: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    // From the end, so that each stands where it stood last: two keys can be one setting (`loose_` of MySQL).
    for setting in settings.into_iter().rev() {
        if is_include(&setting.key) {
            after.clear();
        } else if let Some(last) = after.get(&setting.key).and_then(|at| kept.get_mut(*at)) {
            last.times += 1;
            continue;
        } else {
            after.insert(setting.key.clone(), kept.len());
        }
        if kept.len() >= MOST {
            let says = format!("holds more than {MOST} settings and includes, which walwise does not read");
            return Err(Miss::new(MissKind::Failed, says));
        }
        kept.push(setting);
    }
    kept.reverse();
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(keys: &[&str]) -> Result<Vec<(u32, String, u32)>, Miss> {
        let settings = (1..).zip(keys).map(|(line, key)| ConfigDirective::new(line, *key, "x")).collect();
        let kept = each(settings, |key| key == b"include")?;
        Ok(kept.into_iter().map(|s| (s.line, String::from_utf8(s.key).unwrap(), s.times)).collect())
    }

    #[test]
    fn an_include_parts_what_stands_before_from_what_follows() {
        let row = |line, key: &str, times| (line, key.to_owned(), times);
        assert_eq!(
            told(&["a", "b", "a", "include", "a", "a"]).unwrap(),
            [row(2, "b", 1), row(3, "a", 2), row(4, "include", 1), row(6, "a", 2)]
        );
    }

    #[test]
    fn a_bomb_is_small_or_refused() {
        assert_eq!(told(&vec!["fsync"; 100_000]).unwrap(), [(100_000, "fsync".to_owned(), 100_000)]);
        assert!(told(&vec!["include"; 100_000]).is_err());
    }

    proptest! {
        /// Whoever reads them in order comes to the same values after every include.
        #[test]
        fn nothing_that_counts_is_lost(keys in prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "include"]), 0..40)) {
            let all: Vec<ConfigDirective> = (1..).zip(&keys).map(|(line, key)| ConfigDirective::new(line, *key, line.to_string())).collect();
            let values = |settings: &[ConfigDirective]| {
                let (mut now, mut at_include) = (BTreeMap::new(), Vec::new());
                for setting in settings {
                    if setting.key == b"include" {
                        at_include.push(now.clone());
                    }
                    now.insert(setting.key.clone(), setting.value.clone());
                }
                (now, at_include)
            };
            let kept = each(all.clone(), |key| key == b"include").unwrap();
            prop_assert_eq!(values(&kept), values(&all));
            let times: u32 = kept.iter().map(|setting| setting.times).sum();
            prop_assert_eq!(times as usize, keys.len());
        }
    }
}
