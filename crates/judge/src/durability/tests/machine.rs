//! A host to vary: /data on sda1 on sda. Every fact can be set by name and word; `?` makes it
//! unknown.

use crate::durability::{Caps, Verdict, judge_targets};
use crate::facts::catalog::{self, target};
use crate::facts::{
    FactRow, FactSet, Reading, Scope, Source, Subject, UnknownReason, Value, testing,
};

#[derive(Clone, Debug)]
pub struct Machine {
    pub facts: FactSet,
    pub live: bool,
}

pub fn data() -> Subject {
    Subject::target("/data")
}

/// The subject of a fact of this scope on the plain host.
fn subject(scope: Scope) -> Subject {
    match scope {
        Scope::Host => Subject::host(),
        Scope::Device => Subject::device("sda"),
        Scope::Mount => Subject::mount("/data"),
        Scope::Boot => Subject::boot("/data"),
        Scope::Cluster => Subject::cluster("/data"),
        Scope::Target => data(),
    }
}

impl Machine {
    /// Only the stack: target, mount, partition, disk.
    pub fn bare() -> Self {
        let mut facts = FactSet::default();
        let (mount, part, disk) = (
            Subject::mount("/data"),
            Subject::device("sda1"),
            Subject::device("sda"),
        );
        facts.add_edge(&data(), &mount);
        facts.link(&data(), &mount);
        facts.add_edge(&mount, &part);
        facts.add_edge(&part, &disk);
        Self { facts, live: true }
            .with("target.kind", "directory")
            .with("target.path", "/data")
            .on(&part, "device.kind", "partition")
    }

    /// A truthful host: ext4 with barriers on a SATA disk whose volatile cache every layer reports.
    pub fn plain() -> Self {
        Self::bare()
            .with("host.seen_by", "host")
            .with("mount.class", "block")
            .with("mount.fstype", "ext4")
            .with("mount.barrier", "on")
            .with("ext4.journal", "true")
            .with("device.kind", "disk")
            .with("device.transport", "sata")
            .with("device.write_cache", "write back")
            .with("device.cache_type", "write back")
    }

    /// A host on which the interlock opens.
    pub fn protected() -> Self {
        Self::plain()
            .with("kernel.version", "6.1.0")
            .with("kernel.vendor", "debian")
            .with("device.transport", "megaraid")
            .with("controller.battery", "healthy")
            .with("controller.policy", "write back")
            .with("controller.policy_in_force", "write back")
            .with("controller.on_battery_failure", "write through")
            .with("controller.disk_cache", "off")
            .with("probe.flush_cost", "40")
            .with("probe.commit", "100")
    }

    /// Sets a fact of the plain host.
    pub fn with(self, fact: &str, word: &str) -> Self {
        let info = catalog::find(fact).unwrap_or_else(|| panic!("no fact {fact}"));
        self.on(&subject(info.scope), fact, word)
    }

    /// Sets a fact of any subject: `?` is unknown, `~word` is assumed.
    pub fn on(mut self, of: &Subject, fact: &str, word: &str) -> Self {
        self.insert_text(of, fact, word);
        self
    }

    /// Sets a fact of the plain host in place.
    pub fn set(&mut self, fact: &str, word: &str) {
        let info = catalog::find(fact).unwrap_or_else(|| panic!("no fact {fact}"));
        self.insert_text(&subject(info.scope), fact, word);
    }

    /// Sets a fact of any subject in place. A layer starts with a healthy state.
    pub fn insert_text(&mut self, of: &Subject, fact: &str, word: &str) {
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
            self.insert_text(of, fact, word);
        }
        let info = catalog::find(fact).unwrap_or_else(|| panic!("no fact {fact}"));
        if word == "?" {
            self.facts
                .insert_value(of, info, Reading::unknown(UnknownReason::Denied, "a test"));
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
            None => (word, Source::file("/a/file")),
        };
        self.facts.insert_value(
            of,
            info,
            Reading::known(testing::parse_value(info, word), source),
        );
        if (fact, word) == ("device.kind", "disk") {
            self.complete(of);
        }
    }

    /// What a disk's collectors always record: persistent, no warnings, no capacitor page.
    fn complete(&mut self, disk: &Subject) {
        self.insert_text(disk, "device.ephemeral", "false");
        for fact in ["nvme.critical_warning", "nvme.capacitor"] {
            let info = catalog::find(fact).unwrap();
            self.facts.insert_value(
                disk,
                info,
                Reading::unknown(UnknownReason::Absent, "a test"),
            );
        }
    }

    /// Puts one subject on another.
    pub fn stand(mut self, top: &Subject, base: &Subject) -> Self {
        self.facts.add_edge(top, base);
        self
    }

    /// The same facts without any stack.
    pub fn unstacked(self) -> Self {
        let mut facts = FactSet::default();
        for FactRow {
            subject,
            fact,
            reading,
        } in self.facts.rows()
        {
            facts.insert_value(subject, catalog::find(fact).unwrap(), reading.clone());
        }
        Self { facts, ..self }
    }

    /// A fact of the plain host.
    pub fn fact(&self, fact: &str) -> Option<&Value> {
        let info = catalog::find(fact).unwrap();
        self.facts
            .reading_by_name(&subject(info.scope), fact)
            .value()
    }

    /// A PostgreSQL cluster in /data.
    pub fn with_cluster(mut self) -> Self {
        let cluster = Subject::cluster("/data");
        self.facts.link(&data(), &cluster);
        self.with("pg.fsync", "true")
            .with("pg.synchronous_commit", "on")
            .with("pg.synchronous_commit_overrides", "")
            .with("pg.full_page_writes", "true")
            .with("pg.fsync_disabled_by", "none")
    }

    pub fn verdict(&self) -> Verdict {
        self.clone().judged().1
    }

    /// The verdict of /data in one word.
    pub fn standing_word(&self) -> &'static str {
        self.verdict().standing.as_str()
    }

    /// A fact of /data after judging, `?` when unknown.
    pub fn concludes(&self, fact: &str) -> String {
        let [value] = self.concludes_all([fact]);
        value
    }

    /// Verdict, cache and flush of /data.
    pub fn judgement(&self) -> [String; 3] {
        self.concludes_all(["target.verdict", "target.cache", "target.flush"])
    }

    fn concludes_all<const N: usize>(&self, of: [&str; N]) -> [String; N] {
        let (facts, _) = self.clone().judged();
        of.map(|fact| {
            let info = catalog::find(fact).unwrap();
            facts
                .reading_by_name(&subject(info.scope), fact)
                .value()
                .map_or("?".to_owned(), ToString::to_string)
        })
    }

    pub fn interlock(&self) -> Reading<bool> {
        self.clone().judged().0.get(&data(), &target::INTERLOCK)
    }

    fn judged(mut self) -> (FactSet, Verdict) {
        let live = self.live;
        let verdict = judge_targets(&mut self.facts, live, &Caps::default())
            .into_iter()
            .find(|v| v.target == data())
            .unwrap();
        (self.facts, verdict)
    }
}
