//! All advice of all rules against every version that the compatibility tables distinguish: kernels
//! of every line and vendor, and tools that create file systems. The module `advice` covers
//! database servers.
//!
//! For each version that a rule can apply to, the guard must pass exactly the values that the table
//! accepts. Advice that passes nowhere reveals a missing row. Only versions and file systems are
//! given here, so more rules can apply than on a real host.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use walwise_judge::compat::{self, Effect, KernelPart, RelatedAdvice};
use walwise_judge::rules::model::{AdviceSpec, ChangeSpec, Condition, Rule, TestOperator};
use walwise_judge::rules::{EvaluationOptions, Outcome, RuleSet, evaluate_rule};
use walwise_model::facts::{FactSet, Reading, Scope, Source, Subject, Value, ValueKind, catalog};
use walwise_model::settings;
use walwise_model::version::Version;

use crate::support::test_host::subject_of_scope;

const NOBODY_REFUSES: &[(&str, &str)] = &[
    ("block.io_timeout", "the rules read the file that takes it"),
    ("block.write_cache", "the rules read the file that takes it"),
    ("database.placement", "words for people"),
    (
        "directory.attributes",
        "the rules read the attribute, which old kernels have as well",
    ),
    ("md.array", "words for people"),
    (
        "mkfs.options",
        "-m, which every mke2fs takes; features are settings of their own",
    ),
    ("mount.trim", "a timer of util-linux"),
    ("replication.binary_logs", "words for people"),
    ("replication.slot", "words for people"),
    ("replication.standby", "words for people"),
    ("swap.placement", "words for people"),
    (
        "vm.dirty_background_bytes",
        "since Linux 2.6.29, and the rules read its file",
    ),
    ("wal.archiver", "words for people"),
    ("zfs.no_cache_flush", "the rules read the parameter"),
    ("zfs.recordsize", "every OpenZFS takes 32K"),
    ("zfs.sync", "every OpenZFS has it"),
];

const DISTRIBUTIONS: &[(&str, &str, bool)] = &[
    ("3.10.0-327.el7.x86_64", "el7", true),
    ("3.10.0-1160.el7.x86_64", "el7", true),
    ("4.18.0-80.el8.x86_64", "el8", true),
    ("4.18.0-553.el8_10.x86_64", "el8", true),
    ("5.14.0-70.el9.x86_64", "el9", true),
    ("5.14.0-503.el9_5.x86_64", "el9", true),
    ("6.12.0-55.el10_0.x86_64", "el10", true),
    ("5.10.134-16.al8.x86_64", "alibaba", true),
    ("5.15.0-200.el8uek.x86_64", "uek", true),
    ("4.12.14-122.37-default", "sles", true),
    ("5.14.21-150500.55-default", "sles", true),
    ("6.4.0-150600.21-default", "sles", true),
    ("4.19.249", "debian", false),
    ("5.10.226", "debian", false),
    ("6.1.140", "debian", false),
    ("5.15.160", "ubuntu", false),
    ("6.8.12", "ubuntu", false),
];

/// File systems that rules name; the empty string stands for a blank disk.
const FILE_SYSTEMS: &[&str] = &[
    "", "ext4", "ext3", "xfs", "btrfs", "zfs", "f2fs", "nfs4", "tmpfs", "overlay",
];

type VersionsByFact = BTreeMap<&'static str, BTreeSet<String>>;

static STEPS: LazyLock<VersionsByFact> = LazyLock::new(boundary_versions);

