//! Reads facts of `/proc` and `/sys` again while the screens are open. Servers, tools and files are
//! read again only by a rescan.

use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::{InteractiveWorker, LoadedHost};
use crate::collect::Request;
use crate::facts::FactSet;
use crate::host::Question;
use crate::report::difference::ReportSnapshot;
use crate::report::view::{Section, baseline, findings};
use crate::session::Session;
use crate::tui::{ChangedFacts, HostChange};

const INTERVAL: Duration = Duration::from_secs(5);
/// Pause between two readings, as a multiple of the duration of the last one, so that the watch
/// takes about 1 % of a core. [`LONGEST_WAIT`] limits the pause.
const WAIT_PER_READING: u32 = 100;
const LONGEST_WAIT: Duration = Duration::from_secs(20);

pub(super) struct LiveRefreshState {
    read_at: String,
    /// Facts of the last rescan; `None` while no fact differs from them.
    first: Option<FactSet>,
    wait: Duration,
}

impl LiveRefreshState {
    pub(super) fn new(read_at: String) -> Self {
        Self {
            read_at,
            first: None,
            wait: INTERVAL,
        }
    }
}

impl InteractiveWorker {
    pub(super) fn poll_for_host_change(&self) -> Result<HostChange, String> {
        loop {
            let wait = self.with_loaded_host(|loaded| Ok(loaded.watch.wait))?;
            thread::sleep(wait);
            let moved = self.with_loaded_host(|loaded| {
                let begun = Instant::now();
                let moved = loaded.reread_host_and_diff_facts(&self.request);
                let wait = begun.elapsed() * WAIT_PER_READING;
                loaded.watch.wait = wait.clamp(INTERVAL, LONGEST_WAIT);
                Ok(moved)
            })?;
            if let Some(moved) = moved {
                return Ok(moved);
            }
        }
    }
}

impl LoadedHost {
    /// The differences from the last rescan; `None` if no answer has changed since the last call.
    fn reread_host_and_diff_facts(&mut self, request: &Request) -> Option<HostChange> {
        if !self.machine.refresh_matching_answers(is_question_reread) {
            return None;
        }
        let rules = Arc::clone(&self.session.rules);
        let session = Session::collect_from_host(&self.machine, request, rules, &mut |_, _| {});
        let before = mem::replace(&mut self.session, session);
        self.session.options.clone_from(&before.options);
        self.session.named_target.clone_from(&before.named_target);
        let was_moved = self.watch.first.is_some();
        let mut first = self
            .watch
            .first
            .take()
            .unwrap_or_else(|| before.facts.clone());
        self.session.carry_over_choices_and_measurements(before);
        let mut report = self.session.build_report();
        // Both reports have the present measurements, so that a probe does not count as a change.
        mem::swap(&mut self.session.facts, &mut first);
        let report_then = self.session.build_report();
        mem::swap(&mut self.session.facts, &mut first);
        let then = ReportSnapshot::from_report(&report_then);
        let mut difference = self.session.difference_with_explanations(&then, &report);
        // Only subjects of targets count, because containers mount and unmount file systems all the
        // time.
        difference.retain_changes_of_subjects(|subject| {
            let mut targets = report_then.targets.iter().chain(&report.targets);
            targets.any(|target| target.subjects.contains(subject))
        });
        let is_moved = difference.has_changes_besides_drift();
        self.watch.first = is_moved.then_some(first);
        if !is_moved {
            return was_moved.then(|| HostChange {
                report,
                changed: ChangedFacts::default(),
            });
        }
        let lasting = difference.facts.iter().filter(|change| change.is_lasting());
        let facts = lasting.map(|change| (change.subject.clone(), change.fact));
        let facts = facts.collect();
        let sentences = baseline::subject_and_fact_change_sentences(&difference);
        report.baseline = Some(difference);
        let mut sections = baseline::baseline_sections(&report);
        report.baseline = None;
        findings::add_fixes_to_bullets(&report, &mut sections);
        if let Some(top) = sections.first_mut() {
            top.heading = format!(
                "Changes since all facts were last read, at {}",
                self.watch.read_at
            )
            .into();
        }
        for bullet in sections.iter_mut().flat_map(Section::bullets_mut) {
            bullet.item.key.insert_str(0, "moved ");
        }
        let changed = ChangedFacts {
            facts,
            sentences,
            sections,
        };
        Some(HostChange { report, changed })
    }
}

/// Whether the question is about mounts, write caches or the state of software RAID.
fn is_question_reread(question: &Question) -> bool {
    let Question::Read(path) = question else {
        return false;
    };
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("");
    if path.starts_with("/sys") {
        let parent = path.parent().and_then(Path::file_name);
        matches!(name, "write_cache" | "cache_type") || parent.is_some_and(|parent| parent == "md")
    } else {
        path.starts_with("/proc") && matches!(name, "mountinfo" | "mdstat")
    }
}
