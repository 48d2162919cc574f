//! A host for tests: /data on sda1 on sda. Every fact can be set by name, as text; `?` makes a fact
//! unknown.

use crate::durability::{Verdict, VerdictCaps, judge_targets};
use crate::facts::catalog::{self, target};
use crate::facts::{FactRow, FactSet, Reading, Scope, Source, Subject, Value, testing};

#[derive(Clone, Debug)]
pub struct TestHost {
    pub facts: FactSet,
    pub live: bool,
}

pub fn data_target() -> Subject {
    Subject::target("/data")
}

fn default_subject(scope: Scope) -> Subject {
    match scope {
        Scope::Host => Subject::host(),
        Scope::Device => Subject::device("sda"),
        Scope::Mount => Subject::mount("/data"),
        Scope::Boot => Subject::boot("/data"),
        Scope::Cluster => Subject::cluster("/data"),
        Scope::Target => data_target(),
    }
}

impl TestHost {
    pub fn with_stack_only() -> Self {
        let mut facts = FactSet::default();
        let (mount, part, disk) = (
            Subject::mount("/data"),
            Subject::device("sda1"),
            Subject::device("sda"),
        );
        facts.add_layer_below(&data_target(), &mount);
        facts.set_fact_link(&data_target(), &mount);
        facts.add_layer_below(&mount, &part);
        facts.add_layer_below(&part, &disk);
        Self { facts, live: true }
            .with_fact("target.kind", "directory")
            .with_fact("target.path", "/data")
            .with_fact("host.container", "none")
            .with_fact_of(&part, "device.kind", "partition")
    }

    /// A host with ext4 and barriers, on a SATA disk whose volatile cache every layer reports.
    pub fn with_volatile_disk() -> Self {
        Self::with_stack_only()
            .with_fact("host.seen_by", "host")
            .with_fact("mount.class", "block")
            .with_fact("mount.fstype", "ext4")
            .with_fact("mount.barrier", "on")
            .with_fact("ext4.journal", "true")
            .with_fact("device.kind", "disk")
            .with_fact("device.transport", "sata")
            .with_fact("device.write_cache", "write back")
            .with_fact("device.cache_type", "write back")
    }

    pub fn with_protected_cache() -> Self {
        Self::with_volatile_disk()
            .with_fact("kernel.version", "6.1.0")
            .with_fact("kernel.vendor", "debian")
            .with_fact("device.transport", "megaraid")
            .with_fact("controller.battery", "healthy")
            .with_fact("controller.policy", "write back")
            .with_fact("controller.policy_in_force", "write back")
            .with_fact("controller.on_battery_failure", "write through")
            .with_fact("controller.disk_cache", "off")
            .with_fact("probe.flush_cost", "40")
            .with_fact("probe.commit", "100")
    }

    pub fn with_fact(self, fact: &str, word: &str) -> Self {
        let info = catalog::find_by_name(fact).unwrap_or_else(|| panic!("no fact {fact}"));
        self.with_fact_of(&default_subject(info.scope), fact, word)
    }

    /// Sets a fact: `?` makes it unknown, and `~word` makes its value an assumption.
    pub fn with_fact_of(mut self, of: &Subject, fact: &str, word: &str) -> Self {
        self.set_fact_of(of, fact, word);
        self
    }

    pub fn set_fact(&mut self, fact: &str, word: &str) {
        let info = catalog::find_by_name(fact).unwrap_or_else(|| panic!("no fact {fact}"));
        self.set_fact_of(&default_subject(info.scope), fact, word);
    }

