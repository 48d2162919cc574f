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
    let sources = files::read_sources();
    let graph = graph::ImportGraph::new(&sources);
    graph::no_import_cycles_between_siblings(&graph);
    deadlines::no_test_waits_without_deadline(&sources);
    durations::verdict_sentences_hold_no_duration(&sources);
    threads::no_thread_is_spawned_with_panicking_functions(&sources);
    exports::exports_are_used_by_another_crate(&sources);
    names::no_item_has_a_forbidden_name(&sources);
}
