//! Machines with one disk behind a controller, from the tool's answer to the facts; and the property that counts most:
//! whatever is taken out of an answer, nothing becomes safer than it was.

use proptest::prelude::*;
use serde_json::Value;

use super::samples::*;
use super::{COLLECTOR, WORDS};
use crate::collect::Request;
use crate::collect::testing::Fake;
use crate::facts::catalog::{controller, device, host as machine};
use crate::facts::{FactSet, Reading, Remedy, Source, Subject, Why};
use crate::host::{Question, RecordedHost, RecordingHost, Tool};

/// A machine with the disk sda, and what its controller's tool answers to each command.
#[derive(Clone)]
struct Machine {
    driver: &'static str,
    model: &'static str,
    address: &'static str,
    wwid: &'static str,
    answers: Vec<(Tool, &'static str, String)>,
}

const ALL: &str = "/cALL show all J nolog";
const VOLUMES: &str = "/cALL/vALL show all J nolog";

impl Machine {
    fn storcli() -> Self {
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

    /// The JSON names no module, the tables do.
    fn storcli_tables(part: &'static str, table: &str) -> Self {
        let mut machine = Self::storcli();
        let without = STORCLI_ALL.replace("\"Cachevault_Info\"", "\"Other\"");
        machine.answers[0].2 = without;
        machine.answers.push((Tool::Storcli, part, table.to_owned()));
        machine
    }

    fn megacli() -> Self {
        Self {
            answers: vec![
                (Tool::MegaCli, "-LDInfo -Lall -aALL -NoLog", MEGACLI_VOLUMES.to_owned()),
                (Tool::MegaCli, "-AdpBbuCmd -GetBbuStatus -aALL -NoLog", MEGACLI_BATTERY.to_owned()),
            ],
            ..Self::storcli()
        }
    }

    fn ssacli() -> Self {
        Self {
            driver: "hpsa",
            model: "HP LOGICAL VOLUME",
            address: "0:1:0:0",
            wwid: "naa.600508b1001c7a6baeb3d4dcf5a40001",
            answers: vec![
                (Tool::Ssacli, "ctrl all show detail", SSACLI_DETAIL.to_owned()),
                (Tool::Ssacli, "ctrl slot=0 ld all show detail", SSACLI_VOLUMES.to_owned()),
            ],
        }
    }

    fn arcconf() -> Self {
        Self {
            driver: "aacraid",
            model: "ASR8405 data",
            address: "0:0:0:0",
            wwid: "t10.Adaptec data 12345678",
            answers: vec![(Tool::Arcconf, "getconfig 1 nologs", ARCCONF.to_owned())],
        }
    }

    fn all() -> Vec<Self> {
        vec![
            Self::storcli(),
            Self::storcli_tables("/c0/cv show status nolog", STORCLI_FLASH),
            Self::storcli_tables("/c0/bbu show status nolog", STORCLI_BATTERY),
            Self::megacli(),
            Self::ssacli(),
            Self::arcconf(),
        ]
    }

    /// The same with a text replaced wherever it stands; it has to stand somewhere.
    fn but(mut self, old: &str, new: &str) -> Self {
        assert!(self.answers.iter().any(|(.., answer)| answer.contains(old)), "nothing says {old}");
        for (.., answer) in &mut self.answers {
            *answer = answer.replace(old, new);
        }
        self
    }

    fn with_answer(mut self, which: usize, answer: String) -> Self {
        self.answers[which].2 = answer;
        self
    }

    fn host(&self) -> Fake {
        let place = format!(
            "../../devices/pci0000:00/0000:00:01.0/0000:02:00.0/host0/target0:2:0/{}/block/sda",
            self.address
        );
        let fake = Fake::default()
            .symlink("/sys/class/block/sda", &place)
            .file("/sys/class/block/sda/device/wwid", format!("{}\n", self.wwid));
        self.answers.iter().fold(fake, |fake, (tool, command, answer)| {
            let arguments = command.split(' ').map(str::to_owned).collect();
            fake.answer(Question::Run(*tool, arguments), answer)
        })
    }

    /// What other collectors found before.
    fn bare_facts(&self, privileged: bool) -> FactSet {
        let mut facts = FactSet::default();
        let disk = Subject::device("sda");
        facts.know(&Subject::host(), &machine::PRIVILEGED, privileged, Source::Stated);
        facts.know(&disk, &device::KIND, "disk".to_owned(), Source::Stated);
        facts.know(&disk, &device::DRIVER, self.driver.to_owned(), Source::Stated);
        facts.know(&disk, &device::MODEL, self.model.to_owned(), Source::Stated);
        facts.know(&disk, &device::PATH, "/dev/sda".to_owned(), Source::Stated);
        facts
    }

    fn facts(&self, request: &Request, privileged: bool) -> FactSet {
        let mut facts = self.bare_facts(privileged);
        (COLLECTOR.run)(&self.host(), request, &mut facts);
        facts
    }

    fn words(&self) -> [String; 5] {
        words(&self.facts(&Request::default(), true))
    }
}

/// What is told of sda: battery, policy, policy in force, on battery failure, disk cache. `?` is unknown.
fn words(facts: &FactSet) -> [String; 5] {
    WORDS.map(|key| facts.value(&Subject::device("sda"), key).unwrap_or("?".to_owned()))
}

const HEALTHY: [&str; 5] = ["healthy", "write back", "write back", "write through", "off"];

/// Words by which something safe could be concluded, in the order of [`WORDS`].
const SAFE: [&[&str]; 5] =
    [&["healthy"], &["write back", "write through"], &["write through"], &["write through"], &["off"]];

/// The first word that is safe and was not there before.
fn safer(before: &[String; 5], after: &[String; 5]) -> Option<usize> {
    (0..5).find(|&i| SAFE[i].contains(&after[i].as_str()) && after[i] != before[i])
}

#[test]
fn a_healthy_controller_is_told_by_every_tool() {
    for machine in Machine::all() {
        assert_eq!(machine.words(), HEALTHY, "{:?}", machine.answers[0].0);
    }
    let facts = Machine::storcli().facts(&Request::default(), true);
    let disk = Subject::device("sda");
    assert_eq!(facts.value(&disk, &controller::MODEL).as_deref(), Some("MegaRAID 9361-8i"));
    assert_eq!(facts.value(&disk, &controller::TOOL).as_deref(), Some("storcli"));
    assert_eq!(facts.value(&disk, &controller::VOLUME).as_deref(), Some("VD 0"));
}

/// What arcconf says of newer backup units, where older ones have one line.
const BACKUP_UNIT: &str = "   Overall Backup Unit Status               : Ready
   Non-Volatile Storage Status              : Ready
   Supercap Status                          : Ready";

/// What one word more or less makes of a healthy machine: old text, new text, index of the fact, its word.
fn changes() -> Vec<(Machine, &'static str, &'static str, usize, &'static str)> {
    let (storcli, megacli, ssacli, arcconf) =
        (Machine::storcli(), Machine::megacli(), Machine::ssacli(), Machine::arcconf());
    let flash = Machine::storcli_tables("/c0/cv show status nolog", STORCLI_FLASH);
    let table = Machine::storcli_tables("/c0/bbu show status nolog", STORCLI_BATTERY);
    let mut rows = Vec::new();
    let mut add = |machine: &Machine, list: &[(&'static str, &'static str, usize, &'static str)]| {
        rows.extend(list.iter().map(|&(old, new, fact, word)| (machine.clone(), old, new, fact, word)));
    };
    add(
        &storcli,
        &[
            ("\"State\" : \"Optimal\"", "\"State\" : \"Failed\"", 0, "failed"),
            ("\"State\" : \"Optimal\"", "\"State\" : \"Degraded(Needs Attention)\"", 0, "degraded"),
            ("\"State\" : \"Optimal\"", "\"State\" : \"Charging\"", 0, "charging"),
            ("\"State\" : \"Optimal\"", "\"State\" : \"Learning\"", 0, "learning"),
            ("\"State\" : \"Optimal\"", "\"State\" : \"Missing\"", 0, "absent"),
            ("\"State\" : \"Optimal\"", "\"State\" : \"Unknown\"", 0, "unreadable"),
            ("\"State\" : \"Optimal\"", "\"State\" : \"Splendid\"", 0, "?"),
            ("\"BBU Status\" : 0", "\"BBU Status\" : 4096", 0, "healthy"),
            ("\"BBU Status\" : 0", "\"BBU Status\" : 8", 0, "charging"),
            ("\"BBU Status\" : 0", "\"BBU Status\" : \"NA\"", 0, "?"),
            ("\"BBU Status\" : 0", "\"BBU Status\" : 1024", 0, "failed"),
            ("\"BBU\" : \"Present\"", "\"BBU\" : \"Faulty\"", 0, "failed"),
            // It has no battery and lists one.
            ("\"BBU\" : \"Present\"", "\"BBU\" : \"Absent\"", 0, "?"),
            ("RWBD", "NRWTD", 2, "write through"),
            ("RWBD", "NRWTD", 1, "write back"),
            ("RWBD", "RAWBD", 1, "always write back"),
            ("RWBD", "RAWBD", 2, "write back"),
            ("RWBD", "RAWBD", 3, "stays"),
            ("RWBD", "RFWBC", 1, "always write back"),
            ("RWBD", "WBD", 1, "?"),
            ("RWBD", "NRWB", 2, "?"),
            ("\"WriteBack\"", "\"AlwaysWriteBack\"", 1, "always write back"),
            ("\"WriteBack\"", "\"WriteThrough\"", 1, "?"),
            ("\"WriteBack\"", "\"WriteThrough\"", 2, "write back"),
            ("\"Cache When BBU Bad\" : \"Off\"", "\"Cache When BBU Bad\" : \"On\"", 3, "stays"),
            ("\"Disk Cache Policy\" : \"Disabled\"", "\"Disk Cache Policy\" : \"Enabled\"", 4, "on"),
            (
                "\"Disk Cache Policy\" : \"Disabled\"",
                "\"Disk Cache Policy\" : \"Disk's Default\"",
                4,
                "disk default",
            ),
            ("\"PDC\" : \"dsbl\"", "\"PDC\" : \"enbl\"", 4, "on"),
            ("\"PDC\" : \"dsbl\"", "\"PDC\" : \"dflt\"", 4, "disk default"),
            ("\"PDC\" : \"dsbl\"", "\"PDC\" : \"?\"", 4, "?"),
        ],
    );
    add(
        &flash,
        &[
            ("State       Optimal", "State       Failed", 0, "failed"),
            ("Replacement required             No", "Replacement required             Yes", 0, "failed"),
        ],
    );
    add(
        &table,
        &[
            ("Battery State Optimal", "Battery State Degraded", 0, "degraded"),
            (
                "Charging Status                            None",
                "Charging Status                            Charging",
                0,
                "charging",
            ),
            (
                "Learn Cycle Active                         No",
                "Learn Cycle Active                         Yes",
                0,
                "learning",
            ),
            ("should be replaced No", "should be replaced Yes", 0, "failed"),
        ],
    );
    add(
        &megacli,
        &[
            ("Battery State: Optimal", "Battery State: Operational", 0, "healthy"),
            ("Battery State: Optimal", "Battery State: Failed", 0, "failed"),
            ("Battery State: Optimal", "Battery State: Degraded(Charging)", 0, "degraded"),
            ("Battery State: Optimal", "Battery State: Missing", 0, "absent"),
            ("Battery State: Optimal", "Battery State: Unknown", 0, "unreadable"),
            ("Battery State: Optimal", "Battery state:", 0, "?"),
            ("Charging Status              : None", "Charging Status              : Charging", 0, "charging"),
            (
                "Learn Cycle Active                      : No",
                "Learn Cycle Active                      : Yes",
                0,
                "learning",
            ),
            (
                "Battery Replacement required            : No",
                "Battery Replacement required            : Yes",
                0,
                "failed",
            ),
            (
                "Remaining Capacity Low                  : No",
                "Remaining Capacity Low                  : Yes",
                0,
                "degraded",
            ),
            ("Battery State: Optimal", "Battery State: Optimal\nisSOHGood: No", 0, "failed"),
            (
                "BBU status for Adapter: 0",
                "Adapter 0: Get BBU Status Failed.\nFW error description:\n The required hardware component is not present.",
                0,
                "absent",
            ),
            (
                "BBU status for Adapter: 0",
                "Adapter 0: Get BBU Status Failed.\nFW error description:\n The command timed out.",
                0,
                "unreadable",
            ),
            ("Current Cache Policy: WriteBack", "Current Cache Policy: WriteThrough", 2, "write through"),
            ("Current Cache Policy: WriteBack", "Current Cache Policy: WriteThrough", 1, "write back"),
            ("Default Cache Policy: WriteBack", "Default Cache Policy: WriteThrough", 1, "?"),
            (
                "Direct, No Write Cache if Bad BBU",
                "Direct, Write Cache OK if Bad BBU",
                1,
                "always write back",
            ),
            ("Direct, No Write Cache if Bad BBU", "Direct, Write Cache OK if Bad BBU", 3, "stays"),
            ("Direct, No Write Cache if Bad BBU", "Direct", 3, "?"),
            ("Policy   : Disabled", "Policy   : Disk's Default", 4, "disk default"),
            ("Policy   : Disabled", "Policy   : Enabled", 4, "on"),
        ],
    );
    add(
        &ssacli,
        &[
            ("Capacitor Status: OK", "Capacitor Status: Recharging", 0, "charging"),
            ("Capacitor Status: OK", "Capacitor Status: Failed (Replace Batteries/Capacitors)", 0, "failed"),
            ("Capacitor Status: OK", "Capacitor Status: Unheard of", 0, "?"),
            ("Capacitor Count: 1\n   Battery/Capacitor Status: OK", "Capacitor Count: 0", 0, "absent"),
            ("Cache Status: OK", "Cache Status: Temporarily Disabled", 2, "write through"),
            ("Cache Status: OK", "Cache Status: Temporarily Disabled", 1, "write back"),
            ("Cache Status: OK", "Cache Status: Not Configured", 2, "?"),
            ("Caching:  Enabled", "Caching:  Disabled", 2, "write through"),
            ("Method: Controller Cache", "Method: HPE SSD Smart Path", 2, "?"),
            ("No-Battery Write Cache: Disabled", "No-Battery Write Cache: Enabled", 1, "always write back"),
            ("No-Battery Write Cache: Disabled", "No-Battery Write Cache: Enabled", 3, "stays"),
            ("Drive Write Cache: Disabled", "Drive Write Cache: Enabled", 4, "on"),
            (
                "Drive Write Cache: Disabled",
                "Configured Drive Write Cache Policy: Default",
                4,
                "disk default",
            ),
        ],
    );
    add(
        &arcconf,
        &[
            (
                "Supercap Status                          : Ready",
                "Supercap Status                          : Charging",
                0,
                "charging",
            ),
            ("Unit Status               : Ready", "Unit Status               : Failed", 0, "failed"),
            ("Unit Status               : Ready", "Unit Status               : Not Installed", 0, "absent"),
            ("Unit Status               : Ready", "Unit Status               : Elsewhere", 0, "?"),
            (BACKUP_UNIT, "   Status : ZMM Optimal", 0, "healthy"),
            (BACKUP_UNIT, "   Status : Optimal", 0, "healthy"),
            (BACKUP_UNIT, "   Status : Charging", 0, "charging"),
            (BACKUP_UNIT, "   Status : ZMM not installed", 0, "absent"),
            (BACKUP_UNIT, "   Status : Failed", 0, "failed"),
            (
                "setting                      : Enabled (write-back) when protected by battery/ZMM",
                "setting                      : Enabled (write-back)",
                1,
                "always write back",
            ),
            (
                "setting                      : Enabled (write-back) when protected by battery/ZMM",
                "setting                      : Enabled (write-back)",
                3,
                "stays",
            ),
            (
                "setting                      : Enabled (write-back) when protected by battery/ZMM",
                "setting                      : On when protected by battery/ZMM",
                1,
                "write back",
            ),
            (
                "setting                      : Enabled (write-back) when protected by battery/ZMM",
                "setting                      : Disabled (write-through)",
                1,
                "write through",
            ),
            (
                "Write-cache status                       : On",
                "Write-cache status                       : Off",
                2,
                "write through",
            ),
            (
                "Write-cache status                       : On",
                "Write-cache mode                         : Not supported",
                2,
                "?",
            ),
            ("Disabled (write-through)\n      Device #1", "Enabled (write-back)\n      Device #1", 4, "on"),
            ("Disabled (write-through)\n      Device #1", "Unknown\n      Device #1", 4, "?"),
        ],
    );
    rows
}

#[test]
fn every_state_and_policy_is_understood() {
    for (machine, old, new, fact, word) in changes() {
        let changed = machine.but(old, new);
        assert_eq!(changed.words()[fact], word, "{}: {new}", WORDS[fact].name());
    }
}

/// Every document that lacks one key or one element of this one.
fn without_one(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let mut rest = map.clone();
                rest.remove(key);
                all.push(Value::Object(rest));
                for smaller in without_one(inner) {
                    let mut changed = map.clone();
                    changed.insert(key.clone(), smaller);
                    all.push(Value::Object(changed));
                }
            }
        }
        Value::Array(list) => {
            for (i, inner) in list.iter().enumerate() {
                let mut rest = list.clone();
                rest.remove(i);
                all.push(Value::Array(rest));
                for smaller in without_one(inner) {
                    let mut changed = list.clone();
                    changed[i] = smaller;
                    all.push(Value::Array(changed));
                }
            }
        }
        _ => {}
    }
    all
}

