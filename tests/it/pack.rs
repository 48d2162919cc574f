//! All advice of all rules × all versions that the table distinguishes: kernels of every line and
//! of deviating vendors, and the tools that create file systems. Advice for database servers is
//! left to `advice`.
//!
//! For each version that a rule can apply to, the values that the guard passes must equal those
//! that the table alone accepts. Each piece of advice must pass somewhere; one that never does
//! reveals a missing row. Only versions and file systems are given here, so "can apply" is wider
//! than on any machine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use walwise_judge::compat::{self, Effect, RelatedAdvice};
use walwise_judge::rules::model::{AdviceSpec, ChangeSpec, Condition, Op, Rule};
use walwise_judge::rules::{EvaluationOptions, Outcome, RuleSet, evaluate_rule};
use walwise_model::facts::{FactSet, Reading, Scope, Source, Subject, Value, ValueKind, catalog};
use walwise_model::settings;
use walwise_model::version::Version;

use crate::support::machine::subject;

/// Settings whose values no kernel, tool or server checks, with the justification.
const NOBODY_REFUSES: &[(&str, &str)] = &[
    ("block.io_timeout", "the rules read the file that takes it"),
    ("block.write_cache", "the rules read the file that takes it"),
    ("database.placement", "words for people"),
    (
        "directory.attributes",
        "the rules read the attribute, which old kernels have as well",
    ),
    (
        "ext4.fast_commit",
        "what is switched off needs no kernel that knows it; on is asked about",
    ),
    ("md.array", "words for people"),
    (
        "mkfs.options",
        "-m, which every mke2fs takes; features are settings of their own",
    ),
    ("mount.trim", "a timer of util-linux"),
    ("swap.placement", "words for people"),
    (
        "vm.dirty_background_bytes",
        "since Linux 2.6.29, and the rules read its file",
    ),
    ("zfs.no_cache_flush", "the rules read the parameter"),
    ("zfs.recordsize", "every OpenZFS takes 32K"),
    ("zfs.sync", "every OpenZFS has it"),
];

/// Kernels as distributions ship them: version, vendor, whether it backports.
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

/// File systems that rules name, and an empty one.
const FILE_SYSTEMS: &[&str] = &[
    "", "ext4", "ext3", "xfs", "btrfs", "zfs", "f2fs", "nfs4", "tmpfs", "overlay",
];

/// Versions by component: `kernel` or a tool.
type Versions = BTreeMap<&'static str, BTreeSet<String>>;

static STEPS: LazyLock<Versions> = LazyLock::new(steps);