    /// Sets a fact from text. A new layer or file system also gets the state facts of a healthy
    /// one.
    pub fn set_fact_of(&mut self, of: &Subject, fact: &str, word: &str) {
        let state: &[(&str, &str)] = match (fact, word) {
            ("device.kind", "lvm" | "dm" | "multipath" | "dmraid" | "vdo") => {
                &[("dm.state", "fine")]
            }
            ("device.kind", "md") => &[("md.members", "")],
            ("mount.class", "zfs") => &[
                ("zfs.pool_state", "ONLINE"),
                ("zfs.damaged", "false"),
                ("zfs.devices", ""),
            ],
            _ => &[],
        };
        for (fact, word) in state {
            self.set_fact_of(of, fact, word);
        }
        let info = catalog::find_by_name(fact).unwrap_or_else(|| panic!("no fact {fact}"));
        if word == "?" {
            self.facts
                .insert_untyped_value(of, info, Reading::denied("a test"));
            return;
        }
        let (word, source) = match word.strip_prefix('~') {
            Some(word) => (word, Source::Assumed),
            None if fact.starts_with("probe.") => (
                word,
                Source::Probe {
                    id: "wal".to_owned(),
                },
            ),
            None => (word, Source::from_file("/a/file")),
        };
        self.facts.insert_untyped_value(
            of,
            info,
            Reading::known(testing::parse_value(info, word), source),
        );
        if (fact, word) == ("device.kind", "disk") {
            self.insert_default_disk_facts(of);
        }
    }

    fn insert_default_disk_facts(&mut self, disk: &Subject) {
        self.set_fact_of(disk, "device.ephemeral", "false");
        for fact in ["nvme.critical_warning", "nvme.capacitor"] {
            let info = catalog::find_by_name(fact).unwrap();
            self.facts
                .insert_untyped_value(disk, info, Reading::absent("a test"));
        }
    }

    pub fn with_layer_below(mut self, top: &Subject, base: &Subject) -> Self {
        self.facts.add_layer_below(top, base);
        self
    }

    pub fn without_stack(self) -> Self {
        let mut facts = FactSet::default();
        for FactRow {
            subject,
            fact,
            reading,
        } in self.facts.rows()
        {
            facts.insert_untyped_value(
                subject,
                catalog::find_by_name(fact).unwrap(),
                reading.clone(),
            );
        }
        Self { facts, ..self }
    }

    pub fn fact_value(&self, fact: &str) -> Option<&Value> {
        let info = catalog::find_by_name(fact).unwrap();
        self.facts
            .reading_by_name(&default_subject(info.scope), fact)
            .value()
    }

    pub fn with_postgres_cluster(mut self) -> Self {
        let cluster = Subject::cluster("/data");
        self.facts.set_fact_link(&data_target(), &cluster);
        self.with_fact("pg.fsync", "true")
            .with_fact("pg.synchronous_commit", "on")
            .with_fact("pg.synchronous_commit_overrides", "")
            .with_fact("pg.full_page_writes", "true")
            .with_fact("pg.fsync_disabled_by", "none")
    }

    pub fn verdict(&self) -> Verdict {
        self.clone().judge_data_target().1
    }

    pub fn verdict_name(&self) -> &'static str {
        self.verdict().standing.as_str()
    }

    pub fn derived_fact_text(&self, fact: &str) -> String {
        let [value] = self.derived_fact_texts([fact]);
        value
    }

    pub fn verdict_cache_and_flush(&self) -> [String; 3] {
        self.derived_fact_texts(["target.verdict", "target.cache", "target.flush"])
    }

    fn derived_fact_texts<const N: usize>(&self, of: [&str; N]) -> [String; N] {
        let (facts, _) = self.clone().judge_data_target();
        of.map(|fact| {
            let info = catalog::find_by_name(fact).unwrap();
            facts
                .reading_by_name(&default_subject(info.scope), fact)
                .value()
                .map_or("?".to_owned(), ToString::to_string)
        })
    }

    pub fn flush_removal_allowed_reading(&self) -> Reading<bool> {
        self.clone()
            .judge_data_target()
            .0
            .get(&data_target(), &target::FLUSH_REMOVAL_ALLOWED)
    }

    fn judge_data_target(mut self) -> (FactSet, Verdict) {
        let live = self.live;
        let verdict = judge_targets(&mut self.facts, live, &VerdictCaps::default())
            .into_iter()
            .find(|v| v.target == data_target())
            .unwrap();
        (self.facts, verdict)
    }
}
