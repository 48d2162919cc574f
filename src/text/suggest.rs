//! Did you mean: the known word nearest to a misspelt one.

/// `did you mean …?` for a word near enough, otherwise the list of known words.
pub fn or_list<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    did_you_mean(word, known.iter().copied()).or_else(|| Some(format!("one of: {}", known.join(", "))))
}

/// `did you mean …?` for a word near enough.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let near = known.into_iter().map(|one| (distance(word, one), one)).min_by_key(|near| near.0)?;
    let enough = (word.chars().count().max(near.1.chars().count()) / 3).max(1);
    (near.0 <= enough).then(|| format!("did you mean `{}`?", near.1))
}

/// The number of letters that must be changed, added, removed or swapped with their neighbour (optimal string
/// alignment).
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    let at = |rows: &[Vec<usize>], i: usize, j: usize| {
        rows.get(i).and_then(|row| row.get(j)).copied().unwrap_or(usize::MAX / 2)
    };
    for (i, x) in a.iter().enumerate() {
        rows.push(vec![i + 1]);
        for (j, y) in b.iter().enumerate() {
            let mut best = (at(&rows, i, j) + usize::from(x != y))
                .min(at(&rows, i, j + 1) + 1)
                .min(at(&rows, i + 1, j) + 1);
            let before = |word: &[char], k: usize| k.checked_sub(1).and_then(|k| word.get(k).copied());
            if i > 0 && j > 0 && before(&a, i) == Some(*y) && before(&b, j) == Some(*x) {
                best = best.min(at(&rows, i - 1, j - 1) + 1);
            }
            if let Some(row) = rows.last_mut() {
                row.push(best);
            }
        }
    }
    at(&rows, a.len(), b.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn distance_is_a_distance(a in "[abc]{0,6}", b in "[abc]{0,6}") {
            prop_assert_eq!(distance(&a, &b), distance(&b, &a));
            prop_assert_eq!(distance(&a, &b) == 0, a == b);
            prop_assert!(distance(&a, &b) <= a.len().max(b.len()));
        }
    }

    #[test]
    fn near_words_are_meant_and_far_ones_are_not() {
        let known = ["kernel.version", "kernel.vendor", "mount.point"];
        assert_eq!(did_you_mean("kernel.verson", known).as_deref(), Some("did you mean `kernel.version`?"));
        assert_eq!(did_you_mean("iz", ["is", "in"]).as_deref(), Some("did you mean `is`?"));
        assert_eq!(did_you_mean("colour", known), None);
    }
}
