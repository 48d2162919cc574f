//! Which line a position in a text is in, so that whoever wrote the text finds it.

/// Where the lines of a text end.
#[derive(Debug, Default)]
pub struct Lines(Vec<usize>);

impl Lines {
    pub fn new(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line of a position in bytes, counted from one.
    pub fn line(&self, at: usize) -> usize {
        1 + self.0.partition_point(|end| *end < at)
    }
}

/// The same for one position.
pub fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_are_counted_alike(text in "[a\n]{0,20}", at in 0usize..24) {
            prop_assert_eq!(Lines::new(&text).line(at), line_of(&text, at));
        }
    }
}
