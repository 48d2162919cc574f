//! The plan as a POSIX shell script for review. walwise never runs the script.
//!
//! The script does nothing until a person has edited it. On a free disk, the script first checks
//! that the disk is unchanged and still free. For a mounted file system, every step is a comment.
//! Text that is unsafe in a shell occurs only in comments.

mod new_filesystem;

use std::collections::BTreeSet;

use super::{Report, TargetSummary, mkfs};
use crate::{Step, setting_source};
use walwise_judge::rules::{Advice, Finding, Level, Outcome, Risk, UserCommand};
use walwise_model::escape::{ShellCommand, comment};
use walwise_model::facts::catalog::target::TargetKind;
use walwise_model::facts::{Scope, SettingSyntax, Subject};

/// A free disk gets commands only as the single target, because a script for several disks invites
/// mistakes. The error is the reason why no script is made, for example that the disk may hold
/// data.
pub fn render(report: &Report) -> Result<String, String> {
    let alone = report.targets.len() == 1;
    if let Some(target) = report.targets.first().filter(|_| alone) {
        refuse_used_disk(target)?;
    }
    let mut parts = vec![script_header(report)];
    for target in &report.targets {
        parts.push(format!(
            "\n# ==== {} ====\n",
            comment::escape_comment_line(&target.title)
        ));
        parts.push(match target.kind {
            TargetKind::Device if alone => new_filesystem::free_disk_part(report, target),
            TargetKind::Device => comment_out(&format!(
                "Free disk. To get a script that creates its file system, run:\n  {}",
                ShellCommand::or_placeholder(mkfs::free_disk_check_command(
                    report,
                    &target.target,
                    " --format script"
                ))
            )),
            TargetKind::Directory | TargetKind::Created => target_part(report, target),
        });
    }
    let apart = untargeted_parts(report);
    let edited = !apart.is_empty() || report.targets.iter().any(|target| !target.kind.is_device());
    parts.extend(apart);
    if edited {
        parts.push("\nprintf 'only the uncommented commands were run\\n'\n".to_owned());
    }
    parts.push("\nexit 0\n".to_owned());
    Ok(parts.concat())
}

fn refuse_used_disk(target: &TargetSummary) -> Result<(), String> {
    match target
        .content
        .as_ref()
        .filter(|content| !content.is_available())
    {
        Some(content) => Err(format!(
            "{}: no script was generated. {}",
            target.title,
            content.evidence_text()
        )),
        None => Ok(()),
    }
}

fn script_header(report: &Report) -> String {
    let origin = if report.host.live {
        ""
    } else {
        "# Made from a capture: run it only on the captured host.\n"
    };
    format!(
        "#!/bin/sh\n\
         # Made by walwise {} on {}, {}.\n\
         {origin}\
         # For review: the script does nothing until you have edited the lines marked EDIT.\n\
         set -eu\n\
         PATH=/usr/sbin:/usr/bin:/sbin:/bin\n\
         LC_ALL=C\n\
         export PATH LC_ALL\n\
         \n\
         I_HAVE_READ_THIS=no     # EDIT: yes\n\
         \n\
         stop() {{\n    printf 'stopped: %s\\n' \"$1\" >&2\n    exit 1\n}}\n\
         \n\
         [ \"$I_HAVE_READ_THIS\" = yes ] || stop 'read this script, then set I_HAVE_READ_THIS=yes; nothing was done'\n\
         [ \"$(id -u)\" = 0 ] || stop 'this script needs root; nothing was done'\n",
        comment::escape_comment_line(&report.tool.version),
        comment::escape_comment_line(&report.host.name),
        comment::escape_comment_line(&report.when),
    )
}

// The parts of a script for the host, and for other subjects that belong to no target.
//
// Every command is a comment. If the user named a target, advice about these other subjects is
// omitted.

fn untargeted_parts(report: &Report) -> Vec<String> {
    let known: BTreeSet<&Subject> = report
        .targets
        .iter()
        .flat_map(|target| &target.subjects)
        .collect();
    let advised = |finding: &&Finding| match finding.outcome {
        Outcome::Applies => finding.level > Level::Optional && !known.contains(&finding.subject),
        Outcome::DoesNotApply | Outcome::Undecided { .. } => false,
    };
    let (host, beside): (Vec<&Finding>, Vec<&Finding>) = report
        .findings
        .iter()
        .filter(advised)
        .partition(|finding| finding.subject.scope() == Scope::Host);
    let beside = if report.asked.is_none() {
        beside
    } else {
        Vec::new()
    };
    let parts = [
        advice_part("this host", &host),
        advice_part("elsewhere on this host", &beside),
    ];
    parts.into_iter().flatten().collect()
}

