//! Lists what the next kernel changes. The report of this host is compared with a report that
//! assumes the next kernel, distribution and tools.
//!
//! The section of a finding follows from the facts in its condition, so changed rules need no
//! change here.

mod boot;
mod boot_dependencies;
mod severity {

    use crate::model::upgrade::UpgradeItem;
    use walwise_judge::rules::Level;
    use walwise_model::facts::catalog::boot;
    use walwise_model::facts::{FactSet, Subject};

    /// An undecided item about a boot line, with the place and the severity of the line.
    pub fn boot_line_undecided_item(
        facts: &FactSet,
        line: &Subject,
        what: impl Into<String>,
    ) -> UpgradeItem {
        UpgradeItem {
            place: facts.value(line, &boot::WHERE),
            ..UpgradeItem::new_undecided(line, boot_line_severity(facts, line), what)
        }
    }

    /// Critical if the boot stops when this line's mount fails, warning if the boot continues.
    pub fn boot_line_severity(facts: &FactSet, line: &Subject) -> Level {
        let has = boot_options_test(facts, line);
        let by_itself = facts.value(line, &boot::AUTO) != Some(false);
        let mut continues = ["nofail", "_netdev", "x-systemd.automount"].into_iter();
        if is_root_line(facts, line) || by_itself && !continues.any(has) {
            Level::Critical
        } else {
            Level::Warning
        }
    }

    /// Returns a test for options of the boot line.
    pub fn boot_options_test(facts: &FactSet, line: &Subject) -> impl Fn(&str) -> bool + use<> {
        let options = facts.value(line, &boot::OPTIONS).unwrap_or_default();
        move |word| options.iter().any(|option| option == word)
    }

    pub fn is_root_line(facts: &FactSet, line: &Subject) -> bool {
        facts.value(line, &boot::POINT).as_deref() == Some("/")
    }
}
mod boot_needs;
mod filesystem_features;
mod kernel_parameters;
mod layers;
mod other_changes;
mod page_size;
mod unknown_line_properties;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::model::Report;
use super::model::upgrade::{BootOutcome, Upgrade, UpgradeItem, UpgradeSection};
use walwise_judge::compat::{self, KernelPart, Support};
use walwise_judge::rules::{Finding, Level, Outcome};
use walwise_model::facts::catalog::kernel;
use walwise_model::facts::{FactSet, Scope, Subject};
use walwise_model::version::Version;

/// The facts and kernels before and after the upgrade.
struct KernelChange<'f> {
    real: &'f FactSet,
    supposed: &'f FactSet,
    /// Version and vendor of the running kernel; `None` if unknown.
    now: Option<(Version, String)>,
    /// Version and vendor of the next kernel; `None` if unknown.
    then: Option<(Version, String)>,
    /// True if the kernel release is known and stays. An unchanged kernel supports everything in
    /// use.
    is_unchanged: bool,
    /// True if the same builder made both custom kernels; this builder is assumed to keep every
    /// feature in use.
    has_same_builder: bool,
}

impl<'f> KernelChange<'f> {
    fn new(real: &'f FactSet, supposed: &'f FactSet) -> Self {
        let kernel = |facts: &FactSet| {
            facts
                .host_value(&kernel::VERSION)
                .zip(facts.host_value(&kernel::VENDOR))
        };
        let release = real.host_value(&kernel::RELEASE);
        let (now, then) = (kernel(real), kernel(supposed));
        Self {
            is_unchanged: release.is_some() && release == supposed.host_value(&kernel::RELEASE),
            has_same_builder: now.as_ref().zip(then.as_ref()).is_some_and(
                |((now, by), (then, next_by))| {
                    compat::is_same_custom_builder((now, by), (then, next_by))
                },
            ),
            real,
            supposed,
            now,
            then,
        }
    }

    fn support(&self, part: KernelPart, name: &str) -> Support {
        match &self.then {
            Some((version, vendor)) => {
                compat::kernel_part_support(part, name, version, vendor, self.has_same_builder)
            }
            None => Support::unknown("The version of the new kernel is unknown."),
        }
    }

    /// An item about the next kernel's support for a driver or file system.
    fn unsupported_driver_item(
        &self,
        subject: &Subject,
        part: KernelPart,
        name: &str,
    ) -> Option<UpgradeItem> {
        let shown = match part {
            KernelPart::MdMetadata => format!("md metadata {name}"),
            _ => name.to_owned(),
        };
        UpgradeItem::from_support(
            subject,
            format!("the new kernel does not support {shown}"),
            format!("it is unknown whether the new kernel supports {shown}"),
            self.support(part, name),
        )
    }
}

