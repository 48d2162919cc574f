//! Builds the report from facts, findings and verdicts, with every list in a fixed order. Advice
//! that the kernel, a tool or the server would not accept moves from the findings to the withheld
//! advice.

use std::collections::{BTreeMap, BTreeSet};

use walwise_model::settings::{NewFilesystem, SettingKind};

use super::distinct::extend_distinct;
use super::findings_by_subject::FindingsBySubject;
use super::model::find_in_sorted;
use super::{
    DeviceContent, DirectoryRow, FilesystemRefusalFn, HostSummary, Plan, ProbeResult, Report,
    RunOption, SCHEMA_VERSION, TargetSummary, ToolSummary, WithheldAdvice, answers, disk_ranking,
    fixes, flush_hop, latency, mysql_commands, plan, postgres_commands, remedies, remount_commands,
    stack, stack_truncation,
};
use walwise_judge::compat::RelatedAdvice;
use walwise_judge::durability::Verdict;
use walwise_judge::rules::{Advice, Evaluation, Finding, Pack};
use walwise_measure::measure::Measurement;
use walwise_model::facts::catalog::target::{self, TargetKind};
use walwise_model::facts::catalog::{host, kernel};
use walwise_model::facts::{Choice, FactSet, Scope, ServerArea, Subject};
use walwise_model::parallel;

/// Checks whether kernel, tool or server would accept advice on a subject. The error is the reason
/// for the refusal.
pub type AdviceCheckFn<'a> =
    dyn Fn(&Subject, &Advice, &RelatedAdvice<'_>) -> Result<(), String> + Sync + 'a;

pub struct ReportInput<'a> {
    pub facts: &'a FactSet,
    pub verdicts: Vec<Verdict>,
    pub evaluation: Evaluation,
    pub measurements: BTreeMap<Subject, Measurement>,
    pub overrides: plan::RuleOverrides,
    /// The file system that the user chose for a free disk, by target.
    pub wanted: &'a BTreeMap<Subject, NewFilesystem>,
    pub refusal_reason: &'a FilesystemRefusalFn<'a>,
    pub context: RunContext,
    pub guard: &'a AdviceCheckFn<'a>,
}

#[derive(Clone, Debug)]
pub struct RunContext {
    pub when: String,
    /// False for a capture.
    pub live: bool,
    /// Options of this run that are repeated in printed commands.
    pub options: Vec<RunOption>,
    pub version: String,
    /// The number of rules evaluated.
    pub rules: usize,
    /// TARGET as given on the command line; `None` if all targets are examined.
    pub asked: Option<String>,
    /// The server assumed for targets without one.
    pub engine: ServerArea,
    pub pack: Pack,
}