fn advice_part(title: &str, findings: &[&Finding]) -> Option<String> {
    let steps = findings.iter().flat_map(|finding| {
        finding
            .advice
            .iter()
            .map(|advice| standalone_step(finding, advice))
    });
    let steps: Vec<Step> = steps.filter(|step| !step.keeps_setting()).collect();
    let told: String = (1..)
        .zip(&steps)
        .map(|(number, step)| step_comment(number, step))
        .collect();
    (!steps.is_empty()).then(|| {
        format!(
            "\n# ==== {} ====\n# Uncomment the commands that you want to run.\n{told}",
            comment::escape_comment_line(title)
        )
    })
}

fn standalone_step(finding: &Finding, advice: &Advice) -> Step {
    Step {
        basis: finding.basis,
        subject: finding.subject.clone(),
        level: finding.level,
        confidence: finding.confidence,
        rules: vec![finding.rule.clone()],
        title: finding.title.clone(),
        advice: advice.clone(),
        result: None,
        alternatives: Vec::new(),
    }
}

fn comment_out(text: &str) -> String {
    comment::comment_lines(text.lines())
}

fn no_changes_comment(target: &TargetSummary) -> String {
    format!(
        "# No changes recommended for {}.\n",
        comment::escape_comment_line(&target.title)
    )
}

fn target_part(report: &Report, target: &TargetSummary) -> String {
    let steps = report
        .plan(&target.target)
        .map(|plan| plan.steps.as_slice())
        .unwrap_or_default();
    let mut out = String::new();
    for (number, step) in (1..).zip(steps.iter().filter(|step| !step.keeps_setting())) {
        out.push_str(&step_comment(number, step));
    }
    if out.is_empty() {
        return no_changes_comment(target);
    }
    format!("# Uncomment the commands that you want to run.\n{out}")
}

fn danger_warning(step: &Step) -> Option<&'static str> {
    match step.advice.risk {
        Risk::NeedsNewFilesystem => Some("DESTROYS the file system: copy its data elsewhere first"),
        Risk::DataLossIfWrong => Some("COMMITTED DATA MAY BE LOST if a fact is wrong"),
        Risk::NeedsUnmount => Some("UNMOUNTS the file system: stop the server first"),
        Risk::NeedsRemount if step_unmounts(step) => {
            Some("UNMOUNTS the file system: stop the server first")
        }
        _ => None,
    }
}

fn step_unmounts(step: &Step) -> bool {
    step.advice
        .apply
        .iter()
        .any(|command| command.as_str().starts_with("umount "))
}

fn step_comment(number: usize, step: &Step) -> String {
    let advice = &step.advice;
    let mut lines = vec![
        format!(
            "{number}. {}: {} of {}: {}",
            step.level.as_str(),
            advice.setting,
            step.subject,
            advice.change_text_with_units()
        ),
        step.title.clone(),
    ];
    lines.extend(
        step.result
            .as_ref()
            .map(|result| format!("result: {result}")),
    );
    lines.extend(danger_warning(step).map(|danger| format!("!!!! {danger} !!!!")));
    lines.extend(setting_source_lines(step));
    for (title, commands) in advice.commands_by_purpose() {
        lines.extend((!commands.is_empty()).then(|| format!("{title}:")));
        lines.extend(commands.iter().map(|command| format!("  {command}")));
    }
    lines.extend(advice.own.iter().map(omitted_command_note));
    format!("\n{}", comment_out(&lines.join("\n")))
}

/// The note that replaces a command from the user's own rule, because walwise does not check such
/// commands.
fn omitted_command_note(own: &UserCommand) -> String {
    let UserCommand {
        purpose,
        file,
        line,
        ..
    } = own;
    format!(
        "{}: your own command at {file}:{line} is omitted, because walwise does not check it",
        purpose.as_str()
    )
}

