//! Did you mean: the known word nearest to a misspelt one.

/// Letters of a word beyond which none are compared.
const MOST_LETTERS: usize = 64;

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
/// alignment), of the first letters of both.
pub fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(beginning(a), beginning(b))
}

/// As much of a word as is compared: a stranger's may be as long as he likes.
fn beginning(word: &str) -> &str {
    word.char_indices().nth(MOST_LETTERS).and_then(|(end, _)| word.get(..end)).unwrap_or(word)
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