/// Every answer that lacks one key or one line of this one.
fn smaller_answers(answer: &str) -> Vec<String> {
    if let Ok(document) = serde_json::from_str::<Value>(answer) {
        return without_one(&document).iter().map(Value::to_string).collect();
    }
    let lines: Vec<&str> = answer.lines().collect();
    let without = |i: usize| [&lines[..i], &lines[i + 1..]].concat().join("\n");
    (0..lines.len()).map(without).collect()
}

#[test]
fn taking_anything_away_makes_nothing_safer() {
    // A line that not all firmware prints can only be believed where it is.
    let not_everywhere = |new: &str| new.contains("isSOHGood") || new.contains("Smart Path");
    let changed = changes().into_iter().filter(|(_, _, new, ..)| !not_everywhere(new));
    let changed = changed.map(|(machine, old, new, ..)| machine.but(old, new));
    for machine in Machine::all().into_iter().chain(changed) {
        let before = machine.words();
        for which in 0..machine.answers.len() {
            for answer in smaller_answers(&machine.answers[which].2) {
                let after = machine.clone().with_answer(which, answer.clone()).words();
                let wrong = safer(&before, &after);
                assert!(wrong.is_none(), "{before:?} became {after:?} by\n{answer}");
            }
        }
    }
}

/// Two controllers: the disk's own, and a worse one that may be lost or found anywhere.
#[test]
fn nothing_is_taken_over_from_another_controller() {
    let of_other = |text: &str| {
        text.replace("\"Controller\" : 0", "\"Controller\" : 1")
            .replace("00:02:00:00", "00:03:00:00")
            .replace("/dev/sda", "/dev/sdb")
            .replace("2b3c4d5e6f708192", "2b3c4d5e6f708193")
    };
    let both = |text: &str, other: &str| {
        let list = |text: &str| serde_json::from_str::<Value>(text).unwrap()["Controllers"][0].clone();
        serde_json::json!({ "Controllers": [list(other), list(text)] }).to_string()
    };
    // sda is behind a controller without battery; the healthy one is somebody else's.
    let bad = STORCLI_ALL
        .replace("\"BBU\" : \"Present\"", "\"BBU\" : \"Absent\"")
        .replace("\"Cachevault_Info\"", "\"Other\"")
        .replace("RWBD", "RAWBD")
        .replace("dsbl", "enbl");
    let mut machine = Machine::storcli();
    machine.answers[0].2 = both(&bad, &of_other(STORCLI_ALL));
    machine.answers[1].2 = both(STORCLI_VOLUMES, &of_other(STORCLI_VOLUMES));
    let before = machine.words();
    assert_eq!(before, ["absent", "always write back", "write back", "stays", "on"]);
    for which in 0..2 {
        for answer in smaller_answers(&machine.answers[which].2) {
            let after = machine.clone().with_answer(which, answer.clone()).words();
            assert!(safer(&before, &after).is_none(), "{before:?} became {after:?} by\n{answer}");
        }
    }
}

