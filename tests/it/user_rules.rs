//! User rules: reports name their changes, mistakes in one file disable nothing else, and files in
//! `/etc` that others than root can write are ignored. Tests also cover the fingerprint of the
//! rules behind a report.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::{self, run, stderr, stdout, walwise};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn repository_path(path: &str) -> String {
    format!("{ROOT}/{path}")
}

fn path_of_host_with_one_warning() -> String {
    repository_path("tests/hosts/el9-ext4.host")
}

fn run_in_repository(arguments: &[&str]) -> Output {
    walwise().current_dir(ROOT).args(arguments).output_in_time()
}

fn exit_code(output: &Output) -> i32 {
    output.status.code().expect("walwise ended by itself")
}

fn check_host_with_one_warning(more: &[&str]) -> (i32, Value, String) {
    let output = run_in_repository(
        &[
            &[
                "check",
                "--host",
                &path_of_host_with_one_warning(),
                "-v",
                "--format",
                "json",
            ],
            more,
        ]
        .concat(),
    );
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
    (exit_code(&output), report, stderr(&output))
}

fn create_rules_directory(files: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in files {
        std::fs::copy(
            repository_path(&format!("tests/rules/user/{file}")),
            dir.path().join(file),
        )
        .unwrap();
    }
    dir
}