/// The versions at which something changes, in the tables and in the rules.
fn steps() -> Versions {
    let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/rules/tables");
    let files = std::fs::read_dir(tables)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()));
    let documents: Vec<toml::Table> = files.map(|text| text.unwrap().parse().unwrap()).collect();
    let mut found = Versions::new();
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
                tested(cond, &mut |fact, version| match fact {
                    "kernel.version" => add("kernel", vec![version.base()]),
                    "e2fsprogs.version" => add("e2fsprogs.version", vec![version.base()]),
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

/// Every version that a condition compares a fact with.
fn tested(cond: &Condition, found: &mut dyn FnMut(&'static str, &Version)) {
    match cond {
        Condition::All(kids) | Condition::Any(kids) => {
            kids.iter().for_each(|kid| tested(kid, found));
        }
        Condition::Not(kid) | Condition::Every(_, kid) | Condition::Some(_, kid) => {
            tested(kid, found);
        }
        Condition::Fact(test) => match &test.op {
            Op::AtLeast(Value::Version(version)) | Op::Below(Value::Version(version)) => {
                found(test.fact.name, version);
            }
            Op::FixedIn(lines) => lines.iter().for_each(|line| found(test.fact.name, line)),
            _ => {}
        },
    }
}

/// Every fact that a condition tests.
fn facts_of(cond: &Condition, found: &mut BTreeSet<&'static str>) {
    match cond {
        Condition::All(kids) | Condition::Any(kids) => {
            kids.iter().for_each(|kid| facts_of(kid, found));
        }
        Condition::Not(kid) | Condition::Every(_, kid) | Condition::Some(_, kid) => {
            facts_of(kid, found);
        }
        Condition::Fact(test) => drop(found.insert(test.fact.name)),
    }
}

/// Each of the versions, and one just below it.
fn versions(of: &str) -> Vec<Version> {
    let below = |text: &str| {
        let mut numbers: Vec<u64> = Version::parse(text)?
            .base()
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

/// Mainline kernels from 3.10 on, and those of distributions.
fn kernels() -> Vec<(Version, &'static str)> {
    let oldest = Version::parse("3.10").unwrap();
    let mainline = versions("kernel")
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

/// File systems that are no part of the kernel, loaded on every one of these machines: what is
/// loaded there no version tells.
const LOADED: [&str; 1] = ["zfs"];

/// The known facts: versions, a file system, and what is loaded; nothing else.
#[derive(Clone, Default)]
struct Case {
    known: BTreeMap<&'static str, String>,
    facts: FactSet,
    kernel: Option<(Version, &'static str)>,
    fs: &'static str,
}

impl Case {
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
            case.facts.link(&subject(*from), &subject(*to));
        }
        // A rule may ask first whether a disk is a cloud's at all.
        let volume = catalog::device::Cloud::AmazonEbs;
        case.facts.insert_known(
            &subject(Scope::Device),
            &catalog::device::CLOUD,
            volume,
            Source::file("x"),
        );
        // And whether there was a trial.
        let both = vec![
            catalog::trial::TrialFilesystem::Ext4,
            catalog::trial::TrialFilesystem::Xfs,
        ];
        case.facts.insert_known(
            &subject(Scope::Target),
            &catalog::trial::BEST,
            both,
            Source::file("x"),
        );
        case
    }

    fn with(&self, fact: &'static str, value: Value) -> Self {
        let mut case = self.clone();
        let info = catalog::find(fact).unwrap();
        case.known.insert(fact, value.to_string());
        case.facts.insert_value(
            &subject(info.scope),
            info,
            Reading::known(value, Source::file("x")),
        );
        case
    }

    fn on_kernels(&self) -> Vec<Self> {
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
        kernels().into_iter().map(on).collect()
    }

    fn on_file_systems(&self) -> Vec<Self> {
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

    fn with_tools(&self, tool: &'static str) -> Vec<Self> {
        versions(tool)
            .into_iter()
            .map(|version| self.with(tool, Value::Version(version)))
            .collect()
    }

    /// Whether it is left open that a rule applies here.
    fn allows(&self, rule: &Rule) -> bool {
        let finding = evaluate_rule(
            rule,
            &self.facts,
            &subject(rule.scope),
            EvaluationOptions {
                live: true,
                traced: false,
            },
        );
        finding.outcome != Outcome::DoesNotApply
    }

    /// The table's own ruling on the values of a setting; empty where it has none.
    fn effects(&self, setting: &str, values: &[String], beside: &RelatedAdvice<'_>) -> Vec<Effect> {
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
            compat::mkfs_feature(fs, name, tool.as_ref(), Some((kernel, vendor))).effect
        };
        let each = |ask: &dyn Fn(&str) -> Effect| {
            values.iter().map(|value| ask(value)).collect::<Vec<_>>()
        };
        match setting {
            "mount.options" | "boot.options" => {
                let made = beside.filesystem.unwrap_or("a new file system");
                let fs = if self.fs.is_empty() { made } else { self.fs };
                let rulings = compat::mount_options(fs, values, &[], kernel, vendor);
                rulings.into_iter().map(|ruling| ruling.effect).collect()
            }
            // Whether somebody built it in shows when it is mounted first, before anything is on
            // it.
            "filesystem" => each(
                &|fs| match compat::file_system_if_rebuilt(fs, kernel, vendor).effect {
                    Effect::Unknown if LOADED.contains(&fs) => Effect::Ok,
                    effect => effect,
                },
            ),
            "block.scheduler" => {
                each(&|name| compat::scheduler_support(name, kernel, vendor).effect)
            }
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

/// The machines that differ in the facts that a setting's validity depends on.
fn cases(setting: &str) -> Vec<Case> {
    let all =
        |cases: Vec<Case>, more: &dyn Fn(&Case) -> Vec<Case>| cases.iter().flat_map(more).collect();
    let start = vec![Case::new()];
    match setting {
        "mount.options" | "boot.options" => {
            all(all(start, &Case::on_kernels), &Case::on_file_systems)
        }
        "filesystem" | "mkfs.features" | "ext4.fast_commit" => {
            let kernels: Vec<Case> = all(start, &Case::on_kernels);
            let tools = [
                "e2fsprogs.version",
                "xfsprogs.version",
                "btrfsprogs.version",
            ];
            tools
                .into_iter()
                .flat_map(|tool| all(kernels.clone(), &|case| case.with_tools(tool)))
                .collect()
        }
        "block.scheduler" => all(start, &Case::on_kernels),
        _ => start,
    }
}

/// The values that a piece of advice gives, each set by itself; a fact may hold any, also one that
/// nobody has heard of.
fn given(spec: &AdviceSpec) -> Vec<Vec<String>> {
    match &spec.change {
        ChangeSpec::Fixed(change) if change.values().is_empty() => Vec::new(),
        ChangeSpec::Fixed(change) => vec![change.values().to_vec()],
        ChangeSpec::SetFrom(fact) | ChangeSpec::AddFrom(fact) => match fact.kind {
            ValueKind::Choice(words) => words.iter().map(|word| vec![(*word).to_owned()]).collect(),
            _ => vec![vec!["unheard-of".to_owned()]],
        },
        ChangeSpec::RemoveFrom(_) => Vec::new(),
    }
}

/// The rule as far as it decides about this advice.
fn conditions(rule: &Rule, spec: &AdviceSpec) -> Rule {
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

/// Whether a kernel or a tool is what takes a setting.
fn is_ours(spec: &AdviceSpec) -> bool {
    !["pg", "mysql"].contains(&spec.setting.name.split('.').next().unwrap())
}

/// The rule's other advice.
fn beside(rule: &Rule) -> (Option<String>, Vec<String>) {
    let fixed = |setting: &'static str| {
        let of = rule
            .advise
            .iter()
            .filter(move |spec| spec.setting.name == setting);
        of.filter_map(|spec| match &spec.change {
            ChangeSpec::Fixed(change) => Some(change.values().to_vec()),
            _ => None,
        })
    };
    (
        fixed("filesystem").flatten().next(),
        fixed("mkfs.features").flatten().collect(),
    )
}

fn guarded(
    setting: &str,
    values: &[String],
    beside: &RelatedAdvice<'_>,
    case: &Case,
) -> Result<(), String> {
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let setting = settings::find(setting).unwrap();
    compat::check_advice_with(
        setting,
        &values,
        beside,
        &case.facts,
        &subject(setting.scope),
    )
}

#[test]
fn what_comes_out_for_any_version_is_what_that_version_accepts() {
    let rules = RuleSet::builtin();
    let mut cache: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    let (mut wrong, mut never, mut seen) = (Vec::new(), Vec::new(), 0);
    for rule in rules.rules() {
        let (filesystem, features) = beside(rule);
        let beside = RelatedAdvice {
            filesystem: filesystem.as_deref(),
            features: &features,
        };
        for spec in rule.advise.iter().filter(|spec| is_ours(spec)) {
            let setting = spec.setting.name;
            let open = cache
                .entry(setting.to_owned())
                .or_insert_with(|| cases(setting));
            let bare = conditions(rule, spec);
            let mut asked = BTreeSet::new();
            facts_of(&bare.when, &mut asked);
            // Cases that differ in nothing that the rule asks of are one to it.
            let mut allowed: BTreeMap<Vec<String>, bool> = BTreeMap::new();
            let mut open: Vec<&Case> = open.iter().collect();
            open.retain(|case| {
                let known = asked
                    .iter()
                    .map(|fact| case.known.get(fact).cloned().unwrap_or_default())
                    .collect();
                *allowed.entry(known).or_insert_with(|| case.allows(&bare))
            });
            for values in given(spec) {
                let mut out = 0;
                for case in &open {
                    seen += 1;
                    if guarded(setting, &values, &beside, case).is_err() {
                        continue;
                    }
                    out += 1;
                    let effects = case.effects(setting, &values, &beside);
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
fn what_the_guard_lets_pass_unasked_is_known_and_has_its_reason() {
    let rules = RuleSet::builtin();
    let nothing_known = Case::new();
    let nothing_beside = RelatedAdvice::default();
    let passes = |spec: &&AdviceSpec| {
        let unasked =
            |values| guarded(spec.setting.name, values, &nothing_beside, &nothing_known).is_ok();
        given(spec).iter().any(|values| unasked(values))
    };
    let specs = rules.rules().iter().flat_map(|rule| &rule.advise);
    let passing: BTreeSet<&str> = specs
        .filter(|spec| is_ours(spec))
        .filter(passes)
        .map(|spec| spec.setting.name)
        .collect();
    let listed: BTreeSet<&str> = NOBODY_REFUSES.iter().map(|(setting, _)| *setting).collect();
    assert_eq!(passing, listed);
}