#[test]
fn what_a_controller_passes_on_is_not_protected_by_it() {
    let jbod = Machine { address: "0:0:5:0", ..Machine::storcli() };
    assert_eq!(jbod.words(), ["?"; 5]);
    let facts = jbod.facts(&Request::default(), true);
    assert_eq!(facts.value(&Subject::device("sda"), &controller::VOLUME).as_deref(), Some("none"));
    // In HBA mode disks have their own names, and none is listed as a volume.
    let hba = Machine { model: "HP EG0300FBDBR", wwid: "naa.5000c50012345678", ..Machine::ssacli() };
    let hba = hba.but("/dev/sda", "/dev/sdb");
    assert_eq!(hba.words(), ["?"; 5]);
    let facts = hba.facts(&Request::default(), true);
    assert_eq!(facts.value(&Subject::device("sda"), &controller::VOLUME).as_deref(), Some("none"));
}

#[test]
fn who_may_not_ask_or_has_no_tool_is_told_what_helps() {
    let reading = |machine: &Machine, request: &Request, privileged| {
        machine.facts(request, privileged).get(&Subject::device("sda"), &controller::BATTERY)
    };
    let machine = Machine::storcli();
    let request = Request::default();
    let denied = reading(&machine, &request, false);
    assert!(matches!(denied, Reading::Unknown { why: Why::Denied, remedy: Some(Remedy::RunAsRoot), .. }));
    let install =
        |machine: Machine| match reading(&Machine { answers: Vec::new(), ..machine }, &request, true) {
            Reading::Unknown { remedy: Some(Remedy::Install(name)), .. } => name,
            other => panic!("{other:?}"),
        };
    assert_eq!(install(Machine::storcli()), "storcli");
    assert_eq!(install(Machine { model: "DELL PERC H730 Mini", ..Machine::storcli() }), "perccli");
    assert_eq!(install(Machine::ssacli()), "ssacli");
    assert_eq!(install(Machine::arcconf()), "arcconf");
    let unknown = Machine { driver: "arcmsr", ..Machine::storcli() };
    assert!(matches!(
        reading(&unknown, &request, true),
        Reading::Unknown { remedy: Some(Remedy::Do(_)), .. }
    ));
    let without = Request { without_programs: true, ..Request::default() };
    assert!(matches!(reading(&machine, &without, true), Reading::Unknown { why: Why::NotCollected, .. }));
    let disk = Machine { driver: "ahci", ..Machine::storcli() };
    assert_eq!(reading(&disk, &request, true), Reading::not_collected());
}