pub fn build_report(input: ReportInput<'_>) -> Report {
    let ReportInput {
        facts,
        mut verdicts,
        evaluation,
        measurements,
        overrides,
        wanted,
        refusal_reason: refusal,
        context: circumstances,
        guard,
    } = input;
    let basis = plan::PlanInput {
        facts,
        overrides: &overrides,
        wanted,
        refusal_reason: refusal,
    };
    let Evaluation {
        mut findings,
        tallies,
    } = evaluation;
    let withheld = withhold_refused_advice(&mut findings, guard);
    add_server_commands_to_findings(&mut findings, facts);
    remedies::fill_in_critical_remedies(&mut findings, &withheld);
    findings.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    verdicts.sort_by(|a, b| a.target.cmp(&b.target));
    for hop in verdicts
        .iter_mut()
        .flat_map(|verdict| &mut verdict.flush_path)
    {
        hop.text = flush_hop::hop_description(facts, hop);
    }
    let concerns = TargetSubjectCollector::from_facts(facts);
    let verdict =
        |target: &Subject| find_in_sorted(&verdicts, |verdict| verdict.target.cmp(target));
    let subjects: Vec<&Subject> = facts.subjects_of_scope(Scope::Target).collect();
    let mut targets: Vec<TargetSummary> = parallel::map_items(&subjects, |target| {
        target_summary(facts, &concerns, target, verdict(target))
    });
    disk_ranking::rank_free_disks(facts, &mut targets);
    let index = FindingsBySubject::new(&findings);
    let planned = parallel::map_chunks(&targets, |piece| {
        let mut conflicts = Vec::new();
        let about = |target: &TargetSummary| index.findings_of_subjects(&target.subjects);
        let plan = |target| plan::build_plan(&basis, target, &about(target), &mut conflicts);
        let plans: Vec<Plan> = piece.iter().map(plan).collect();
        (plans, conflicts)
    });
    let (mut plans, mut conflicts) = (Vec::with_capacity(targets.len()), Vec::new());
    for (some, between) in planned {
        plans.extend(some);
        extend_distinct(&mut conflicts, between);
    }
    for Finding {
        subject, advice, ..
    } in &mut findings
    {
        if let Some(mounted) = facts.applicable_subject(subject, Scope::Mount) {
            for advice in advice {
                remount_commands::add_remount_commands_to_advice(advice, facts, &mounted);
            }
        }
    }
    let stacks = parallel::map_items(&subjects, |target| {
        stack::build_stack(facts, target, verdict(target))
    });
    let mut report = Report {
        schema: SCHEMA_VERSION,
        tool: ToolSummary {
            name: "walwise".to_owned(),
            version: circumstances.version,
            rules: circumstances.rules,
        },
        pack: circumstances.pack,
        when: circumstances.when,
        asked: circumstances.asked,
        engine: circumstances.engine,
        host: HostSummary {
            options: circumstances.options,
            ..host_summary(facts, circumstances.live)
        },
        targets,
        stacks,
        verdicts,
        probes: measurements
            .into_iter()
            .map(|(target, measurement)| ProbeResult {
                target,
                measurement,
            })
            .collect(),
        prices: Vec::new(),
        findings,
        rules: tallies,
        plans,
        conflicts,
        withheld,
        baseline: None,
        warnings: facts.notes().to_vec(),
        what_if: None,
        upgrade: None,
        facts: facts.clone(),
    };
    fixes::fill_in_step_commands(&mut report);
    report.prices = latency::latencies_from_probes(&report);
    let index = FindingsBySubject::new(&report.findings);
    let answers = parallel::map_items(&report.targets, |target| {
        answers::target_answers(
            &report,
            target,
            &index.findings_of_subjects(&target.subjects),
        )
    });
    for (target, answers) in report.targets.iter_mut().zip(answers) {
        target.answers = answers;
    }
    stack_truncation::remove_excess_layers(&mut report);
    report
}

/// Adds the commands that change server settings.
pub(crate) fn add_server_commands_to_findings(findings: &mut [Finding], facts: &FactSet) {
    for Finding {
        subject, advice, ..
    } in findings
    {
        let cluster = facts.applicable_subject(subject, Scope::Cluster);
        for advice in advice {
            mysql_commands::add_mysql_commands(advice, facts, cluster.as_ref());
            postgres_commands::add_postgres_commands(advice, facts, cluster.as_ref());
        }
    }
}

/// Removes the advice that `guard` refuses from the findings. Returns that advice, and the advice
/// that the rules have already held back.
fn withhold_refused_advice(
    findings: &mut [Finding],
    guard: &AdviceCheckFn<'_>,
) -> Vec<WithheldAdvice> {
    let refusals = parallel::map_items(findings, |finding| refusal_reasons(finding, guard));
    let mut withheld = Vec::new();
    for (finding, refusals) in findings.iter_mut().zip(refusals) {
        let mut add = |advice: String, because: String| {
            withheld.push(WithheldAdvice {
                rule: finding.rule.clone(),
                subject: finding.subject.clone(),
                advice,
                because,
            });
        };
        for held in &finding.held_back {
            add(held.advice.clone(), held.because.clone());
        }
        let mut refusals = refusals.into_iter();
        finding.advice.retain(|advice| {
            let refusal = refusals.next().flatten();
            let is_kept = refusal.is_none();
            if let Some(because) = refusal {
                let text = format!("{}: {}", advice.setting, advice.change_text_with_units());
                add(text, because);
            }
            is_kept
        });
    }
    withheld
        .sort_by(|a, b| (&a.subject, &a.advice, &a.rule).cmp(&(&b.subject, &b.advice, &b.rule)));
    withheld
}

/// For each item of the finding's advice, the reason for the refusal, or `None`.
fn refusal_reasons(finding: &Finding, guard: &AdviceCheckFn<'_>) -> Vec<Option<String>> {
    let advice = &finding.advice;
    let values = |kind: SettingKind| {
        advice
            .iter()
            .find(|piece| piece.setting.kind == kind)
            .map_or(&[][..], |piece| piece.change.set_or_added_values())
    };
    let related = RelatedAdvice {
        filesystem: values(SettingKind::Filesystem).first().map(String::as_str),
        features: values(SettingKind::MkfsFeatures),
    };
    advice
        .iter()
        .map(|piece| guard(&finding.subject, piece, &related).err())
        .collect()
}

