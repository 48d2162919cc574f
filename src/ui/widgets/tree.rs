//! The branches of a tree whose nodes are given from top to bottom, each with its depth.

/// The text before a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Before its first line: `│  └─ `.
    pub first: String,
    /// Before further lines of it.
    pub under: String,
}

/// Deeper than this branches are not drawn: no screen has room for them.
const DEEPEST: usize = 20;

/// The branches of nodes with these depths. A node is the child of the last one before it that lies less deep.
pub fn branches(depths: &[usize]) -> Vec<Branch> {
    (0..depths.len()).map(|at| branch(depths, at)).collect()
}

fn branch(depths: &[usize], at: usize) -> Branch {
    let depth = depths.get(at).copied().unwrap_or_default().min(DEEPEST);
    let after = depths.get(at.saturating_add(1)..).unwrap_or_default();
    // Whether another node of this level follows beneath the same parent.
    let goes_on = |level: usize| after.iter().find(|depth| **depth <= level) == Some(&level);
    let stem: String = (1..depth).map(|level| if goes_on(level) { "│  " } else { "   " }).collect();
    let (arm, more) = match (depth, goes_on(depth)) {
        (0, _) => ("", ""),
        (_, true) => ("├─ ", "│  "),
        (_, false) => ("└─ ", "   "),
    };
    let has_kids = after.first().is_some_and(|next| *next > depth);
    let kids = if has_kids { "│  " } else { "   " };
    Branch { first: format!("{stem}{arm}"), under: format!("{stem}{more}{kids}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_join_brothers_and_end_with_the_last() {
        let drawn: Vec<String> = branches(&[0, 1, 2, 3, 2, 1])
            .into_iter()
            .flat_map(|branch| [format!("{}x", branch.first), branch.under.trim_end().to_owned()])
            .collect();
        assert_eq!(
            drawn,
            [
                "x",
                "│",
                "├─ x",
                "│  │",
                "│  ├─ x",
                "│  │  │",
                "│  │  └─ x",
                "│  │",
                "│  └─ x",
                "│",
                "└─ x",
                "",
            ]
        );
    }
}
