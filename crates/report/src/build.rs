//! Facts, verdicts, findings and measurements → the report.
//!
//! It establishes one fixed order and removes advice that the guard refuses. [`super::plan`] makes
//! the plans, [`super::stack`] the stacks. Refused advice is removed from the findings too, so that
//! no output can name a value that kernel, tool or server would refuse.

use std::collections::{BTreeMap, BTreeSet};

use walwise_model::settings::{NewFilesystem, SettingKind};

use super::index::Index;
use super::{
    Conflict, DeviceContent, DirectoryRow, FilesystemRefusal, HostSummary, Plan, ProbeResult,
    Report, RunOption, SCHEMA_VERSION, TargetSummary, ToolSummary, Withheld, answers, disk_ranking,
    fixes, hop, latency, mysql, plan, postgres, remedy, remount, stack, truncate,
};
use walwise_judge::compat::RelatedAdvice;
use walwise_judge::durability::Verdict;
use walwise_judge::rules::{Advice, Evaluation, Finding, Pack};
use walwise_measure::measure::Measurement;
use walwise_model::facts::catalog::target::{self, TargetKind};
use walwise_model::facts::catalog::{host, kernel};
use walwise_model::facts::{Area, Choice, FactSet, Scope, Subject};
use walwise_model::parallel;

/// Checks whether kernel, tool or server would accept advice on a subject, given the other advice
/// of the same finding about the file system to create; the error names the refusing component.
pub type Guard<'a> =
    dyn Fn(&Subject, &Advice, &RelatedAdvice<'_>) -> Result<(), String> + Sync + 'a;

/// The inputs of a report.
pub struct Input<'a> {
    /// All facts, read and concluded.
    pub facts: &'a FactSet,
    /// The verdict of each target.
    pub verdicts: Vec<Verdict>,
    /// The results of all rules.
    pub evaluation: Evaluation,
    /// Measurements by target.
    pub measurements: BTreeMap<Subject, Measurement>,
    /// The rules that each rule overrides.
    pub overrides: plan::Overrides,
    /// The file system that the user wants on a free disk, by target.
    pub wanted: &'a BTreeMap<Subject, NewFilesystem>,
    /// Why a file system cannot be created on a free disk, if so.
    pub refusal_reason: &'a FilesystemRefusal<'a>,
    pub context: RunContext,
    /// The last check of each advice.
    pub guard: &'a Guard<'a>,
}

/// Properties of the run rather than of the machine.
#[derive(Clone, Debug)]
pub struct RunContext {
    pub when: String,
    /// Whether the facts are from this host rather than from a capture.
    pub live: bool,
    /// The options of this run that its commands repeat.
    pub options: Vec<RunOption>,
    pub version: String,
    /// The number of evaluated rules.
    pub rules: usize,
    /// The target that was asked for; `None` when everything found was examined.
    pub asked: Option<String>,
    /// The server assumed for answers where there is none.
    pub engine: Area,
    /// The identity of rules and tables.
    pub pack: Pack,
}