fn warnings(report: &Value) -> Vec<&str> {
    report["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| warning.as_str().unwrap())
        .collect()
}

fn evaluated_rules(report: &Value) -> Vec<&str> {
    report["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tally| tally["rule"].as_str().unwrap())
        .collect()
}

fn has_warning_with(report: &Value, words: &str) -> bool {
    warnings(report)
        .iter()
        .any(|warning| warning.contains(words))
}

#[test]
fn user_server_table_exposes_no_secret() {
    let (data, rules) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let data = data.path().canonicalize().unwrap();
    // Root's files are read as user nobody.
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir(data.join("global")).unwrap();
    std::fs::write(data.join("PG_VERSION"), "15\n").unwrap();
    std::fs::write(
        data.join("postgresql.conf"),
        "primary_conninfo = 'password=Zk7hunter2'\nfsync = off\n",
    )
    .unwrap();
    let table = "[[leaves]]\nof = 'postgres'\nnames = ['primary_conninfo']\n";
    std::fs::create_dir(rules.path().join("tables")).unwrap();
    for file in ["servers.toml", "tables/servers.toml"] {
        std::fs::write(rules.path().join(file), table).unwrap();
    }
    let path = data.to_str().unwrap();
    let output = run_in_repository(&[
        "check",
        path,
        "--rules",
        rules.path().to_str().unwrap(),
        "-v",
        "--format",
        "json",
    ]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let everything = [stdout(&output), stderr(&output)].concat();
    assert!(
        !everything.contains("Zk7hunter2") && !everything.contains("conninfo"),
        "a secret came out"
    );
    assert_eq!(
        support::known_fact_value(&report, &format!("cluster {path}"), "pg.fsync"),
        Some(&Value::Bool(false))
    );
    assert!(
        has_warning_with(&report, "servers.toml has "),
        "{:?}",
        warnings(&report)
    );
}

#[test]
fn ten_mistakes_of_a_users_file_are_told_at_once() {
    let output = run_in_repository(&["rules", "check", "tests/rules/user/site.toml"]);
    assert_eq!((exit_code(&output), stdout(&output).as_str()), (2, ""));
    // The line number of the built-in rule changes with edits of the file.
    insta::with_settings!({filters => vec![(r"verdict\.toml:\d+", "verdict.toml:[line]")]}, {
        insta::assert_snapshot!("ten_mistakes", stderr(&output));
    });
    assert_eq!(stderr(&output).matches("\nerror: ").count(), 10);
}

#[test]
fn rule_file_with_mistakes_disables_nothing_else() {
    let (plain_code, plain, silent) = check_host_with_one_warning(&[]);
    assert_eq!((plain_code, silent.as_str()), (0, ""));
    let dir = create_rules_directory(&["site.toml", "good.toml"]);
    let (with_code, with, complaint) =
        check_host_with_one_warning(&["--rules", dir.path().to_str().unwrap()]);
    // While rules are missing, a run without findings does not exit with 0.
    assert_eq!(with_code, 2);
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
    assert!(
        complaint.contains("site.toml has 10 errors (lines ") && complaint.contains("rules check"),
        "{complaint}"
    );
    let off = ["verdict.guest", "mount.noatime"];
    let mut expected: Vec<&str> = evaluated_rules(&plain)
        .into_iter()
        .filter(|rule| !off.contains(rule))
        .collect();
    expected.extend(["site.ext4", "site.guest", "site.every-kernel"]);
    assert_eq!(evaluated_rules(&with), expected);
    let sentence = complaint.trim_end().strip_prefix("walwise: ").unwrap();
    assert!(
        has_warning_with(&with, sentence)
            && has_warning_with(&with, "no effect: rule `verdict.gest` does not exist"),
        "{:?}",
        warnings(&with)
    );
    // Findings take precedence over the mistake in the exit code.
    let found = run_in_repository(&[
        "check",
        "--host",
        "tests/hosts/ext4-nobarrier.host",
        "--rules",
        dir.path().to_str().unwrap(),
        "--format",
        "json",
    ]);
    assert_eq!((exit_code(&found), stderr(&found).as_str()), (3, ""));
    let text = run_in_repository(&[
        "check",
        "-v",
        "--host",
        &path_of_host_with_one_warning(),
        "--rules",
        dir.path().to_str().unwrap(),
    ]);
    assert!(
        stdout(&text).contains("\nAbout this run\n"),
        "{}",
        stdout(&text)
    );
}

#[test]
fn changes_by_user_rules_are_reported_everywhere() {
    let dir = create_rules_directory(&["good.toml"]);
    let rules = dir.path().to_str().unwrap();
    let (_, report, _) = check_host_with_one_warning(&["--rules", rules]);
    assert!(has_warning_with(
        &report,
        "rule mount.noatime is switched off: our backup goes by access times"
    ));
    assert!(
        has_warning_with(
            &report,
            "rule verdict.guest is raised from advice to warning: nobody has tested"
        ),
        "{:?}",
        warnings(&report)
    );
    let pack = &report["pack"];
    let given = &pack["overrides"][0];
    assert_eq!(
        (given["rule"].as_str(), given["was"].as_str()),
        (Some("verdict.guest"), Some("advice"))
    );
    assert_eq!(pack["off"][0]["rule"], "mount.noatime");
    assert_eq!(pack["user_files"].as_array().unwrap().len(), 1);
    assert_ne!(pack["sha256"], pack["shipped_sha256"]);
    let mine = report["rules"]
        .as_array()
        .unwrap()
        .iter()
        .find(|tally| tally["rule"] == "site.ext4")
        .unwrap();
    assert_eq!(mine["evidence"][0]["source"], "our lab, report 12");
    let list = stdout(&run_in_repository(&["rules", "list", "--rules", rules]));
    assert!(
        list.contains("verdict.guest is raised from advice to warning")
            && list.contains("site.ext4"),
        "{list}"
    );
    let show = stdout(&run_in_repository(&[
        "rules",
        "show",
        "site.ext4",
        "--rules",
        rules,
    ]));
    assert!(
        show.contains("1200 commits per second") && show.contains("caveat: on one machine"),
        "{show}"
    );
    let explained = stdout(&run_in_repository(&[
        "explain",
        "verdict.guest",
        "--host",
        &path_of_host_with_one_warning(),
        "--rules",
        rules,
    ]));
    assert!(
        explained.contains("is raised from advice to warning") && explained.contains("\npack "),
        "{explained}"
    );
}

#[test]
fn lowered_level_shows_the_original_level() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[[override]]\nrule = \"barrier.ext4-off\"\nlevel = \"warning\"\nbecause = \"scratch data\"\n\
                [[override]]\nrule = \"mysql.preloaded\"\nlevel = \"warning\"\nbecause = \"none here\"\n";
    std::fs::write(dir.path().join("lower.toml"), text).unwrap();
    let host = "tests/hosts/ext4-nobarrier.host";
    let check = |more: &[&str]| {
        run_in_repository(
            &[
                &[
                    "check",
                    "--host",
                    host,
                    "--rules",
                    dir.path().to_str().unwrap(),
                ],
                more,
            ]
            .concat(),
        )
    };
    let report: Value = serde_json::from_slice(&check(&["-v", "--format", "json"]).stdout).unwrap();
    let finding = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|f| f["rule"] == "barrier.ext4-off")
        .unwrap();
    assert_eq!(finding["level"], "warning");
    assert!(has_warning_with(
        &report,
        "rule barrier.ext4-off is lowered from critical to warning: scratch data ("
    ));
    let idle: Vec<&str> = warnings(&report)
        .into_iter()
        .filter(|w| w.contains("not applicable here"))
        .collect();
    assert!(
        idle.len() == 1 && idle[0].contains("mysql.preloaded"),
        "{idle:?}"
    );
    let text = stdout(&check(&["-v"]));
    assert!(
        text.contains("barrier.ext4-off (originally critical)"),
        "{text}"
    );
}

#[test]
fn pack_fingerprint_equals_sha256sum() {
    let sums =
        "cd \"$1\" && find rules -name '*.toml' | LC_ALL=C sort | xargs sha256sum | sha256sum";
    let expected = run("sh", &["-c", sums, "sh", ROOT]);
    let (_, report, _) = check_host_with_one_warning(&[]);
    let expected = expected.split_whitespace().next().unwrap();
    assert_eq!(report["pack"]["sha256"], expected);
    assert_eq!(report["pack"]["shipped_sha256"], expected);
    let short = &expected[..12];
    for arguments in [
        &["check", "-v", "--host", &path_of_host_with_one_warning()][..],
        &["rules", "list"],
        &[
            "explain",
            "verdict.unproven",
            "--host",
            &path_of_host_with_one_warning(),
        ],
    ] {
        let output = stdout(&run_in_repository(arguments));
        assert!(
            output.contains(&format!("pack {}, {short}", env!("CARGO_PKG_VERSION"))),
            "{arguments:?}: {output}"
        );
    }
}

fn check_with_rules_d(done: &str) -> (i32, Value) {
    let script = "mount -t tmpfs -o mode=755 none /etc && mkdir -p /etc/walwise/rules.d && \
                  cp \"$1\" /etc/walwise/rules.d/good.toml && cd /etc/walwise/rules.d && eval \"$2\" && cd / && \
                  exec \"$3\" check -v --host \"$4\" --format json";
    let output = Command::new("unshare")
        .args([
            "-m",
            "sh",
            "-c",
            script,
            "sh",
            &repository_path("tests/rules/user/good.toml"),
            done,
        ])
        .args([
            crate::support::programs::walwise_path(),
            &path_of_host_with_one_warning(),
        ])
        .output_in_time();
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", support::stderr(&output)));
    (exit_code(&output), report)
}

#[test]
#[ignore = "needs root: an /etc of its own"]
fn etc_rules_apply_only_if_writable_by_root_alone() {
    let in_force = |report: &Value| evaluated_rules(report).contains(&"site.ext4");
    let (_, plain, _) = check_host_with_one_warning(&[]);
    let (fine, report) = check_with_rules_d("true");
    assert!(in_force(&report) && fine == 0, "{:?}", warnings(&report));
    assert_eq!(
        report["pack"]["user_files"][0]["file"],
        "/etc/walwise/rules.d/good.toml"
    );
    let good = "/etc/walwise/rules.d/good.toml";
    let doubtful: [(&str, &str); 9] = [
        (
            "chmod g+w good.toml",
            &format!("{good} is writable by users other than root"),
        ),
        (
            "chmod o+w good.toml",
            &format!("{good} is writable by users other than root"),
        ),
        (
            "chown 65534 good.toml",
            &format!("{good} is not owned by root"),
        ),
        ("chown 65534 .", "/etc/walwise/rules.d is not owned by root"),
        (
            "chmod g+w ..",
            "/etc/walwise is writable by users other than root",
        ),
        (
            "mkdir -m 777 /etc/x && mv good.toml /etc/x && ln -s /etc/x/good.toml .",
            "/etc/x is writable by users other than root",
        ),
        (
            "rm good.toml && mkfifo good.toml",
            "it is not a regular file",
        ),
        (
            "head -c 1048577 /dev/zero > good.toml",
            "it is larger than 1 MiB",
        ),
        (
            "mv good.toml .. && cd .. && rmdir rules.d && mv good.toml rules.d",
            "Not a directory",
        ),
    ];
    for (done, why) in doubtful {
        let (code, report) = check_with_rules_d(done);
        assert!(
            has_warning_with(&report, why) && has_warning_with(&report, "not used"),
            "{done}: {:?}",
            warnings(&report)
        );
        assert_eq!(
            (code, evaluated_rules(&report)),
            (2, evaluated_rules(&plain)),
            "{done}"
        );
    }
    for nothing in [
        "mv good.toml .good.toml",
        "rm good.toml",
        "rm good.toml && rmdir /etc/walwise/rules.d",
    ] {
        let (code, report) = check_with_rules_d(nothing);
        assert_eq!(
            (code, &report["warnings"]),
            (0, &plain["warnings"]),
            "{nothing}"
        );
        assert_eq!(report["pack"], plain["pack"]);
    }
    let (_, report) = check_with_rules_d(
        "mkdir /etc/root && mv good.toml /etc/root && ln -s /etc/root/good.toml .",
    );
    assert!(in_force(&report), "a link to what is root's alone");
}