fn boundary_versions() -> VersionsByFact {
    let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/rules/tables");
    let files = std::fs::read_dir(tables)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()));
    let documents: Vec<toml::Table> = files.map(|text| text.unwrap().parse().unwrap()).collect();
    let mut found = VersionsByFact::new();
    let rows = |kind: &str| -> Vec<toml::Value> {
        let of_kind = documents
            .iter()
            .filter_map(|document| document.get(kind)?.as_array());
        of_kind.flatten().cloned().collect()
    };
    let words = |value: Option<&toml::Value>| match value {
        Some(toml::Value::String(word)) => vec![word.clone()],
        Some(toml::Value::Array(words)) => words
            .iter()
            .filter_map(|word| word.as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    };
    let mut add =
        |of: &'static str, versions: Vec<String>| found.entry(of).or_default().extend(versions);
    for row in rows("options") {
        let vendors = row
            .get("vendors")
            .and_then(toml::Value::as_table)
            .cloned()
            .unwrap_or_default();
        for steps in row.get("steps").into_iter().chain(vendors.values()) {
            let steps = steps.as_array().unwrap().iter();
            add(
                "kernel",
                steps.flat_map(|step| words(step.get("from"))).collect(),
            );
        }
    }
    for row in rows("mkfs") {
        let tool = match row["of"].as_str().unwrap() {
            "ext4" => "e2fsprogs.version",
            "xfs" => "xfsprogs.version",
            _ => "btrfsprogs.version",
        };
        add("kernel", words(row.get("kernel")));
        for key in ["tool", "default", "advised"] {
            add(tool, words(row.get(key)));
        }
    }
    for rule in RuleSet::builtin().rules() {
        rule.advise
            .iter()
            .filter_map(|spec| spec.when.as_ref())
            .chain([&rule.when])
            .for_each(|cond| {
                collect_compared_versions(cond, &mut |fact, version| match fact {
                    "kernel.version" => add("kernel", vec![version.numeric_part()]),
                    "e2fsprogs.version" => add("e2fsprogs.version", vec![version.numeric_part()]),
                    _ => {}
                });
            });
    }
    let newest = [
        ("kernel", "7.9"),
        ("e2fsprogs.version", "1.48"),
        ("xfsprogs.version", "6.19"),
        ("btrfsprogs.version", "6.19"),
    ];
    for (of, version) in &newest {
        add(of, vec![(*version).to_owned()]);
    }
    found
}

