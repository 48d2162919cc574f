//! What a trial changes on the disk that it was made on, and that it changes nothing anywhere else.

use super::*;
use crate::facts::Note;
use crate::facts::catalog::{host, kernel};
use crate::pipeline::Session;
use crate::report::{Report, sample};
use crate::rules::{Finding, Outcome, RuleSet};
use crate::settings::NewFilesystem;
use crate::trial::sample::record;
use crate::trial::{CommitShape, Ending, TrialLoad};
use crate::version::Version;

const XFS_WINS: [(Contender, f64, Option<u64>); 3] = [
    (Contender::Ext4, 4_000.0, Some(1_000)),
    (Contender::Xfs, 5_000.0, Some(1_000)),
    (Contender::Ext4Nobarrier, 90_000.0, Some(0)),
];

/// A free disk with a serial number on a machine that is known.
fn free_disk() -> Session {
    let mut facts = sample::free_disk().facts;
    let seen = || Source::call("test");
    let machine = Subject::host();
    facts.know(&machine, &host::NAME, "db7".to_owned(), seen());
    facts.know(&machine, &kernel::RELEASE, "6.1.0-28-amd64".to_owned(), seen());
    facts.know(&machine, &kernel::VERSION, Version::parse("6.1.0-28-amd64").unwrap(), seen());
    facts.know(&machine, &kernel::VENDOR, "debian".to_owned(), seen());
    facts.know(&machine, &kernel::FILESYSTEMS, vec!["ext4".to_owned()], seen());
    let disk = facts.resolve(&sample::new_disk(), Scope::Device).unwrap();
    facts.know(&disk, &device::READ_ONLY, false, seen());
    facts.know(&disk, &device::SERIAL, "S1".to_owned(), seen());
    facts.know(&disk, &device::FIRMWARE, "1.2".to_owned(), seen());
    Session::new(facts, RuleSet::builtin(), true)
}

/// A record of this very stack.
fn of(session: &Session, target: &Subject, mut record: TrialRecord) -> TrialRecord {
    let stack = StackFingerprint::from_facts(&session.read, target).to_string();
    record.extent = ExtentKind::Disk;
    record.stack = stack.lines().map(str::to_owned).collect();
    record
}

fn report(session: &Session, record: &TrialRecord) -> Report {
    let mut session = session.clone();
    session.trials = vec![("t.json".to_owned(), record.clone())];
    session.report()
}

fn first_choice(report: &Report) -> &str {
    &report.plan(&sample::new_disk()).unwrap().steps[0].advice.change.values()[0]
}

fn said(report: &Report) -> String {
    let notes: Vec<String> = report.warnings.iter().map(Note::to_string).collect();
    notes.into_iter().filter(|note| note.starts_with("the trial ")).collect::<Vec<_>>().join("\n")
}

/// What a report finds, without how it came to it.
fn found(report: &Report) -> Vec<Finding> {
    report.findings.iter().map(|finding| Finding { trace: None, ..finding.clone() }).collect()
}

#[test]
fn what_won_on_this_disk_is_the_first_choice_and_what_lost_stays_on_offer() {
    let session = free_disk();
    let target = sample::new_disk();
    assert_eq!(first_choice(&session.report()), "ext4", "without a trial");
    let won = of(&session, &target, record(&XFS_WINS, 15));
    let with = report(&session, &won);
    assert_eq!(first_choice(&with), "xfs");
    let step = &with.plan(&target).unwrap().steps[0];
    let others: Vec<(u32, &str)> =
        step.alternatives.iter().map(|other| (other.rank, other.value.as_str())).collect();
    assert_eq!(others, [(2, "ext4"), (2, "btrfs")], "none is called alike");
    assert!(step.rules.contains(&"trial.xfs-first".to_owned()), "{:?}", step.rules);
    let first = with.findings.iter().find(|finding| finding.rule == "trial.xfs-first").unwrap();
    let seen = crate::rules::explain::rows(first.trace.as_ref().unwrap());
    assert!(
        seen.iter().any(|row| row.from == "the trial recorded in t.json, measured on this disk"),
        "the trace says where it comes from"
    );
    assert!(said(&with).contains("was made on the disk of /dev/sdc (disk), and rules may use the result"));

    let mut wanting = session.clone();
    wanting.trials = vec![("t.json".to_owned(), won)];
    wanting.want(&target, Some(NewFilesystem::Ext4)).unwrap();
    let wanted = wanting.report();
    let plan = wanted.plan(&target).unwrap();
    assert_eq!(first_choice(&wanted), "ext4");
    assert_eq!(plan.wish().unwrap(), "ext4, as you want; the first choice here is xfs");
    let values: Vec<&str> = plan.steps[0].alternatives.iter().map(|other| other.value.as_str()).collect();
    assert_eq!(values, ["xfs", "btrfs"], "each once");

    let other =
        [XFS_WINS[1], XFS_WINS[0]].map(|(candidate, rate, flushes)| (candidate, 9_000.0 - rate, flushes));
    let lost = of(&session, &target, record(&other, 15));
    let with = report(&session, &lost);
    assert_eq!(first_choice(&with), "ext4");
    assert!(with.plan(&target).unwrap().steps[0].rules.contains(&"trial.ext4-first".to_owned()));
}

