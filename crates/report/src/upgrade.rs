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
    pub(super) fn boot_line_undecided_item(
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
    pub(super) fn boot_line_severity(facts: &FactSet, line: &Subject) -> Level {
        let options = facts.value(line, &boot::OPTIONS).unwrap_or_default();
        let has = |word: &str| options.iter().any(|option| option == word);
        let is_root = facts.value(line, &boot::POINT).as_deref() == Some("/");
        let by_itself = facts.value(line, &boot::AUTO) != Some(false);
        let waits = by_itself
            && !["nofail", "_netdev", "x-systemd.automount"]
                .into_iter()
                .any(has);
        if is_root || waits {
            Level::Critical
        } else {
            Level::Warning
        }
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
use std::collections::BTreeMap;

use super::model::Report;
use super::model::upgrade::{BootOutcome, Upgrade, UpgradeItem, UpgradeSection};
use walwise_judge::compat::{self, Support};
use walwise_judge::rules::{Finding, Level, Outcome};
use walwise_model::facts::catalog::kernel;
use walwise_model::facts::{FactSet, Scope, Subject};
use walwise_model::version::Version;

impl Upgrade {
    /// Compares the reports before and after the upgrade; `supposed` is the report that assumes the
    /// upgrade.
    pub fn from_reports(real: &Report, supposed: &Report) -> Self {
        let mut items = boot::boot_line_finding_items(real, supposed);
        items.extend(other_changes::other_change_items(real, supposed));
        items.extend(filesystem_features::filesystem_feature_items(
            &real.facts,
            &supposed.facts,
        ));
        items.extend(unknown_line_properties::unknown_boot_line_property_items(
            real, supposed,
        ));
        items.extend(layers::storage_layer_items(&real.facts, &supposed.facts));
        items.extend(kernel_parameters::kernel_parameter_and_boot_device_items(
            &supposed.facts,
        ));
        items.extend(page_size::page_size_items(&real.facts, &supposed.facts));
        items.extend(boot_needs::severity_raising_items(&supposed.facts, &items));
        // A failing item cannot improve, so its improvements are left out. A boot line and its
        // mount share a name.
        let fails = |item: &&UpgradeItem| item.answer == Some(BootOutcome::Fails);
        let failing: Vec<String> = items
            .iter()
            .filter(fails)
            .map(|item| item.subject.name().to_owned())
            .collect();
        items.retain(|item| {
            item.part != UpgradeSection::Better
                || item.subject.scope() == Scope::Host
                || !failing.iter().any(|name| name == item.subject.name())
        });
        items.sort_by(|a, b| item_sort_key(a).cmp(&item_sort_key(b)));
        items.dedup();
        let needs = boot_needs::list_boot_needs(&supposed.facts, &items);
        Self { items, needs }
    }
}

/// Sorts by section, level and certainty, then by file and line number.
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

    /// A blocker for something that is refused, and an undecided item for something whose support
    /// is unknown.
    fn from_support(
        subject: &Subject,
        level: Level,
        refused: String,
        unknown: String,
        ruling: Support,
    ) -> Option<Self> {
        let effect = ruling.effect;
        let item = |what| Self::new_undecided(subject, level, what).with_support(ruling);
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
    let trace = finding.trace.as_deref();
    trace.is_some_and(|trace| {
        trace
            .readings_of_all_tests()
            .iter()
            .any(|one| one.fact == fact)
    })
}

fn kernel_version_and_vendor(facts: &FactSet) -> Option<(Version, String)> {
    let host = Subject::host();
    facts
        .value(&host, &kernel::VERSION)
        .zip(facts.value(&host, &kernel::VENDOR))
}

/// True if the same builder made both custom kernels; this builder is assumed to keep every
/// feature in use.
fn is_same_custom_kernel_builder(
    now: Option<&(Version, String)>,
    then: Option<&(Version, String)>,
) -> bool {
    now.zip(then).is_some_and(|((now, by), (then, next_by))| {
        compat::is_same_custom_builder((now, by), (then, next_by))
    })
}