fn collect_compared_versions(cond: &Condition, found: &mut dyn FnMut(&'static str, &Version)) {
    match cond {
        Condition::All(kids) | Condition::Any(kids) => {
            kids.iter()
                .for_each(|kid| collect_compared_versions(kid, found));
        }
        Condition::Not(kid) | Condition::Every(_, kid) | Condition::Some(_, kid) => {
            collect_compared_versions(kid, found);
        }
        Condition::Fact(test) => match &test.op {
            TestOperator::AtLeast(Value::Version(version)) => {
                found(test.fact.name, version);
            }
            TestOperator::FixedIn(lines) => {
                lines.iter().for_each(|line| found(test.fact.name, line));
            }
            _ => {}
        },
    }
}

fn collect_tested_facts(cond: &Condition, found: &mut BTreeSet<&'static str>) {
    match cond {
        Condition::All(kids) | Condition::Any(kids) => {
            kids.iter().for_each(|kid| collect_tested_facts(kid, found));
        }
        Condition::Not(kid) | Condition::Every(_, kid) | Condition::Some(_, kid) => {
            collect_tested_facts(kid, found);
        }
        Condition::Fact(test) => drop(found.insert(test.fact.name)),
    }
}

/// `None` unless the condition requires one value of `fact` by an equality test.
fn required_value(cond: &Condition, fact: &str) -> Option<Value> {
    match cond {
        Condition::All(kids) => kids.iter().find_map(|kid| required_value(kid, fact)),
        Condition::Fact(test) if test.fact.name == fact => match &test.op {
            TestOperator::Is(value) if !test.negated => Some(value.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn versions_around_boundaries(of: &str) -> Vec<Version> {
    let below = |text: &str| {
        let mut numbers: Vec<u64> = Version::parse(text)?
            .numeric_part()
            .split('.')
            .map(|n| n.parse().unwrap())
            .collect();
        let last = numbers.iter().rposition(|number| *number > 0)?;
        numbers[last] -= 1;
        Some(
            numbers
                .iter()
                .map(u64::to_string)
                .collect::<Vec<_>>()
                .join("."),
        )
    };
    let steps = &STEPS[of];
    let all: BTreeSet<String> = steps
        .iter()
        .cloned()
        .chain(steps.iter().filter_map(|text| below(text)))
        .collect();
    all.iter()
        .map(|text| Version::parse(text).unwrap())
        .collect()
}

fn tested_kernels() -> Vec<(Version, &'static str)> {
    let oldest = Version::parse("3.10").unwrap();
    let mainline = versions_around_boundaries("kernel")
        .into_iter()
        .filter(|version| *version >= oldest);
    let shipped = DISTRIBUTIONS.iter().map(|(release, vendor, backports)| {
        (
            Version::parse(release).unwrap().with_backports(*backports),
            *vendor,
        )
    });
    mainline
        .map(|version| (version, "mainline"))
        .chain(shipped)
        .collect()
}

/// File systems outside the kernel tree, loaded on every test host: their presence does not follow
/// from a version.
const LOADED: [&str; 1] = ["zfs"];

#[derive(Clone, Default)]
struct FactCombination {
    known: BTreeMap<&'static str, String>,
    facts: FactSet,
    kernel: Option<(Version, &'static str)>,
    fs: &'static str,
}

impl FactCombination {
    fn new() -> Self {
        let mut case = Self::default();
        let links = [
            (Scope::Target, Scope::Mount),
            (Scope::Target, Scope::Cluster),
            (Scope::Cluster, Scope::Target),
            (Scope::Cluster, Scope::Mount),
            (Scope::Boot, Scope::Mount),
            (Scope::Mount, Scope::Device),
        ];
        for (from, to) in &links {
            case.facts
                .set_fact_link(&subject_of_scope(*from), &subject_of_scope(*to));
        }
        // The case contains the result of a trial, because some rules test whether a trial was run.
        let both = vec![
            catalog::trial::TrialFilesystem::Ext4,
            catalog::trial::TrialFilesystem::Xfs,
        ];
        case.facts.insert_known(
            &subject_of_scope(Scope::Target),
            &catalog::trial::BEST,
            both,
            Source::from_file("x"),
        );
        case
    }

    fn with(&self, fact: &'static str, value: Value) -> Self {
        let mut case = self.clone();
        let info = catalog::find_by_name(fact).unwrap();
        case.known.insert(fact, value.to_string());
        case.facts.insert_untyped_value(
            &subject_of_scope(info.scope),
            info,
            Reading::known(value, Source::from_file("x")),
        );
        case
    }

    fn with_each_kernel(&self) -> Vec<Self> {
        let on = |(version, vendor): (Version, &'static str)| {
            let case = self.with("kernel.version", Value::Version(version.clone()));
            let case = case.with("kernel.vendor", Value::Text(vendor.to_owned()));
            let case = case.with(
                "kernel.filesystems",
                Value::List(LOADED.map(str::to_owned).to_vec()),
            );
            Self {
                kernel: Some((version, vendor)),
                ..case
            }
        };
        tested_kernels().into_iter().map(on).collect()
    }

    fn with_each_file_system(&self) -> Vec<Self> {
        let on = |fs: &&'static str| {
            if fs.is_empty() {
                return self.clone();
            }
            let text = || Value::Text((*fs).to_owned());
            Self {
                fs,
                ..self
                    .with("mount.fstype", text())
                    .with("boot.fstype", text())
            }
        };
        FILE_SYSTEMS.iter().map(on).collect()
    }

    fn with_each_tool_version(&self, tool: &'static str) -> Vec<Self> {
        versions_around_boundaries(tool)
            .into_iter()
            .map(|version| self.with(tool, Value::Version(version)))
            .collect()
    }

    fn rule_may_apply(&self, rule: &Rule) -> bool {
        let finding = evaluate_rule(
            rule,
            &self.facts,
            &subject_of_scope(rule.scope),
            EvaluationOptions {
                live: true,
                traced: false,
            },
        );
        finding.outcome != Outcome::DoesNotApply
    }

    fn table_effects(
        &self,
        setting: &str,
        values: &[String],
        beside: &RelatedAdvice<'_>,
    ) -> Vec<Effect> {
        let Some((kernel, vendor)) = &self.kernel else {
            return Vec::new();
        };
        let feature = |fs, name: &str| {
            let key = match fs {
                "ext4" => &catalog::host::E2FSPROGS,
                "xfs" => &catalog::host::XFSPROGS,
                _ => &catalog::host::BTRFSPROGS,
            };
            let tool = self.facts.value(&Subject::host(), key);
            compat::mkfs_feature_support(fs, name, tool.as_ref(), Some((kernel, vendor))).effect
        };
        let each = |ask: &dyn Fn(&str) -> Effect| {
            values.iter().map(|value| ask(value)).collect::<Vec<_>>()
        };
        match setting {
            "mount.options" | "boot.options" => {
                let made = beside.filesystem.unwrap_or("a new file system");
                let fs = if self.fs.is_empty() { made } else { self.fs };
                let rulings = compat::mount_options_support(fs, values, &[], kernel, vendor);
                rulings.into_iter().map(|ruling| ruling.effect).collect()
            }
            // Only the first mount shows whether the kernel was built with the file system; the
            // disk is still empty then.
            "filesystem" => each(&|fs| match compat::kernel_part_support(
                KernelPart::FileSystem,
                fs,
                kernel,
                vendor,
                true,
            )
            .effect
            {
                Effect::Unknown if LOADED.contains(&fs) => Effect::Ok,
                effect => effect,
            }),
            "block.scheduler" => each(&|name| {
                compat::kernel_part_support(KernelPart::Scheduler, name, kernel, vendor, false)
                    .effect
            }),
            "ext4.fast_commit" if values == ["on"] => vec![feature("ext4", "fast_commit")],
            "mkfs.features" => each(&|word| match beside.filesystem {
                _ if word.starts_with('^') || word.ends_with("=0") => Effect::Ok,
                Some(fs) => feature(fs, word.trim_end_matches("=1")),
                None => Effect::Unknown,
            }),
            _ => Vec::new(),
        }
    }
}

fn fact_combinations(setting: &str) -> Vec<FactCombination> {
    let all = |cases: Vec<FactCombination>,
               more: &dyn Fn(&FactCombination) -> Vec<FactCombination>| {
        cases.iter().flat_map(more).collect()
    };
    let start = vec![FactCombination::new()];
    match setting {
        "mount.options" | "boot.options" => all(
            all(start, &FactCombination::with_each_kernel),
            &FactCombination::with_each_file_system,
        ),
        "filesystem" | "mkfs.features" | "ext4.fast_commit" => {
            let kernels: Vec<FactCombination> = all(start, &FactCombination::with_each_kernel);
            let tools = [
                "e2fsprogs.version",
                "xfsprogs.version",
                "btrfsprogs.version",
            ];
            tools
                .into_iter()
                .flat_map(|tool| all(kernels.clone(), &|case| case.with_each_tool_version(tool)))
                .collect()
        }
        "block.scheduler" => all(start, &FactCombination::with_each_kernel),
        _ => start,
    }
}

/// Returns the values that the advice sets, each to be tried alone. A value taken from a fact may
/// be any text, also an unknown word.
fn advised_values(spec: &AdviceSpec) -> Vec<Vec<String>> {
    match &spec.change {
        ChangeSpec::Fixed(change) if change.set_or_added_values().is_empty() => Vec::new(),
        ChangeSpec::Fixed(change) => vec![change.set_or_added_values().to_vec()],
        ChangeSpec::SetFrom(fact) | ChangeSpec::AddFrom(fact) => match fact.kind {
            ValueKind::Choice(words) => words.iter().map(|word| vec![(*word).to_owned()]).collect(),
            _ => vec![vec!["unheard-of".to_owned()]],
        },
        ChangeSpec::RemoveFrom(_) => Vec::new(),
    }
}

fn rule_requiring_advice_conditions(rule: &Rule, spec: &AdviceSpec) -> Rule {
    let when = Condition::All(
        [Some(&rule.when), spec.when.as_ref()]
            .into_iter()
            .flatten()
            .cloned()
            .collect(),
    );
    Rule {
        when,
        advise: Vec::new(),
        examples: Vec::new(),
        ..rule.clone()
    }
}

fn is_checked_by_table(spec: &AdviceSpec) -> bool {
    !["pg", "mysql"].contains(&spec.setting.name.split('.').next().unwrap())
}

fn fixed_related_advice(rule: &Rule) -> (Option<String>, Vec<String>) {
    let fixed = |setting: &'static str| {
        let of = rule
            .advise
            .iter()
            .filter(move |spec| spec.setting.name == setting);
        of.filter_map(|spec| match &spec.change {
            ChangeSpec::Fixed(change) => Some(change.set_or_added_values().to_vec()),
            _ => None,
        })
    };
    (
        fixed("filesystem").flatten().next(),
        fixed("mkfs.features").flatten().collect(),
    )
}

fn check_advice_with_guard(
    setting: &str,
    values: &[String],
    beside: &RelatedAdvice<'_>,
    case: &FactCombination,
) -> Result<(), String> {
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let setting = settings::find_by_name(setting).unwrap();
    compat::check_advice_with_related(
        setting,
        &values,
        beside,
        &case.facts,
        &subject_of_scope(setting.scope),
    )
}

#[test]
fn guard_passes_exactly_what_each_version_accepts() {
    let rules = RuleSet::builtin();
    let mut cache: BTreeMap<String, Vec<FactCombination>> = BTreeMap::new();
    let (mut wrong, mut never, mut seen) = (Vec::new(), Vec::new(), 0);
    for rule in rules.rules() {
        let (filesystem, features) = fixed_related_advice(rule);
        let beside = RelatedAdvice {
            filesystem: filesystem.as_deref(),
            features: &features,
        };
        for spec in rule.advise.iter().filter(|spec| is_checked_by_table(spec)) {
            let setting = spec.setting.name;
            let open = cache
                .entry(setting.to_owned())
                .or_insert_with(|| fact_combinations(setting));
            let bare = rule_requiring_advice_conditions(rule, spec);
            let cloud = required_value(&bare.when, catalog::device::CLOUD.name());
            let with_cloud = |case| match &cloud {
                Some(service) => Cow::Owned(FactCombination::with(
                    case,
                    catalog::device::CLOUD.name(),
                    service.clone(),
                )),
                None => Cow::Borrowed(case),
            };
            let mut asked = BTreeSet::new();
            collect_tested_facts(&bare.when, &mut asked);
            // Cases with equal tested facts are evaluated once.
            let mut allowed: BTreeMap<Vec<String>, bool> = BTreeMap::new();
            let mut open: Vec<Cow<'_, FactCombination>> = open.iter().map(with_cloud).collect();
            open.retain(|case| {
                let known = asked
                    .iter()
                    .map(|fact| case.known.get(fact).cloned().unwrap_or_default())
                    .collect();
                *allowed
                    .entry(known)
                    .or_insert_with(|| case.rule_may_apply(&bare))
            });
            for values in advised_values(spec) {
                let mut out = 0;
                for case in &open {
                    seen += 1;
                    if check_advice_with_guard(setting, &values, &beside, case).is_err() {
                        continue;
                    }
                    out += 1;
                    let effects = case.table_effects(setting, &values, &beside);
                    if effects
                        .iter()
                        .any(|effect| !matches!(effect, Effect::Ok | Effect::DefaultAnyway))
                    {
                        wrong.push(format!(
                            "{}: {setting} {values:?} on {:?}: {effects:?}",
                            rule.id, case.known
                        ));
                    }
                }
                if out == 0 && matches!(spec.change, ChangeSpec::Fixed(_)) {
                    never.push(format!("{}: {setting} {values:?}", rule.id));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "accepted, although the table does not say so:\n{}",
        wrong.join("\n")
    );
    assert!(
        never.is_empty(),
        "no version of anything takes it, so nobody ever sees it:\n{}",
        never.join("\n")
    );
    assert!(seen > 10_000, "{seen}");
}

#[test]
fn settings_unchecked_by_the_guard_are_listed() {
    let rules = RuleSet::builtin();
    let nothing_known = FactCombination::new();
    let nothing_beside = RelatedAdvice::default();
    let passes = |spec: &&AdviceSpec| {
        let unasked = |values| {
            check_advice_with_guard(spec.setting.name, values, &nothing_beside, &nothing_known)
                .is_ok()
        };
        advised_values(spec).iter().any(|values| unasked(values))
    };
    let specs = rules.rules().iter().flat_map(|rule| &rule.advise);
    let passing: BTreeSet<&str> = specs
        .filter(|spec| is_checked_by_table(spec))
        .filter(passes)
        .map(|spec| spec.setting.name)
        .collect();
    let listed: BTreeSet<&str> = NOBODY_REFUSES.iter().map(|(setting, _)| *setting).collect();
    assert_eq!(passing, listed);
}