#[test]
fn what_is_of_something_else_or_open_is_told_and_changes_nothing() {
    let session = free_disk();
    let target = sample::new_disk();
    let won = || of(&session, &target, record(&XFS_WINS, 15));
    let without = session.report();
    let check = |session: &Session, record: &TrialRecord, says: &str| {
        let with = report(session, record);
        assert_eq!(found(&with), found(&without), "{says}");
        assert!(said(&with).contains(says), "{says}: {}", said(&with));
    };
    check(&session, &TrialRecord { stack: Vec::new(), ..won() }, "was made on something else");
    let mut firmware = won();
    firmware.stack.iter_mut().for_each(|line| *line = line.replace("firmware=1.2", "firmware=1.3"));
    check(&session, &firmware, "firmware was 1.3 and is 1.2");
    let mut kernel = won();
    kernel.stack.iter_mut().for_each(|line| *line = line.replace("-28-", "-27-"));
    check(&session, &kernel, "kernel.release was 6.1.0-27");
    check(&session, &of(&session, &target, record(&XFS_WINS, 9)), "as it is not settled");
    check(&session, &TrialRecord { ending: Ending::Running, ..won() }, "did not finish");
    let mut twin = won();
    for cell in twin.blocks.iter_mut().flat_map(|block| &mut block.cells) {
        if cell.runner == crate::trial::Runner::Twin {
            cell.samples.iter_mut().for_each(|sample| sample.seconds *= 2.0);
        }
    }
    check(&session, &twin, "the machine could not tell");
    let in_a_directory = TrialRecord { extent: ExtentKind::Loop, ..won() };
    check(&session, &in_a_directory, "there is nothing to compare it with");

    let capture = Session { live: false, ..session.clone() };
    let without = capture.report();
    let with = report(&capture, &won());
    assert_eq!(found(&with), found(&without));
    assert!(said(&with).contains("this is a capture"));
}

/// Two disks of a host without serial numbers look alike.
#[test]
fn a_disk_without_a_name_of_its_own_is_never_this_disk() {
    let mut session = free_disk();
    let target = sample::new_disk();
    let disk = session.read.resolve(&target, Scope::Device).unwrap();
    session.read.put(&disk, &device::SERIAL, Reading::unknown(Why::Absent, "serial"));
    let with = report(&session, &of(&session, &target, record(&XFS_WINS, 15)));
    assert_eq!(first_choice(&with), "ext4");
    assert!(said(&with).contains("sdc shows neither a serial number nor a WWN"), "{}", said(&with));
}

#[test]
fn of_several_the_last_that_answers_counts() {
    let mut session = free_disk();
    let target = sample::new_disk();
    let [won, mut open] = [15, 9].map(|blocks| of(&session, &target, record(&XFS_WINS, blocks)));
    open.started = "2026-11-26T08:00:00Z".to_owned();
    session.trials = vec![("open.json".to_owned(), open), ("t.json".to_owned(), won)];
    let (facts, _) = session.judged();
    assert_eq!(facts.value(&target, &trial::SETTLED), Some(true));
    assert_eq!(facts.value(&target, &trial::BEST), Some(vec![TrialFilesystem::Xfs]));
    assert_eq!(
        facts.value(&target, &trial::SLOWER),
        Some(vec![TrialFilesystem::Ext4]),
        "nobarrier is no choice"
    );
    assert!(
        facts
            .rows_of(&target)
            .filter(|row| row.fact.starts_with("trial."))
            .all(|row| { row.reading.source().is_none_or(|source| !source.is_evidence()) })
    );
}

#[test]
fn a_method_that_won_on_the_first_choice_is_advised_for_a_new_server() {
    let session = free_disk();
    let target = sample::new_disk();
    let with_method = |factor: f64| {
        let mut both = record(&XFS_WINS, 15);
        both.loads.push(TrialLoad { clients: 1, shape: CommitShape::OpenDatasync });
        for cell in both.blocks.iter_mut().flat_map(|block| &mut block.cells) {
            let mut more = cell.samples[0];
            more.seconds /= factor;
            cell.samples.push(more);
        }
        report(&session, &of(&session, &target, both))
    };
    let applies = |report: &Report, rule: &str| {
        report.findings.iter().any(|one| one.rule == rule && one.outcome == Outcome::Applies)
    };
    assert!(applies(&with_method(1.3), "trial.sync-method"));
    assert!(applies(&with_method(1.0), "trial.sync-method-default"));
    let neither = report(&session, &of(&session, &target, record(&XFS_WINS, 15)));
    assert!(!applies(&neither, "trial.sync-method") && !applies(&neither, "trial.sync-method-default"));
}