impl Upgrade {
    /// Compares the reports before and after the upgrade; `supposed` is the report that assumes the
    /// upgrade.
    pub fn from_reports(real: &Report, supposed: &Report) -> Self {
        let kernels = KernelChange::new(&real.facts, &supposed.facts);
        let mut items = [
            boot::boot_line_finding_items(real, supposed),
            other_changes::changed_finding_items(real, supposed),
            other_changes::changed_verdict_items(real, supposed),
            other_changes::unmountable_mkfs_default_items(&kernels),
            other_changes::unsupported_disk_format_items(&kernels),
            filesystem_features::filesystem_feature_items(&kernels),
            unknown_line_properties::unknown_boot_line_property_items(supposed, &kernels),
            layers::storage_layer_items(&kernels),
            kernel_parameters::kernel_parameter_and_boot_device_items(&supposed.facts),
            page_size::page_size_items(&kernels),
        ]
        .concat();
        items.extend(boot_needs::items_for_lines_worse_than_device(
            &supposed.facts,
            &items,
        ));
        // A failing item cannot improve, so its improvements are left out. A boot line and its
        // mount share a name.
        let failing: BTreeSet<String> = items
            .iter()
            .filter(|item| item.answer == Some(BootOutcome::Fails))
            .map(|item| item.subject.name().to_owned())
            .collect();
        items.retain(|item| {
            item.part != UpgradeSection::Better
                || item.subject.scope() == Scope::Host
                || !failing.contains(item.subject.name())
        });
        items.sort_by(|a, b| item_sort_key(a).cmp(&item_sort_key(b)));
        items.dedup();
        let needs = boot_needs::list_boot_needs(&supposed.facts, &items);
        Self { items, needs }
    }
}

/// Decided items precede undecided ones of the same level. The line number is parsed, so that line
/// 9 precedes line 10.
fn item_sort_key(item: &UpgradeItem) -> impl Ord + '_ {
    let place = item.place.as_deref().unwrap_or_default();
    let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
    let line: u32 = line.parse().unwrap_or(0);
    (
        item.part,
        Reverse(item.level),
        item.undecided,
        file,
        line,
        &item.subject,
        &item.what,
        &item.rule,
    )
}

impl UpgradeItem {
    fn new_change(
        part: UpgradeSection,
        level: Level,
        subject: &Subject,
        what: impl Into<String>,
    ) -> Self {
        Self {
            part,
            level,
            subject: subject.clone(),
            place: None,
            what: what.into(),
            because: String::new(),
            fix: None,
            sources: Vec::new(),
            already: false,
            undecided: false,
            rule: None,
            certain_level: None,
            answer: None,
            name: None,
        }
    }

    fn new_undecided(subject: &Subject, level: Level, what: impl Into<String>) -> Self {
        Self {
            undecided: true,
            answer: Some(BootOutcome::CannotBeTold),
            ..Self::new_change(UpgradeSection::NotKnown, level, subject, what)
        }
    }

    fn new_critical_undecided(subject: &Subject, what: impl Into<String>) -> Self {
        Self::new_undecided(subject, Level::Critical, what)
    }

    /// A blocker for something that is refused, and an undecided item for something whose support
    /// is unknown. Both have the level `critical`.
    fn from_support(
        subject: &Subject,
        refused: String,
        unknown: String,
        ruling: Support,
    ) -> Option<Self> {
        let effect = ruling.effect;
        let item = |what| Self::new_critical_undecided(subject, what).with_support(ruling);
        if effect.is_refused() {
            return Some(item(refused).into_blocker());
        }
        effect.is_unknown().then(|| item(unknown))
    }

    fn with_reason(self, because: impl Into<String>) -> Self {
        Self {
            because: because.into(),
            ..self
        }
    }

    fn with_source(self, source: impl Into<String>) -> Self {
        Self {
            sources: vec![source.into()],
            ..self
        }
    }

    fn with_support(self, ruling: Support) -> Self {
        let item = self.with_reason(ruling.because);
        if ruling.source.is_empty() {
            item
        } else {
            item.with_source(ruling.source)
        }
    }

    fn with_name(self, name: String) -> Self {
        Self {
            name: Some(name),
            ..self
        }
    }

    fn into_blocker(self) -> Self {
        Self {
            part: UpgradeSection::Blocker,
            undecided: false,
            answer: Some(BootOutcome::Fails),
            ..self
        }
    }

    fn into_blocker_if(self, is_certain: bool) -> Self {
        if is_certain {
            self.into_blocker()
        } else {
            self
        }
    }
}

fn upgrade_item_from_finding(
    part: UpgradeSection,
    finding: &Finding,
    already: bool,
) -> UpgradeItem {
    let fix = finding
        .remedy
        .as_ref()
        .filter(|_| part != UpgradeSection::Better);
    UpgradeItem {
        because: finding.because.to_string(),
        fix: fix.map(|fix| fix.text.clone()),
        sources: finding.refs.to_vec(),
        already,
        undecided: is_undecided(finding),
        rule: Some(finding.rule.clone()),
        ..UpgradeItem::new_change(part, finding.level, &finding.subject, &finding.title)
    }
}

type FindingIndex<'r> = BTreeMap<(&'r str, &'r Subject), &'r Finding>;

fn index_findings(report: &Report) -> FindingIndex<'_> {
    report
        .findings
        .iter()
        .map(|finding| (finding_key(finding), finding))
        .collect()
}

fn finding_key(finding: &Finding) -> (&str, &Subject) {
    (&finding.rule, &finding.subject)
}

fn finding_applies(finding: &Finding) -> bool {
    finding.outcome == Outcome::Applies
}

fn is_undecided(finding: &Finding) -> bool {
    matches!(finding.outcome, Outcome::Undecided { .. })
}

fn is_about_boot_line(finding: &Finding) -> bool {
    finding.subject.scope() == Scope::Boot
}

fn finding_tests_fact(finding: &Finding, fact: &str) -> bool {
    finding.trace.as_deref().is_some_and(|trace| {
        let mut readings = trace.readings_of_all_tests().into_iter();
        readings.any(|one| one.fact == fact)
    })
}
