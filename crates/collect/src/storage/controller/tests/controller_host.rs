use super::super::samples::*;
use super::super::{REPORTED_FACTS, collect_facts};
use crate::collector::Request;
use crate::facts::catalog::{device, host};
use crate::facts::{FactSet, KeyInfo, Source, Subject};
use crate::host::{Question, Tool};
use crate::testing::FakeHost;

#[derive(Clone)]
pub struct ControllerHost {
    pub driver: &'static str,
    pub model: &'static str,
    pub address: &'static str,
    pub wwid: &'static str,
    pub answers: Vec<(Tool, &'static str, String)>,
}

pub const ALL: &str = "/cALL show all J nolog";
pub const VOLUMES: &str = "/cALL/vALL show all J nolog";

impl ControllerHost {
    pub fn storcli() -> Self {
        Self {
            driver: "megaraid_sas",
            model: "AVAGO MR9361-8i",
            address: "0:2:0:0",
            wwid: "naa.600605b00d1234a02b3c4d5e6f708192",
            answers: vec![
                (Tool::Storcli, ALL, STORCLI_ALL.to_owned()),
                (Tool::Storcli, VOLUMES, STORCLI_VOLUMES.to_owned()),
            ],
        }
    }

    pub fn storcli_tables(part: &'static str, table: &str) -> Self {
        let mut machine = Self::storcli();
        let without = STORCLI_ALL.replace("\"Cachevault_Info\"", "\"Other\"");
        machine.answers[0].2 = without;
        machine
            .answers
            .push((Tool::Storcli, part, table.to_owned()));
        machine
    }

    pub fn megacli() -> Self {
        Self {
            answers: vec![
                (
                    Tool::MegaCli,
                    "-LDInfo -Lall -aALL -NoLog",
                    MEGACLI_VOLUMES.to_owned(),
                ),
                (
                    Tool::MegaCli,
                    "-AdpBbuCmd -GetBbuStatus -aALL -NoLog",
                    MEGACLI_BATTERY.to_owned(),
                ),
            ],
            ..Self::storcli()
        }
    }

    pub fn ssacli() -> Self {
        Self {
            driver: "hpsa",
            model: "HP LOGICAL VOLUME",
            address: "0:1:0:0",
            wwid: "naa.600508b1001c7a6baeb3d4dcf5a40001",
            answers: vec![
                (
                    Tool::Ssacli,
                    "ctrl all show detail",
                    SSACLI_DETAIL.to_owned(),
                ),
                (
                    Tool::Ssacli,
                    "ctrl slot=0 ld all show detail",
                    SSACLI_VOLUMES.to_owned(),
                ),
            ],
        }
    }

    pub fn arcconf() -> Self {
        Self {
            driver: "aacraid",
            model: "ASR8405 data",
            address: "0:0:0:0",
            wwid: "t10.Adaptec data 12345678",
            answers: vec![(Tool::Arcconf, "getconfig 1 nologs", ARCCONF.to_owned())],
        }
    }

    pub fn storcli2() -> Self {
        Self {
            driver: "mpi3mr",
            model: "BROADCOM MR9660-16i",
            address: "0:0:1:0",
            wwid: "naa.600062b220ab004069fa000000ce7e62",
            answers: vec![
                (
                    Tool::Storcli2,
                    "/call show all nolog J",
                    STORCLI2_ALL.to_owned(),
                ),
                (
                    Tool::Storcli2,
                    "/call/vall show all nolog J",
                    STORCLI2_VOLUMES.to_owned(),
                ),
            ],
        }
    }

    pub fn smartraid() -> Self {
        Self {
            driver: "smartpqi",
            model: "Adaptec LOGICAL VOLUME",
            address: "0:1:0:0",
            wwid: "naa.600508b1001c50cdc910104454af0042",
            answers: vec![(Tool::Arcconf, "getconfig 1 nologs", SMARTRAID.to_owned())],
        }
    }

    pub fn arcconf_with_two_volumes(address: &'static str) -> Self {
        Self {
            address,
            answers: vec![(Tool::Arcconf, "getconfig 1 nologs", ARCCONF_TWO.to_owned())],
            ..Self::arcconf()
        }
    }

    pub fn one_host_per_tool_output() -> Vec<Self> {
        vec![
            Self::storcli(),
            Self::storcli_tables("/c0/cv show status nolog", STORCLI_FLASH),
            Self::storcli_tables("/c0/bbu show status nolog", STORCLI_BATTERY),
            Self::megacli(),
            Self::ssacli(),
            Self::arcconf(),
            Self::arcconf_with_two_volumes("0:0:0:0"),
            Self::storcli2(),
            Self::smartraid(),
        ]
    }

    pub fn with_text_replaced(mut self, old: &str, new: &str) -> Self {
        assert!(
            self.answers.iter().any(|(.., answer)| answer.contains(old)),
            "nothing says {old}"
        );
        for (.., answer) in &mut self.answers {
            *answer = answer.replace(old, new);
        }
        self
    }

    pub fn with_nth_answer(mut self, which: usize, answer: String) -> Self {
        self.answers[which].2 = answer;
        self
    }

    pub fn to_fake_host(&self) -> FakeHost {
        let place = format!(
            "../../devices/pci0000:00/0000:00:01.0/0000:02:00.0/host0/target0:2:0/{}/block/sda",
            self.address
        );
        let fake = FakeHost::default()
            .with_symlink("/sys/class/block/sda", &place)
            .with_file(
                "/sys/class/block/sda/device/wwid",
                format!("{}\n", self.wwid),
            );
        self.answers
            .iter()
            .fold(fake, |fake, (tool, command, answer)| {
                let arguments = command.split(' ').map(str::to_owned).collect();
                fake.with_answer(Question::Run(*tool, arguments), answer)
            })
    }

    pub fn input_facts(&self, privileged: bool) -> FactSet {
        let mut facts = FactSet::default();
        let disk = Subject::device("sda");
        facts.insert_known(
            &Subject::host(),
            &host::PRIVILEGED,
            privileged,
            Source::Assumed,
        );
        facts.insert_known(
            &disk,
            &device::KIND,
            device::DeviceKind::Disk,
            Source::Assumed,
        );
        facts.insert_known(
            &disk,
            &device::DRIVER,
            self.driver.to_owned(),
            Source::Assumed,
        );
        facts.insert_known(
            &disk,
            &device::MODEL,
            self.model.to_owned(),
            Source::Assumed,
        );
        facts.insert_known(&disk, &device::PATH, "/dev/sda".to_owned(), Source::Assumed);
        facts
    }

    pub fn collect_controller_facts(&self, request: &Request, privileged: bool) -> FactSet {
        let mut facts = self.input_facts(privileged);
        collect_facts(&self.to_fake_host(), request, &mut facts);
        facts
    }

    pub fn collected_fact_values(&self) -> [String; 5] {
        controller_fact_values(&self.collect_controller_facts(&Request::default(), true))
    }
}

/// The facts of sda: battery, policy, current policy, behaviour on battery failure, disk cache. `?`
/// stands for unknown.
pub fn controller_fact_values(facts: &FactSet) -> [String; 5] {
    let told = |key: &KeyInfo| {
        facts
            .reading(&Subject::device("sda"), key.id)
            .value()
            .map(ToString::to_string)
    };
    REPORTED_FACTS.map(|(key, _)| told(key).unwrap_or("?".to_owned()))
}

pub const HEALTHY: [&str; 5] = [
    "healthy",
    "write back",
    "write back",
    "write through",
    "off",
];