fn setting_source_lines(step: &Step) -> Vec<String> {
    let advice = &step.advice;
    let file = match advice
        .setting
        .kind
        .server_area()
        .map(|area| area.database_profile().syntax)
    {
        None => return Vec::new(),
        Some(SettingSyntax::PostgresConf) => "files",
        Some(SettingSyntax::OptionFile) => "option files",
    };
    let stronger = setting_source::overriding_source(advice)
        .map(|stronger| stronger.override_instruction(file));
    [format!(
        "now: {}",
        setting_source::current_value_with_source(advice)
    )]
    .into_iter()
    .chain(stronger)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceContent, postgres_commands, sample_reports};
    use walwise_judge::rules::{Advice, Change, EffectScope, Risk};
    use walwise_model::escape::{ShellCommand, shell};
    use walwise_model::facts::{Reading, Scope, Source, Subject, Value, catalog};
    use walwise_testkit::deadline::ChildInTime as _;

    fn render(report: &Report) -> String {
        super::render(report).unwrap()
    }

    fn uncommented_lines(script: &str) -> Vec<&str> {
        script
            .lines()
            .filter(|line| !line.trim_start().starts_with('#') && !line.trim().is_empty())
            .collect()
    }

    #[test]
    fn unedited_script_changes_nothing() {
        for report in sample_reports::all_samples() {
            let script = render(&report);
            assert!(script.contains("\nI_HAVE_READ_THIS=no "), "{script}");
            let lines = uncommented_lines(&script);
            let guard = lines
                .iter()
                .position(|line| line.starts_with("[ \"$I_HAVE_READ_THIS\""))
                .unwrap();
            let before = lines
                .iter()
                .take(guard)
                .map(|line| line.split('=').next().unwrap().trim());
            let harmless = [
                "set -eu",
                "PATH",
                "LC_ALL",
                "export PATH LC_ALL",
                "I_HAVE_READ_THIS",
                "stop() {",
                "}",
            ];
            for line in before {
                assert!(
                    harmless.contains(&line) || line.starts_with("printf") || line == "exit 1",
                    "{line}"
                );
            }
        }
    }

    #[test]
    fn mounted_target_gets_only_comments() {
        let script = render(&sample_reports::at_risk());
        let (_, part) = script.split_once("# ====").unwrap();
        let part = &format!("# {part}");
        let told = "printf 'only the uncommented commands were run\\n'";
        assert_eq!(uncommented_lines(part), [told, "exit 0"]);
        assert!(
            part.contains("#   mount -o remount,barrier=1,noatime /srv\n"),
            "{part}"
        );
    }

    #[test]
    fn free_disk_is_checked_and_read_before_mkfs() {
        let script = render(&sample_reports::free_disk());
        let lines = uncommented_lines(&script);
        let mkfs = lines
            .iter()
            .position(|line| line.starts_with("mkfs."))
            .unwrap();
        assert_eq!(lines[mkfs], "mkfs.xfs -i nrext64=0 \"$DEVICE\"");
        assert_eq!(lines[mkfs - 1], "check_disk");
        let read = lines
            .iter()
            .position(|line| line.trim() == "yes) read_all ;;")
            .unwrap();
        assert!(
            read < mkfs
                && lines.contains(&"READ_ALL=yes            # no: trust the report instead")
        );
        assert!(script.contains("mount -t xfs -o noatime \"$DEVICE\" \"$MOUNTPOINT\""));
        assert!(script.contains("\nMOUNTPOINT= "));
        assert!(
            script.contains("\nDATABASE= ")
                && script.contains("    directory=$MOUNTPOINT/$DATABASE\n")
        );
        assert!(
            script.contains("walwise check %s\\n' \"$directory\"\n"),
            "{script}"
        );
        assert!(
            script.contains("\nADD_TO_FSTAB=no ") && script.contains("initdb"),
            "{script}"
        );
    }

    #[test]
    fn serial_number_check_follows_its_sysfs_file() {
        let mut report = sample_reports::free_disk();
        let disks: Vec<Subject> = report
            .facts
            .subjects_of_scope(Scope::Device)
            .cloned()
            .collect();
        for (file, serial, identity) in [("serial", "", "DATA-0"), ("device/serial", "DATA-0", "")]
        {
            for disk in &disks {
                let source = Source::from_file(format!("/sys/class/block/{}/{file}", disk.name()));
                report
                    .facts
                    .insert(disk, &catalog::device::UNIT, Reading::not_collected());
                report.facts.insert_known(
                    disk,
                    &catalog::device::SERIAL,
                    "DATA-0".to_owned(),
                    source,
                );
            }
            let script = render(&report);
            assert!(script.contains(&format!("\nSERIAL={serial}\n")), "{script}");
            assert!(
                script.contains(&format!(
                    "\nIDENTITY={}\n",
                    shell::quote_shell_word(identity).unwrap()
                )),
                "{script}"
            );
            assert!(!script.contains("I_COMPARED_THE_DISK"), "{script}");
        }
    }

    #[test]
    fn script_has_fstab_line_and_disk_evidence() {
        let script = render(&sample_reports::free_disk());
        let line =
            "line=\"UUID=$(blkid -p -s UUID -o value \"$DEVICE\") $MOUNTPOINT xfs noatime 0 0\"";
        assert!(uncommented_lines(&script).contains(&line), "{script}");
        assert!(
            script.contains(
                "# No mount, swap space or device uses this device. No data was found in "
            ),
            "{script}"
        );
    }

    #[test]
    fn a_disk_of_unknown_size_gets_no_mkfs() {
        let mut report = sample_reports::free_disk();
        let disks: Vec<Subject> = report
            .facts
            .subjects_of_scope(Scope::Device)
            .cloned()
            .collect();
        for disk in disks {
            report
                .facts
                .insert(&disk, &catalog::device::SIZE, Reading::not_collected());
        }
        let script = render(&report);
        assert!(
            !uncommented_lines(&script)
                .iter()
                .any(|line| line.contains("mkfs")),
            "{script}"
        );
    }

    #[test]
    fn a_disk_that_is_not_free_gets_no_script() {
        let holds = DeviceContent::Holds {
            holds: vec!["xfs".to_owned()],
        };
        let unreadable = DeviceContent::Unreadable {
            because: "Input/output error".to_owned(),
            remedy: None,
        };
        for (content, says) in [(holds, "holds xfs"), (unreadable, "Input/output error")] {
            let mut report = sample_reports::free_disk();
            report.targets[0].content = Some(content);
            let refused = super::render(&report).unwrap_err();
            assert!(
                refused.contains("/dev/sdc: no script was generated.") && refused.contains(says),
                "{refused}"
            );
        }
    }

    #[test]
    fn hostile_text_stays_in_comments() {
        let evil = "x\n; rm -rf $(id) `id` '\"\u{202e}";
        let mut report = sample_reports::free_disk();
        report.host.name = evil.to_owned();
        report.tool.version = evil.to_owned();
        for target in &mut report.targets {
            target.title = evil.to_owned();
        }
        let before = uncommented_lines(&render(&sample_reports::free_disk())).join("\n");
        for step in &mut report.plans[0].steps {
            step.title = evil.to_owned();
        }
        assert_eq!(uncommented_lines(&render(&report)).join("\n"), before);

        for setting in ["mkfs.options", "mount.options", "filesystem"] {
            let mut report = sample_reports::free_disk();
            let step = report.plans[0]
                .steps
                .iter_mut()
                .find(|step| step.advice.setting.name == setting)
                .unwrap();
            let change = if setting == "filesystem" {
                Change::Set(evil.to_owned())
            } else {
                Change::Add(vec![evil.to_owned()])
            };
            step.advice.change = change;
            step.result = Some(evil.to_owned());
            let script = render(&report);
            assert!(
                !uncommented_lines(&script)
                    .iter()
                    .any(|line| line.contains("rm -rf") || line.contains("mkfs")),
                "{script}"
            );
        }
    }

    #[test]
    fn mkfs_force_options_are_rejected() {
        for word in ["-f", "-F", "-Ff", "-O x -F"] {
            let mut report = sample_reports::free_disk();
            let plan = &mut report.plans[0];
            let step = plan
                .steps
                .iter_mut()
                .find(|step| step.advice.setting.name == "mkfs.options")
                .unwrap();
            step.advice.change = Change::Add(vec![word.to_owned()]);
            let script = render(&report);
            assert!(
                !uncommented_lines(&script)
                    .iter()
                    .any(|line| line.contains("mkfs")),
                "{word}: {script}"
            );
        }
    }

    #[test]
    fn server_setting_comment_has_source_and_command() {
        let cases = [
            (
                "fdatasync",
                "/etc/10.conf",
                Risk::NeedsReload,
                "#   psql -c \"ALTER SYSTEM SET wal_sync_method = 'fdatasync'\" -c 'SELECT pg_reload_conf()'\n",
            ),
            (
                "fdatasync",
                "/etc/10.conf",
                Risk::NeedsRestart,
                "#   psql -c \"ALTER SYSTEM SET wal_sync_method = 'fdatasync'\"\n#   # then restart the server\n",
            ),
            (
                "o'x, \\y\nz",
                "/etc/10.conf",
                Risk::NeedsRestart,
                r"  psql -c 'ALTER SYSTEM SET wal_sync_method = '\''o'\'''\''x, \y?z'\'''",
            ),
            (
                "fdatasync",
                "/proc/10/cmdline",
                Risk::NeedsReload,
                "the server's command line overrides files: change the option there and restart\n",
            ),
        ];
        for (value, file, risk, told) in cases {
            let mut report = sample_reports::at_risk();
            let step = report.plans[0].steps.first_mut().unwrap();
            let advice = Advice {
                risk,
                current: Reading::known(
                    Value::Text("open_sync".to_owned()),
                    Source::from_file_line(file, 1),
                ),
                ..sample_reports::advice("pg.wal_sync_method", Change::Set(value.to_owned()))
            };
            let cluster = Subject::cluster("/srv/pg/15/main");
            let mut findings = [sample_reports::finding(
                "any",
                &cluster,
                step.level,
                vec![advice],
            )];
            postgres_commands::add_commands(&mut findings, &report.facts);
            step.advice = findings[0].advice[0].clone();
            let script = render(&report);
            assert!(
                script.contains(&format!("# now: open_sync, set in {file}:1\n"))
                    && script.contains(told),
                "{script}"
            );
            assert!(!script.contains("by hand"), "{script}");
            assert_eq!(
                script.contains("ALTER SYSTEM SET"),
                told.contains("ALTER SYSTEM SET"),
                "{script}"
            );
            assert_eq!(
                uncommented_lines(&script),
                uncommented_lines(&render(&sample_reports::at_risk())),
                "{script}"
            );
        }
    }

    #[test]
    fn new_filesystem_step_warns_of_destruction() {
        let mut report = sample_reports::at_risk();
        let step = report.plans[0].steps.first_mut().unwrap();
        step.advice = Advice {
            reach: EffectScope::WholeFilesystem,
            risk: Risk::NeedsNewFilesystem,
            apply: vec![ShellCommand::new("mkfs.ext4 /dev/md0\nreboot")],
            ..sample_reports::advice("filesystem", Change::Set("ext4".to_owned()))
        };
        let script = render(&report);
        assert!(script.contains("!!!! DESTROYS"), "{script}");
        assert!(
            script.contains("#   mkfs.ext4 /dev/md0\n# reboot\n"),
            "a second line stays a comment: {script}"
        );
    }

    #[test]
    fn script_has_valid_shell_syntax() {
        for report in sample_reports::all_samples() {
            let shell = std::process::Command::new("/bin/sh")
                .arg("-n")
                .stdin(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            let output = shell.output_for_input(render(&report).as_bytes());
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }

    #[test]
    #[ignore = "needs shellcheck"]
    fn script_passes_shellcheck() {
        use std::process::{Command, Stdio};
        for report in sample_reports::all_samples() {
            let script = render(&report);
            let edited = script.replace("I_HAVE_READ_THIS=no ", "I_HAVE_READ_THIS=yes");
            let edited = edited.replace("MOUNTPOINT= ", "MOUNTPOINT=/srv/new");
            for script in [script, edited] {
                let linter = Command::new("shellcheck")
                    .args(["--norc", "--shell=sh", "--severity=style", "-"])
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .spawn()
                    .unwrap();
                let output = linter.output_for_input(script.as_bytes());
                assert!(
                    output.status.success(),
                    "{}\n{script}",
                    String::from_utf8_lossy(&output.stdout)
                );
            }
        }
    }

    #[test]
    fn template_placeholders_are_replaced_once() {
        for report in sample_reports::all_samples() {
            let script = render(&report);
            assert!(!script.contains('@'), "{script}");
        }
        assert_eq!(
            new_filesystem::fill_template("a @b@ @c@", &[("b", "@c@"), ("c", "d")]),
            "a @c@ d"
        );
    }
}
