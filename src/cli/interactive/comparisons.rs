//! Comparisons for the screen Changes, computed like those of `check --baseline` and `upgrade`.

use std::path::Path;

use super::super::error::path_error_text;
use super::super::report_store::{self, ReportStore};
use super::super::{baseline, file_reader};
use super::{InteractiveWorker, LoadedHost, write_document};
use crate::report::difference::MAX_BYTES;
use crate::report::view::{baseline as baseline_view, findings, upgrade as upgrade_view};
use crate::report::{Upgrade, json, latency};
use crate::session::upgrade::{self, ComponentVersions};
use crate::session::{Session, assume};
use crate::text::{display_path, display_safe};
use crate::tui::{ComparisonReference, ReferenceChoice, ReferenceComparison, SaveOutcome};

impl InteractiveWorker {
    pub(super) fn reference_choices(
        &self,
        of: ComparisonReference,
    ) -> Result<Vec<ReferenceChoice>, String> {
        self.with_loaded_host(|LoadedHost { session, .. }| match of {
            ComparisonReference::SavedReport => self.saved_report_choices(session),
            ComparisonReference::Upgrade => {
                let choice = |(name, text): (String, String)| ReferenceChoice {
                    label: name.clone(),
                    name,
                    text,
                };
                let all = upgrade::upgrade_choices(&session.facts);
                Ok(all.into_iter().map(choice).collect())
            }
        })
    }

    /// Lists the reports saved for the same target, then those of the entire host.
    fn saved_report_choices(&self, session: &Session) -> Result<Vec<ReferenceChoice>, String> {
        let target = self.request.target.as_deref();
        let own = target.map(|target| (Some(target), "this target"));
        let stores = own.into_iter().chain([(None, "entire host")]);
        let mut all = Vec::new();
        for (target, text) in stores {
            let store =
                ReportStore::for_target(session, target).map_err(|error| error.to_string())?;
            let reports = store
                .list_dated_reports()
                .map_err(|error| path_error_text("read", &store.directory, &error))?;
            all.extend(reports.into_iter().map(|(path, date)| ReferenceChoice {
                name: path.to_string_lossy().into_owned(),
                label: date,
                text: text.to_owned(),
            }));
        }
        Ok(all)
    }

    pub(super) fn compare_with_saved_report(
        &self,
        name: Option<&str>,
    ) -> Result<Option<ReferenceComparison>, String> {
        let mut report = self.build_report()?;
        self.with_loaded_host(|LoadedHost { session, .. }| {
            let name = if let Some(name) = name {
                Some(name.to_owned())
            } else {
                let newest = self.saved_report_choices(session)?.into_iter().next();
                newest.map(|newest| newest.name)
            };
            let Some(name) = name else {
                return Ok(None);
            };
            let path = Path::new(&name);
            let before = baseline::read_baseline_report(
                path,
                file_reader::open_regular_file(path, MAX_BYTES),
            )
            .map_err(|error| error.to_string())?;
            let origin = &before.origin;
            let as_root = match origin.privileged {
                Some(true) => ", saved by root",
                Some(false) => ", not saved by root",
                None => "",
            };
            let title = format!("{}{as_root}, walwise {}", origin.when, origin.walwise);
            report.baseline = Some(session.difference_with_explanations(&before, &report));
            let mut sections = baseline_view::baseline_sections(&report);
            findings::add_fixes_to_bullets(&report, &mut sections);
            Ok(Some(ReferenceComparison {
                name,
                title,
                sections,
            }))
        })
    }

    pub(super) fn compare_with_upgrade(&self, name: &str) -> Result<ReferenceComparison, String> {
        let report = self.build_report()?;
        self.with_loaded_host(
            |LoadedHost {
                 session, machine, ..
             }| {
                let next = ComponentVersions::from_kernel_or_distribution(name);
                let texts = upgrade::upgrade_assumption_texts(&next, &session.facts)?;
                let hypothesis = assume::parse_assumptions(&texts, &session.facts)
                    .and_then(|all| session.evaluate_assumptions(&all, machine, &self.request))
                    .map_err(|mistakes| mistakes.join("; "))?;
                let (supposed, what_if) = session.evaluate_what_if(&report, &hypothesis);
                let changes = Upgrade::from_reports(&report, &supposed);
                let mut sections = upgrade_view::upgrade_change_sections(&what_if, &changes);
                findings::add_fixes_to_bullets(&report, &mut sections);
                let mut known = upgrade::upgrade_choices(&session.facts).into_iter();
                let versions = known.find(|(known, _)| known == name);
                Ok(ReferenceComparison {
                    name: name.to_owned(),
                    title: versions.map_or_else(
                        || display_safe(name.as_bytes()),
                        |(name, versions)| format!("{name}: {versions}"),
                    ),
                    sections,
                })
            },
        )
    }

    fn report_store(&self) -> Result<ReportStore, String> {
        let target = self.request.target.as_deref();
        self.with_loaded_host(|LoadedHost { session, .. }| {
            ReportStore::for_target(session, target).map_err(|error| error.to_string())
        })
    }

    pub(super) fn report_save_confirmation_lines(&self) -> Result<Vec<String>, String> {
        let store = self.report_store()?;
        let place = display_path(&store.directory);
        Ok(vec![
            format!("The report is saved in {place}."),
            "The oldest reports are removed when there are more than 60, or when they exceed 256 MiB in total."
                .to_owned(),
        ])
    }

    pub(super) fn save_report_for_comparison(&self) -> Result<SaveOutcome, String> {
        let mut report = self.build_report()?;
        self.with_loaded_host(|LoadedHost { session, .. }| {
            if session.live {
                let earlier = report_store::read_saved_latencies(session, |_| {});
                latency::add_earlier_latencies(&mut report, earlier);
            }
            Ok(())
        })?;
        let (path, wish) = self.report_store()?.next_report_destination();
        write_document(&path, wish, &json::render_report(&report))
    }
}