#[test]
fn a_tool_that_knows_no_controller_leaves_the_next_one_to_be_asked() {
    let mut machine = Machine::megacli();
    let none =
        r#"{"Controllers":[{"Command Status":{"Status":"Failure","Description":"No Controller found"}}]}"#;
    machine.answers.push((Tool::Storcli, ALL, none.to_owned()));
    assert_eq!(machine.words(), HEALTHY);
}

/// What a masked capture holds of the controllers names no hardware, and says the same of it.
#[test]
fn masked_captures_tell_the_same_of_nobodys_hardware() {
    let identities = [
        "SK74512345",
        "500605b00d1234a0",
        "2b3c4d5e6f708192",
        "PDNLH0BRH8W",
        "CZJ64012AB",
        "B3D4DCF5A40001",
        "b3d4dcf5a40001",
        "5A4321B0C9D",
        "Z1P35ABC",
        "5000C5000707AA3C",
    ];
    let mut told = 0;
    for machine in Machine::all() {
        let host = machine.host();
        let recording = RecordingHost::new(&host);
        let mut facts = machine.bare_facts(true);
        (COLLECTOR.run)(&recording, &Request::default(), &mut facts);
        told += identities.iter().filter(|id| recording.archive("", false).contains(*id)).count();
        let masked = recording.archive("", true);
        for identity in identities {
            assert!(!masked.contains(identity), "{identity} in {masked}");
        }
        let mut replayed = machine.bare_facts(true);
        (COLLECTOR.run)(&RecordedHost::parse(masked.as_bytes()).unwrap(), &Request::default(), &mut replayed);
        assert_eq!(words(&replayed), words(&facts));
        assert_eq!(words(&replayed), HEALTHY);
    }
    assert!(told >= identities.len(), "the answers held them before");
}

