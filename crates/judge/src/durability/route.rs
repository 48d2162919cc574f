//! All paths from a target to its disks: through partitions, arrays, mappings, and the file system
//! of a loop file.
//!
//! If a stack has too many paths, they are merged into one path. Each of its layers then counts for
//! each of its disks.

use crate::facts::{FactSet, Subject};
use crate::limits::{HOPS, ROUTES};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    pub hops: Vec<Subject>,
    /// The last hop of the path. A merged path has several: the last hops of the paths that were
    /// merged.
    pub ends: Vec<Subject>,
    /// The reason why the path does not end at a disk, such as a cycle; `None` for a complete path.
    pub broken: Option<String>,
}

/// All paths from the target to its disks. The flag is true if they were merged into one path.
pub fn find_routes(facts: &FactSet, target: &Subject) -> (Vec<Route>, bool) {
    let mut done: Vec<Route> = Vec::new();
    let mut open = vec![vec![target.clone()]];
    while let Some(hops) = open.pop() {
        if done.len() > ROUTES {
            return (vec![merged_route(facts, target, &done)], true);
        }
        let below = hops
            .last()
            .map_or(&[][..], |last| facts.directly_below(last));
        if below.is_empty() {
            done.push(finished_route(hops, None));
        } else if hops.len() >= HOPS {
            done.push(finished_route(
                hops,
                Some(format!("more than {HOPS} layers are stacked")),
            ));
        } else {
            for base in below.iter().rev() {
                if hops.contains(base) {
                    done.push(finished_route(
                        hops.clone(),
                        Some(format!("{base} is stacked on itself")),
                    ));
                } else {
                    open.push(hops.iter().chain([base]).cloned().collect());
                }
            }
        }
    }
    (done, false)
}

fn finished_route(hops: Vec<Subject>, broken: Option<String>) -> Route {
    let ends = hops.last().cloned().into_iter().collect();
    Route { hops, ends, broken }
}

fn merged_route(facts: &FactSet, target: &Subject, seen: &[Route]) -> Route {
    let stack = facts.layers_below(target);
    let ends = stack
        .iter()
        .filter(|hop| facts.directly_below(hop).is_empty())
        .cloned()
        .collect();
    let broken = seen.iter().find_map(|route| route.broken.clone());
    Route {
        hops: std::iter::once(target.clone()).chain(stack).collect(),
        ends,
        broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(layer: usize, index: usize) -> Subject {
        Subject::device(format!("d{layer}-{index}"))
    }

    #[test]
    fn every_way_through_a_diamond_is_found() {
        let (t, a, b, c) = (
            Subject::target("/t"),
            Subject::device("a"),
            Subject::device("b"),
            Subject::device("c"),
        );
        let mut facts = FactSet::default();
        for (top, base) in [(&t, &a), (&t, &b), (&a, &c), (&b, &c)] {
            facts.add_edge(top, base);
        }
        let (found, merged) = find_routes(&facts, &t);
        assert!(!merged);
        let hops: Vec<_> = found.iter().map(|route| route.hops.clone()).collect();
        assert_eq!(hops, [vec![t.clone(), a, c.clone()], vec![t, b, c]]);
    }

    #[test]
    fn a_cycle_is_a_broken_way() {
        let (t, a, b) = (
            Subject::target("/t"),
            Subject::device("a"),
            Subject::device("b"),
        );
        let mut facts = FactSet::default();
        for (top, base) in [(&t, &a), (&a, &b), (&b, &a)] {
            facts.add_edge(top, base);
        }
        let (found, _) = find_routes(&facts, &t);
        assert_eq!(found.len(), 1);
        assert!(found[0].broken.is_some());
    }

    #[test]
    fn too_many_ways_are_merged_and_none_is_lost() {
        let target = Subject::target("/t");
        let mut facts = FactSet::default();
        facts.add_edge(&target, &device(0, 0));
        for layer in 0..12 {
            for (top, base) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                facts.add_edge(&device(layer, top), &device(layer + 1, base));
            }
        }
        let (found, merged) = find_routes(&facts, &target);
        assert!(merged);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].ends, [device(12, 0), device(12, 1)]);
        assert_eq!(found[0].hops.len(), 1 + facts.layers_below(&target).len());
    }

    #[test]
    fn a_very_deep_stack_ends() {
        let mut facts = FactSet::default();
        let target = Subject::target("/t");
        facts.add_edge(&target, &device(0, 0));
        for layer in 0..100_000 {
            facts.add_edge(&device(layer, 0), &device(layer + 1, 0));
        }
        let (found, _) = find_routes(&facts, &target);
        assert!(found.iter().all(|route| route.broken.is_some()));
    }
}
