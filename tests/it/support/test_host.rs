//! A test host as facts: /data on ext4 on sda1 on sda. Every fact can be replaced by name: `?`
//! makes a fact unknown, `~word` marks the value as stated by the user.

use walwise::session::Session;
use walwise_judge::durability::{Verdict, VerdictCaps, judge_targets};
use walwise_judge::rules::RuleSet;
use walwise_model::facts::catalog;
use walwise_model::facts::{FactRow, FactSet, Reading, Scope, Source, Subject, Value, ValueKind};
use walwise_model::version::Version;
use walwise_report::Report;

#[derive(Clone, Debug)]
pub struct TestHost {
    pub facts: FactSet,
}

pub fn data_subject() -> Subject {
    Subject::target("/data")
}

pub fn subject_of_scope(scope: Scope) -> Subject {
    match scope {
        Scope::Host => Subject::host(),
        Scope::Device => Subject::device("sda"),
        Scope::Mount => Subject::mount("/data"),
        Scope::Boot => Subject::boot("/data"),
        Scope::Cluster => Subject::cluster("/data"),
        Scope::Target => data_subject(),
    }
}

impl TestHost {
    /// Creates a machine with ext4 and barriers on a SATA disk that reports a volatile cache, on
    /// bare metal, without a server.
    pub fn new_with_volatile_cache() -> Self {
        let mount = Subject::mount("/data");
        let mut machine = Self {
            facts: FactSet::default(),
        }
        .with_mount_on_disk("/data", "sda1", "sda");
        machine
            .facts
            .set_fact_link(&mount, &Subject::device("sda1"));
        for (fact, word) in [
            ("target.kind", "directory"),
            ("target.path", "/data"),
            ("host.seen_by", "host"),
            ("host.virtualisation", "none"),
            ("host.container", "none"),
            ("mount.class", "block"),
            ("mount.fstype", "ext4"),
            ("device.ephemeral", "false"),
            ("kernel.version", "6.1.0"),
            ("mount.barrier", "on"),
            ("ext4.journal", "true"),
            ("ext4.fast_commit", "false"),
            ("device.kind", "disk"),
            ("device.transport", "sata"),
            ("device.write_cache", "write back"),
            ("device.cache_type", "write back"),
        ] {
            machine.set_fact(fact, word);
        }
        machine
    }

    /// Like [`Self::plain`], with a RAID controller that protects its cache, and with a
    /// measurement. Only such a machine can get advice to remove flushes.
    pub fn new_with_protected_cache() -> Self {
        let mut machine = Self::new_with_volatile_cache();
        for (fact, word) in [
            ("kernel.version", "6.1.0"),
            ("kernel.vendor", "debian"),
            ("device.transport", "megaraid"),
            ("controller.battery", "healthy"),
            ("controller.policy", "write back"),
            ("controller.policy_in_force", "write back"),
            ("controller.on_battery_failure", "write through"),
            ("controller.disk_cache", "off"),
            ("probe.flush_cost", "40"),
            ("probe.commit", "100"),
        ] {
            machine.set_fact(fact, word);
        }
        machine
    }

    #[must_use]
    pub fn with_cluster(mut self) -> Self {
        self.facts
            .set_fact_link(&data_subject(), &Subject::cluster("/data"));
        self.with_fact("cluster.kind", "postgres")
            .with_fact("pg.fsync", "true")
            .with_fact("pg.synchronous_commit", "on")
            .with_fact("pg.synchronous_commit_overrides", "")
            .with_fact("pg.full_page_writes", "true")
            .with_fact("pg.fsync_disabled_by", "none")
    }

    fn with_mount_on_disk(mut self, point: &str, part: &str, disk: &str) -> Self {
        let (mount, part) = (Subject::mount(point), Subject::device(part));
        self.facts.add_layer_below(&data_subject(), &mount);
        self.facts.set_fact_link(&data_subject(), &mount);
        self.facts.add_layer_below(&mount, &part);
        self.facts.add_layer_below(&part, &Subject::device(disk));
        self.set_fact_of(&part, "device.kind", "partition");
        self
    }

    #[must_use]
    pub fn with_layer(self, kind: &str) -> Self {
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
        let (mount, top) = (Subject::mount("/data"), Subject::device("top"));
        facts.add_layer_below(&data_subject(), &mount);
        facts.set_fact_link(&data_subject(), &mount);
        facts.set_fact_link(&mount, &top);
        facts.add_layer_below(&mount, &top);
        facts.add_layer_below(&top, &Subject::device("sda"));
        let mut machine = Self { facts };
        machine.set_fact_of(&top, "device.kind", kind);
        machine
    }

    #[must_use]
    pub fn with_fact(mut self, fact: &str, word: &str) -> Self {
        self.set_fact(fact, word);
        self
    }

    /// Sets a fact of the only possible subject of its scope; a device fact is set on the disk.
    pub fn set_fact(&mut self, fact: &str, word: &str) {
        self.set_fact_of(
            &subject_of_scope(
                catalog::find_by_name(fact)
                    .unwrap_or_else(|| panic!("no fact {fact}"))
                    .scope,
            ),
            fact,
            word,
        );
    }

    pub fn set_fact_of(&mut self, of: &Subject, fact: &str, word: &str) {
        // A new layer starts with healthy state, which later words may change.
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
                    id: "commit".to_owned(),
                },
            ),
            None => (word, Source::from_file("/a/file")),
        };
        let list = info.kind.is_list();
        let words: Vec<&str> = if list {
            word.split_terminator(',').collect()
        } else {
            vec![word]
        };
        assert!(
            words
                .iter()
                .all(|word| catalog::is_allowed_word(info, word)),
            "{fact} is never {word}"
        );
        let value = match info.kind {
            ValueKind::Bool => Value::Bool(word.parse().unwrap()),
            ValueKind::Count | ValueKind::Bytes => Value::Whole(word.parse().unwrap()),
            ValueKind::Micros | ValueKind::Number => Value::Number(word.parse().unwrap()),
            ValueKind::Version => Value::Version(Version::parse(word).unwrap()),
            _ if list => Value::List(words.into_iter().map(str::to_owned).collect()),
            _ => Value::Text(word.to_owned()),
        };
        self.facts
            .insert_untyped_value(of, info, Reading::known(value, source));
    }

    pub fn verdict(&self) -> Verdict {
        let mut facts = self.facts.clone();
        judge_targets(&mut facts, true, &VerdictCaps::default())
            .into_iter()
            .find(|verdict| verdict.target == data_subject())
            .unwrap()
    }

    pub fn report(&self, live: bool) -> Report {
        Session::new(self.facts.clone(), RuleSet::builtin(), live).build_report()
    }
}
