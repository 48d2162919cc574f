//! An unknown fact is listed only for targets that need it: on every recorded host, and for two
//! servers on one disk.

use std::collections::BTreeSet;

use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::{Outcome, RuleSet};
use walwise_model::facts::catalog::{cluster, device, mount, mysql, postgres, target};
use walwise_model::facts::{
    FactSet, Reading, Remedy, Scope, ServerArea, ServerKind, Source, Subject,
};
use walwise_report::missing_facts::{TargetAndServerSubjects, target_missing_facts};
use walwise_report::{Report, TargetSummary, markdown, text};
use walwise_sys::host::RecordedHost;

use super::{host, recorded_host_names, table::recorded_target};

fn listed_unknown_facts(report: &Report, target: &TargetSummary) -> BTreeSet<(Subject, String)> {
    let concerned: BTreeSet<&Subject> = target.subjects.iter().collect();
    let about = || {
        report
            .findings
            .iter()
            .filter(|finding| concerned.contains(&finding.subject))
    };
    let missing = report
        .verdict(&target.target)
        .into_iter()
        .flat_map(|verdict| verdict.missing.clone());
    let open = about().flat_map(|finding| match &finding.outcome {
        Outcome::Undecided { needs } => needs.iter().flatten().cloned().collect(),
        Outcome::Applies | Outcome::DoesNotApply => Vec::new(),
    });
    let own = target_missing_facts(report, target, about())
        .into_iter()
        .map(|needed| needed.need);
    missing
        .chain(open)
        .chain(own)
        .map(|need| (need.subject, need.fact))
        .collect()
}

fn assert_listed_with_target(report: &Report, what: &str) {
    for target in &report.targets {
        let way = TargetAndServerSubjects::new(&report.facts, target);
        let foreign = |kind: ServerArea| {
            target
                .cluster
                .as_ref()
                .is_some_and(|of| report.facts.is_of_other_area(of, kind))
        };
        for (subject, fact) in listed_unknown_facts(report, target) {
            assert!(
                way.contains(&subject),
                "{what}: {fact} of {subject} under {}",
                target.title
            );
            let of_another = fact.starts_with("mysql.") && foreign(ServerArea::Mysql)
                || fact.starts_with("pg.") && foreign(ServerArea::Pg);
            assert!(!of_another, "{what}: {fact} under {}", target.title);
        }
    }
}

#[test]
fn unknown_facts_are_listed_with_targets_that_need_them() {
    let rules = RuleSet::builtin();
    for name in recorded_host_names() {
        let recording = RecordedHost::parse(&std::fs::read(host(&name)).unwrap()).unwrap();
        for target in [None, Some(recorded_target(&name))] {
            let request = Request {
                target: target.map(Into::into),
                ..Request::default()
            };
            let report =
                Session::collect_from_host(&recording, &request, rules.clone(), &mut |_, _| {})
                    .build_report();
            assert_listed_with_target(&report, &name);
        }
    }
}

const RESTART: &str = "restart the server with data directory /srv/my, then check again";

fn facts_of_two_servers() -> FactSet {
    let mut facts = FactSet::default();
    let read = || Source::from_file("read");
    let disk = Subject::device("sda");
    facts.insert_known(&disk, &device::KIND, device::DeviceKind::Disk, read());
    let hidden = Reading::denied("reading sda").with_remedy(Remedy::RunAsRoot);
    facts.insert(&disk, &device::WRITE_CACHE, hidden);
    for (path, role, area) in [
        ("/srv/pg", target::DirectoryRole::Wal, ServerArea::Pg),
        ("/srv/my", target::DirectoryRole::Redo, ServerArea::Mysql),
    ] {
        let (place, fs, server) = (
            Subject::target(path),
            Subject::mount(path),
            Subject::cluster(path),
        );
        facts.insert_known(&place, &target::PATH, path.to_owned(), read());
        facts.insert_known(&place, &target::KIND, target::TargetKind::Directory, read());
        facts.insert_known(
            &place,
            &target::ROLES,
            vec![target::DirectoryRole::Data, role],
            read(),
        );
        facts.insert_known(&place, &target::CLUSTERS, vec![path.to_owned()], read());
        facts.insert_known(&fs, &mount::POINT, path.to_owned(), read());
        facts.insert_known(&fs, &mount::FSTYPE, "ext4".to_owned(), read());
        facts.insert_known(&fs, &mount::CLASS, mount::MountClass::Block, read());
        facts.add_layer_below(&place, &fs);
        facts.add_layer_below(&fs, &disk);
        facts.add_layer_below(&server, &fs);
        facts.set_fact_link(&place, &fs);
        facts.set_fact_link(&fs, &disk);
        facts.set_fact_link(&place, &disk);
        facts.set_fact_link(&place, &server);
        facts.set_fact_link(&server, &place);
        facts.set_fact_link(&server, &fs);
        facts.set_server_area(&server, area);
    }
    let (pg, my) = (Subject::cluster("/srv/pg"), Subject::cluster("/srv/my"));
    facts.insert_known(&pg, &cluster::KIND, ServerKind::Postgres, read());
    facts.insert_known(&my, &cluster::KIND, ServerKind::Mysql, read());
    facts.insert(
        &pg,
        &postgres::FSYNC,
        Reading::denied("postgresql.conf").with_remedy(Remedy::RunAsRoot),
    );
    let changed =
        || Reading::ambiguous("my.cnf changed").with_remedy(Remedy::Do(RESTART.to_owned()));
    facts.insert(&my, &mysql::FLUSH_LOG, changed());
    facts.insert(&my, &mysql::SYNC_BINLOG, changed());
    facts
}

fn target_section<'t>(told: &'t str, heads: &[String], of: &str) -> &'t str {
    let start = told.find(of).unwrap_or_else(|| panic!("{of} in {told}"));
    let ends = heads
        .iter()
        .filter_map(|head| told.find(head.as_str()))
        .filter(|at| *at > start);
    let end = ends.min().unwrap_or(told.len());
    &told[start..end]
}

#[test]
fn servers_on_one_disk_list_own_and_shared_unknown_facts() {
    let report = Session::new(facts_of_two_servers(), RuleSet::builtin(), false).build_report();
    assert_listed_with_target(&report, "two servers");
    assert_eq!(report.facts.subjects_of_scope(Scope::Target).count(), 2);
    for told in [text::render(&report), markdown::render(&report)] {
        let lead = if told.starts_with("walwise") {
            "UNPROVEN: "
        } else {
            "## unproven: `"
        };
        let heads: Vec<String> = ["/srv/pg", "/srv/my"]
            .map(|path| format!("{lead}{path}"))
            .to_vec();
        let mut rest = told.clone();
        for (head, own, others) in [(&heads[0], "pg.", "mysql."), (&heads[1], "mysql.", "pg.")] {
            let section = target_section(&told, &heads, head);
            let own_list = section
                .split("Unknown:")
                .nth(1)
                .unwrap_or_else(|| panic!("{head} in {told}"));
            let own_list = own_list.split("host fact").next().unwrap();
            assert!(
                own_list.contains(own) && own_list.contains("device.write_cache"),
                "{own_list}"
            );
            assert!(
                !section.contains(&format!("{others}f"))
                    && !section.contains(&format!("{others}s")),
                "{section}"
            );
            assert_eq!(
                section.contains("restart the server"),
                own == "mysql.",
                "{section}"
            );
            rest = rest.replace(section, "");
        }
        assert!(!rest.contains("restart the server"), "{rest}");
    }
}
