//! Checks rules about the source of walwise, parsed with syn.

#![cfg(test)]

mod deadlines;
mod durations;
mod exports;
mod files;
mod graph;
mod names;
mod size;
mod threads;

/// A single test, so that the source is parsed only once.
#[test]
fn the_source_keeps_its_rules() {
    let sources = files::read();
    let graph = graph::Graph::new(&sources);
    graph::no_siblings_import_in_a_circle(&graph);
    deadlines::no_test_waits_without_one(&sources);
    durations::no_sentence_of_the_verdict_holds_one(&sources);
    threads::none_is_started_that_can_panic(&sources);
    exports::each_is_used_by_another_crate(&sources);
    names::none_is_a_listed_word(&sources);
}