pub fn host_summary(facts: &FactSet, live: bool) -> HostSummary {
    let text = |key| {
        facts
            .host_value(key)
            .unwrap_or_else(|| "unknown".to_owned())
    };
    HostSummary {
        name: text(&host::NAME),
        os: text(&host::OS_NAME),
        kernel: text(&kernel::RELEASE),
        seen_by: facts
            .host_value(&host::SEEN_BY)
            .map_or("unknown", Choice::as_str)
            .to_owned(),
        privileged: facts.host_value(&host::PRIVILEGED),
        live,
        options: Vec::new(),
    }
}

fn target_summary(
    facts: &FactSet,
    concerns: &TargetSubjectCollector<'_>,
    subject: &Subject,
    verdict: Option<&Verdict>,
) -> TargetSummary {
    let cluster = facts.applicable_subject(subject, Scope::Cluster);
    let name = cluster.as_ref().and_then(|cluster| {
        ServerArea::ALL
            .iter()
            .find_map(|area| facts.value(cluster, area.database_profile().name))
    });
    let path = facts
        .value(subject, &target::PATH)
        .unwrap_or_else(|| subject.name().to_owned());
    let directory = |row: String| {
        let (role, path) = row.split_once(' ')?;
        let verdict = verdict.map(|verdict| verdict.standing);
        Some(DirectoryRow {
            role: role.to_owned(),
            path: path.to_owned(),
            verdict,
        })
    };
    let roles = facts.value(subject, &target::ROLES);
    let directories = facts
        .value(subject, &target::DIRECTORIES)
        .unwrap_or_default();
    let kind = facts
        .value(subject, &target::KIND)
        .unwrap_or(TargetKind::Directory);
    TargetSummary {
        target: subject.clone(),
        title: target_title(name, &path),
        content: kind
            .is_device()
            .then(|| DeviceContent::from_facts(facts, subject)),
        kind,
        roles: roles.map(|roles| roles.iter().map(ToString::to_string).collect()),
        directories: directories.into_iter().filter_map(directory).collect(),
        subjects: concerns.subjects_of_target(subject),
        cluster,
        rank: None,
        rank_because: String::new(),
        answers: BTreeMap::new(),
    }
}

fn target_title(cluster: Option<String>, path: &str) -> String {
    match cluster {
        Some(name) if name.ends_with(&format!(" in {path}")) => name,
        Some(name) => format!("{name}, {path}"),
        None => path.to_owned(),
    }
}

/// Collects the subjects of each target. The boot lines (fstab, mount units) are indexed by mount
/// once, because a host can have thousands of targets.
pub struct TargetSubjectCollector<'a> {
    facts: &'a FactSet,
    boot_lines: BTreeMap<Subject, Vec<Subject>>,
}

impl<'a> TargetSubjectCollector<'a> {
    pub fn from_facts(facts: &'a FactSet) -> Self {
        let mut boot_lines: BTreeMap<Subject, Vec<Subject>> = BTreeMap::new();
        for boot in facts.subjects_of_scope(Scope::Boot) {
            if let Some(mount) = facts.applicable_subject(boot, Scope::Mount) {
                boot_lines.entry(mount).or_default().push(boot.clone());
            }
        }
        Self { facts, boot_lines }
    }

    /// The target, its stack, the boot lines of its mounts, and its cluster, in this order and
    /// without duplicates.
    pub fn subjects_of_target(&self, target: &Subject) -> Vec<Subject> {
        let facts = self.facts;
        let mut all = vec![target.clone()];
        all.extend(
            [Scope::Mount, Scope::Device]
                .into_iter()
                .filter_map(|scope| facts.applicable_subject(target, scope)),
        );
        all.extend(facts.layers_below(target));
        let boots: BTreeSet<Subject> = all
            .iter()
            .filter_map(|mount| self.boot_lines.get(mount))
            .flatten()
            .cloned()
            .collect();
        all.extend(boots);
        all.extend(facts.applicable_subject(target, Scope::Cluster));
        let mut seen = BTreeSet::new();
        all.retain(|subject| seen.insert(subject.clone()));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::target_title;

    #[test]
    fn target_title_contains_path_once() {
        let named = |name: &str, path| target_title(Some(name.to_owned()), path);
        assert_eq!(
            named("postgresql 15 in /srv/pg", "/srv/pg"),
            "postgresql 15 in /srv/pg"
        );
        assert_eq!(
            named("postgresql 15 in /srv/pg", "/srv/pg/pg_wal"),
            "postgresql 15 in /srv/pg, /srv/pg/pg_wal"
        );
        assert_eq!(
            named("postgresql 15/main", "/main"),
            "postgresql 15/main, /main"
        );
        assert_eq!(target_title(None, "/srv"), "/srv");
    }
}
