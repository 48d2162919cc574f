//! Rooms inside rooms: in every directory of the source the modules stand from the bottom up, as in `src/lib.rs`, and
//! each knows only those above it. What is below a module counts as the module itself.

use std::collections::BTreeMap;

use crate::graph::{Graph, Room, circles};

fn name(room: &Room) -> String {
    room.parent.join("/")
}

pub fn no_siblings_import_in_a_circle(graph: &Graph) {
    let mut wrong = Vec::new();
    for room in &graph.rooms() {
        for circle in circles(room) {
            let inside = room.edges.iter().filter(|((a, b), _)| circle.contains(a) && circle.contains(b));
            let edges: Vec<String> =
                inside.map(|((from, to), whence)| format!("  {from} → {to} at {whence}")).collect();
            wrong.push(format!("{}: {circle:?}\n{}", name(room), edges.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

pub fn a_module_knows_only_those_above_it(graph: &Graph) {
    let rooms = graph.rooms();
    assert!(rooms.len() > 40, "only {} rooms were found", rooms.len());
    let edges: usize = rooms.iter().map(|room| room.edges.len()).sum();
    assert!(edges > 600, "only {edges} imports between siblings were found");
    let mut wrong = Vec::new();
    for room in &rooms {
        let places: BTreeMap<&str, usize> =
            (0..).zip(room.siblings).map(|(at, one)| (one.as_str(), at)).collect();
        let against: Vec<String> = room
            .edges
            .iter()
            .filter(|((from, to), _)| places[from] < places[to])
            .map(|((from, to), whence)| format!("  {from} → {to} at {whence}"))
            .collect();
        if !against.is_empty() {
            wrong.push(format!("{}: {}\n{}", name(room), in_order(room).join(", "), against.join("\n")));
        }
    }
    assert!(
        wrong.is_empty(),
        "the order that would hold, and what is against the present one:\n{}",
        wrong.join("\n")
    );
}

/// The siblings from the bottom up, otherwise as they stand. Those in a circle come last.
fn in_order<'a>(room: &Room<'a>) -> Vec<&'a str> {
    let mut left: Vec<&str> = room.siblings.iter().map(String::as_str).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let waits = |one: &str| room.edges.keys().any(|(from, to)| *from == one && left.contains(to));
        let next = left.iter().position(|one| !waits(one)).unwrap_or(0);
        order.push(left.remove(next));
    }
    order
}