proptest! {
    #[test]
    fn any_bytes_do_no_harm(answer: Vec<u8>) {
        super::storcli::parse(&answer, STORCLI_VOLUMES.as_bytes());
        super::storcli::parse(STORCLI_ALL.as_bytes(), &answer);
        super::megacli::parse(&answer, &answer);
        super::ssacli::parse(&answer, &[(0, answer.clone())]);
        super::arcconf::parse(1, &answer);
        super::arcconf::count(&answer);
    }

    /// A line that is not known costs nothing, wherever it stands.
    #[test]
    fn lines_of_strangers_cost_nothing(which in 0_usize..4, at: prop::sample::Index, line in "~[ -9;-~]{0,30}(: [ -~]{0,20})?") {
        let machines = [Machine::megacli(), Machine::ssacli(), Machine::arcconf(), Machine::storcli_tables("/c0/cv show status nolog", STORCLI_FLASH)];
        let machine = machines[which].clone();
        let last = machine.answers.len() - 1;
        let mut lines: Vec<&str> = machine.answers[last].2.lines().collect();
        lines.insert(at.index(lines.len() + 1), &line);
        let answer = lines.join("\n");
        prop_assert_eq!(machine.with_answer(last, answer).words(), HEALTHY.map(str::to_owned));
    }

    /// A value that is something else makes nothing safer.
    #[test]
    fn other_values_make_nothing_safer(at: prop::sample::Index, word in prop_oneof![Just("null"), Just("[]"), Just("-1"), Just("\"\""), Just("{}"), Just("\"~\"")]) {
        let starts: Vec<usize> = STORCLI_ALL.match_indices(" : ").map(|(i, _)| i + 3).collect();
        let start = starts[at.index(starts.len())];
        let rest = &STORCLI_ALL[start..];
        prop_assume!(!rest.starts_with(['{', '[']));
        let end = match rest.strip_prefix('"') {
            Some(text) => text.find('"').unwrap() + 2,
            None => rest.find([',', ' ', '\n']).unwrap(),
        };
        let answer = format!("{}{word}{}", &STORCLI_ALL[..start], &rest[end..]);
        let machine = Machine::storcli();
        let after = machine.clone().with_answer(0, answer).words();
        prop_assert!(safer(&machine.words(), &after).is_none());
    }
}
