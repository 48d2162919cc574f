//! A machine to vary, as facts: /data on ext4 on sda1 on sda, every fact by name, each replaceable
//! by a word. `?` makes a fact unknown, `~word` states it.

use walwise::session::Session;
use walwise_judge::durability::{Caps, Verdict, judge_targets};
use walwise_judge::rules::RuleSet;
use walwise_model::facts::catalog;
use walwise_model::facts::{
    FactRow, FactSet, Reading, Scope, Source, Subject, UnknownReason, Value, ValueKind,
};
use walwise_model::version::Version;
use walwise_report::Report;

/// A machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its facts.
    pub facts: FactSet,
}

/// `/data`.
pub fn data() -> Subject {
    Subject::target("/data")
}

/// The subject that a fact of this scope is about.
pub fn subject(scope: Scope) -> Subject {
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
    /// ext4 with barriers on a SATA disk that admits its volatile cache, on bare metal, without a
    /// server.
    pub fn plain() -> Self {
        let mount = Subject::mount("/data");
        let mut machine = Self {
            facts: FactSet::default(),
        }
        .on_disk("/data", "sda1", "sda");
        machine.facts.link(&mount, &Subject::device("sda1"));
        for (fact, word) in [
            ("target.kind", "directory"),
            ("target.path", "/data"),
            ("host.seen_by", "host"),
            ("host.virtualisation", "none"),
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
            machine.set(fact, word);
        }
        machine
    }

    /// The same behind a RAID controller that protects its cache, measured: removing flushes could
    /// be offered here.
    pub fn protected() -> Self {
        let mut machine = Self::plain();
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
            machine.set(fact, word);
        }
        machine
    }

    /// With a PostgreSQL cluster in /data.
    #[must_use]
    pub fn with_cluster(mut self) -> Self {
        self.facts.link(&data(), &Subject::cluster("/data"));
        self.with("cluster.kind", "postgres")
            .with("pg.fsync", "true")
            .with("pg.synchronous_commit", "on")
            .with("pg.synchronous_commit_overrides", "")
            .with("pg.full_page_writes", "true")
            .with("pg.fsync_disabled_by", "none")
    }

    /// Stands the target on a mount, a partition and a disk.
    fn on_disk(mut self, point: &str, part: &str, disk: &str) -> Self {
        let (mount, part) = (Subject::mount(point), Subject::device(part));
        self.facts.add_edge(&data(), &mount);
        self.facts.link(&data(), &mount);
        self.facts.add_edge(&mount, &part);
        self.facts.add_edge(&part, &Subject::device(disk));
        self.put(&part, "device.kind", "partition");
        self
    }

    /// The same facts with a device of this kind between file system and disk.
    #[must_use]
    pub fn over(self, kind: &str) -> Self {
        let mut facts = FactSet::default();
        for FactRow {
            subject,
            fact,
            reading,
        } in self.facts.rows()
        {
            facts.insert_value(subject, catalog::find(fact).unwrap(), reading.clone());
        }
        let (mount, top) = (Subject::mount("/data"), Subject::device("top"));
        facts.add_edge(&data(), &mount);
        facts.link(&data(), &mount);
        facts.link(&mount, &top);
        facts.add_edge(&mount, &top);
        facts.add_edge(&top, &Subject::device("sda"));
        let mut machine = Self { facts };
        machine.put(&top, "device.kind", kind);
        machine
    }

    /// With another word for a fact.
    #[must_use]
    pub fn with(mut self, fact: &str, word: &str) -> Self {
        self.set(fact, word);
        self
    }

    /// Sets a fact of the one subject that it can be about here; one of a device is about the disk.
    pub fn set(&mut self, fact: &str, word: &str) {
        self.put(
            &subject(
                catalog::find(fact)
                    .unwrap_or_else(|| panic!("no fact {fact}"))
                    .scope,
            ),
            fact,
            word,
        );
    }

    /// Sets a fact of any subject.
    pub fn put(&mut self, of: &Subject, fact: &str, word: &str) {
        // A layer comes with a state that is fine, which later words may change.
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
            self.put(of, fact, word);
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
                    id: "commit".to_owned(),
                },
            ),
            None => (word, Source::file("/a/file")),
        };
        let list = info.kind.is_list();
        let words: Vec<&str> = if list {
            word.split_terminator(',').collect()
        } else {
            vec![word]
        };
        assert!(
            words.iter().all(|word| catalog::allows(info, word)),
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
            .insert_value(of, info, Reading::known(value, source));
    }

    /// The verdict of /data.
    pub fn verdict(&self) -> Verdict {
        let mut facts = self.facts.clone();
        judge_targets(&mut facts, true, &Caps::default())
            .into_iter()
            .find(|verdict| verdict.target == data())
            .unwrap()
    }

    /// The report of the whole program about it.
    pub fn report(&self, live: bool) -> Report {
        Session::new(self.facts.clone(), RuleSet::builtin(), live).report()
    }
}