pub fn build(input: Input<'_>) -> Report {
    let Input {
        facts,
        mut verdicts,
        evaluation,
        measurements,
        ..
    } = input;
    let Input {
        overrides,
        wanted,
        refusal_reason: refusal,
        context: circumstances,
        guard,
        ..
    } = input;
    let basis = plan::PlanBasis {
        facts,
        overrides: &overrides,
        wanted,
        refusal_reason: refusal,
    };
    let Evaluation {
        mut findings,
        tallies,
    } = evaluation;
    let withheld = withhold_refused(&mut findings, guard);
    mysql::add_commands(&mut findings, facts);
    postgres::add_commands(&mut findings, facts);
    remedy::fill_in(&mut findings, &withheld);
    findings.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    verdicts.sort_by(|a, b| a.target.cmp(&b.target));
    for verdict in &mut verdicts {
        hop::describe(facts, verdict);
    }
    let concerns = SubjectsByTarget::from_facts(facts);
    let verdict = |target: &Subject| {
        let at = verdicts
            .binary_search_by(|verdict| verdict.target.cmp(target))
            .ok()?;
        verdicts.get(at)
    };
    let subjects: Vec<&Subject> = facts.subjects(Scope::Target).collect();
    let mut targets: Vec<TargetSummary> = parallel::map(&subjects, |target| {
        target_summary(facts, &concerns, target, verdict(target))
    });
    disk_ranking::rank_free_disks(facts, &mut targets);
    let index = Index::new(&findings);
    let planned = parallel::map_chunks(&targets, |piece| {
        let mut conflicts = Vec::new();
        let about = |target: &TargetSummary| {
            index
                .findings_about(&target.subjects)
                .into_iter()
                .map(|(_, finding)| finding)
                .collect::<Vec<_>>()
        };
        let plan = |target| plan::plan(&basis, target, &about(target), &mut conflicts);
        let plans: Vec<Plan> = piece.iter().map(plan).collect();
        (plans, conflicts)
    });
    let (mut plans, mut conflicts) = (Vec::with_capacity(targets.len()), Vec::new());
    for (some, between) in planned {
        plans.extend(some);
        let new: Vec<Conflict> = between
            .into_iter()
            .filter(|one| !conflicts.contains(one))
            .collect();
        conflicts.extend(new);
    }
    remount::add_all_commands(&mut findings, facts);
    let stacks = parallel::map(&subjects, |target| {
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
    fixes::fill_in_commands(&mut report);
    report.prices = latency::from_measurements(&report);
    let index = Index::new(&report.findings);
    let answers = parallel::map(&report.targets, |target| {
        let about = index
            .findings_about(&target.subjects)
            .into_iter()
            .map(|(_, finding)| finding);
        answers::target_answers(&report, target, &about.collect::<Vec<_>>())
    });
    for (target, answers) in report.targets.iter_mut().zip(answers) {
        target.answers = answers;
    }
    truncate::truncate_stacks(&mut report);
    report
}

/// Removes refused advice from the findings, and adds the advice that rules held back.
fn withhold_refused(findings: &mut [Finding], guard: &Guard<'_>) -> Vec<Withheld> {
    let refusals = parallel::map(findings, |finding| refusals(finding, guard));
    let mut withheld = Vec::new();
    for (
        Finding {
            rule,
            subject,
            advice,
            held_back,
            ..
        },
        refusals,
    ) in findings.iter_mut().zip(refusals)
    {
        withheld.extend(held_back.iter().map(|held| Withheld {
            rule: rule.clone(),
            subject: subject.clone(),
            advice: held.advice.clone(),
            because: held.because.clone(),
        }));
        let mut refusals = refusals.into_iter();
        advice.retain(|advice| match refusals.next().flatten() {
            None => true,
            Some(because) => {
                let advice = format!("{}: {}", advice.setting, advice.summary());
                withheld.push(Withheld {
                    rule: rule.clone(),
                    subject: subject.clone(),
                    advice,
                    because,
                });
                false
            }
        });
    }
    withheld
        .sort_by(|a, b| (&a.subject, &a.advice, &a.rule).cmp(&(&b.subject, &b.advice, &b.rule)));
    withheld
}

/// For each advice of a finding, why it is refused, if so.
fn refusals(finding: &Finding, guard: &Guard<'_>) -> Vec<Option<String>> {
    let Finding {
        subject, advice, ..
    } = finding;
    let of = |kind: SettingKind| {
        let piece = advice.iter().find(|piece| piece.setting.kind == kind);
        piece
            .map(|piece| piece.change.values().to_vec())
            .unwrap_or_default()
    };
    let (filesystem, features) = (of(SettingKind::Filesystem), of(SettingKind::MkfsFeatures));
    let beside = RelatedAdvice {
        filesystem: filesystem.first().map(String::as_str),
        features: &features,
    };
    advice
        .iter()
        .map(|piece| guard(subject, piece, &beside).err())
        .collect()
}

pub fn host_summary(facts: &FactSet, live: bool) -> HostSummary {
    let machine = Subject::host();
    let text = |key| {
        facts
            .value(&machine, key)
            .unwrap_or_else(|| "unknown".to_owned())
    };
    HostSummary {
        name: text(&host::NAME),
        os: text(&host::OS_NAME),
        kernel: text(&kernel::RELEASE),
        seen_by: facts
            .value(&machine, &host::SEEN_BY)
            .map_or("unknown", Choice::as_str)
            .to_owned(),
        privileged: facts.value(&machine, &host::PRIVILEGED),
        live,
        options: Vec::new(),
    }
}

fn target_summary(
    facts: &FactSet,
    concerns: &SubjectsByTarget<'_>,
    subject: &Subject,
    verdict: Option<&Verdict>,
) -> TargetSummary {
    let cluster = facts.resolve(subject, Scope::Cluster);
    let name = cluster.as_ref().and_then(|cluster| {
        Area::ALL
            .iter()
            .find_map(|area| facts.value(cluster, area.database().name))
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
    // A target that cannot be examined counts as a directory; the collector has warned.
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
        subjects: concerns.subjects(subject),
        cluster,
        rank: None,
        rank_because: String::new(),
        answers: BTreeMap::new(),
    }
}

/// The cluster's name with the path, unless an unnamed cluster's name already contains it.
fn target_title(cluster: Option<String>, path: &str) -> String {
    match cluster {
        Some(name) if name.ends_with(&format!(" in {path}")) => name,
        Some(name) => format!("{name}, {path}"),
        None => path.to_owned(),
    }
}

/// The subjects that concern a target; boot lines are grouped by mount once for all targets.
pub struct SubjectsByTarget<'a> {
    facts: &'a FactSet,
    boot_lines: BTreeMap<Subject, Vec<Subject>>,
}

impl<'a> SubjectsByTarget<'a> {
    pub fn from_facts(facts: &'a FactSet) -> Self {
        let mut boots: BTreeMap<Subject, Vec<Subject>> = BTreeMap::new();
        for boot in facts.subjects(Scope::Boot) {
            if let Some(mount) = facts.resolve(boot, Scope::Mount) {
                boots.entry(mount).or_default().push(boot.clone());
            }
        }
        Self {
            facts,
            boot_lines: boots,
        }
    }

    /// Everything that concerns a target, in a fixed order: itself, its stack, the boot lines of
    /// its mounts, its cluster.
    pub fn subjects(&self, target: &Subject) -> Vec<Subject> {
        let facts = self.facts;
        let mut all = vec![target.clone()];
        all.extend(
            [Scope::Mount, Scope::Device]
                .into_iter()
                .filter_map(|scope| facts.resolve(target, scope)),
        );
        all.extend(facts.stack(target));
        let boots: BTreeSet<&Subject> = all
            .iter()
            .filter_map(|mount| self.boot_lines.get(mount))
            .flatten()
            .collect();
        let boots: Vec<Subject> = boots.into_iter().cloned().collect();
        all.extend(boots);
        all.extend(facts.resolve(target, Scope::Cluster));
        let mut seen = BTreeSet::new();
        all.retain(|subject| seen.insert(subject.clone()));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::target_title;

    #[test]
    fn a_title_names_a_path_once() {
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
