//! Examples and notes of every command, in one place for `--help` and the manual pages.
//!
//! Tests check that every command has examples, and that each can be typed as it stands.

use std::fmt::Write as _;

/// The text at the end of a command's help.
pub struct Examples {
    /// The command, without `walwise`: `rules list`.
    pub of: &'static str,
    /// Lines to type, with their purpose.
    pub lines: &'static [(&'static str, &'static str)],
    /// Further notes, each with a heading.
    pub notes: &'static [(&'static str, &'static str)],
}

const EXIT_CODES: (&str, &str) = (
    "Exit codes",
    "0 nothing found at or above --fail-on, 3 a critical finding, 4 a warning, 5 undecided. Everywhere: 2 wrong use or an \
     input that cannot be used, 128 + n on a signal, 1 anything else.",
);

/// All of them, in the order of the commands.
pub const ALL: &[Examples] = &[
    Examples {
        of: "",
        lines: &[
            (
                "walwise",
                "browse on screens; nothing is written until you say so",
            ),
            (
                "walwise check /srv/pgdata",
                "verdict, measurement and plan of one directory",
            ),
            (
                "walwise check --format json > report.json",
                "everything found on this host, as JSON",
            ),
            (
                "walwise check /srv/pgdata --format fstab",
                "lines of /etc/fstab to change, to review and paste",
            ),
            (
                "walwise upgrade --kernel 6.12 --os rhel10",
                "what the next kernel changes, blockers first",
            ),
            (
                "walwise capture > db7.host",
                "this host as one text file, to be looked at elsewhere",
            ),
        ],
        notes: &[EXIT_CODES],
    },
    Examples {
        of: "check",
        lines: &[
            (
                "walwise check /srv/pgdata -v",
                "the whole report: evidence, reasons, what can be undone and how",
            ),
            (
                "walwise check /srv/pgdata --only plan",
                "what to do, with every command",
            ),
            (
                "walwise check /srv/pgdata --save",
                "before an upgrade of the system: keep the report",
            ),
            (
                "walwise check /srv/pgdata --baseline last",
                "after it: regressions, fixes and changed facts",
            ),
            (
                "walwise check --no-probe --format nagios",
                "for Nagios and Icinga: one line, and their exit codes",
            ),
            (
                "walwise check --mysql-defaults /srv/db/my.cnf",
                "a stopped MariaDB or MySQL, as it would start with this file",
            ),
            (
                "walwise check /dev/sdb --fs xfs --format script",
                "a free disk: the script that makes XFS on it and mounts it",
            ),
            (
                "walwise check /dev/sdb --trial trial.json",
                "let a trial of this disk choose between equal file systems",
            ),
            (
                "walwise check --assume kernel.release=6.18",
                "what would differ with another kernel",
            ),
            (
                "walwise check --assume controller.battery@sda=failed",
                "or if the battery before that disk failed",
            ),
            (
                "walwise check --assume device.drive_cache@sda=off",
                "or if that disk's own volatile cache were off",
            ),
        ],
        notes: &[
            (
                "What if",
                "assumptions change neither plan nor exports nor exit code; the differences are shown \
                 apart, at the end (in JSON as `what_if`). `walwise facts --list` names all facts.",
            ),
            (
                "Another disk",
                "an NVMe drive with power-loss protection has no volatile cache, and the kernel goes by that: assume \
                 nvme.volatile_cache@nvme0n1=false. What is assumed never unlocks a setting that can lose data: that \
                 takes facts which were seen on this machine.",
            ),
            EXIT_CODES,
        ],
    },
    Examples {
        of: "upgrade",
        lines: &[
            (
                "walwise upgrade --kernel 6.12",
                "the next kernel of the same distribution",
            ),
            (
                "walwise upgrade --os rhel10 --host db7.host",
                "a captured host with RHEL 10 and its kernel",
            ),
            (
                "walwise upgrade --kernel 6.18 --xfsprogs 6.18",
                "kernel and tools together",
            ),
        ],
        notes: &[(
            "Exit codes",
            "0 nothing at or above --fail-on stands in the way, 3 something critical, 4 a warning, 5 undecided. What gets \
             better does not count, and what is wrong today and not touched by the upgrade does where the next boot meets it.",
        )],
    },
    Examples {
        of: "show",
        lines: &[
            (
                "walwise show report.html",
                "what a report said that somebody sent, as text",
            ),
            (
                "walwise show report.html --format json",
                "the JSON inside, as `walwise check --format json` wrote it",
            ),
        ],
        notes: &[(
            "Trust",
            "a report is a file that anybody can write: it is told as text, and its commands are left out.",
        )],
    },
    Examples {
        of: "probe",
        lines: &[
            (
                "walwise probe /srv/pgdata",
                "what a commit costs with each method",
            ),
            (
                "walwise probe /srv/pgdata --workload group,segment",
                "sessions that share flushes; new WAL segments",
            ),
            (
                "walwise probe --import pg_test_fsync.txt",
                "figures from elsewhere, in the same form",
            ),
        ],
        notes: &[],
    },
    Examples {
        of: "trial",
        lines: &[
            (
                "walwise trial /srv",
                "the usual file systems on the disk of /srv, for at most 20 minutes",
            ),
            (
                "walwise trial /srv --candidates xfs,ext4 --budget 1h --record trial.json",
                "only these, for longer; every sample is kept",
            ),
            (
                "walwise trial /srv --preset methods",
                "PostgreSQL's sync methods on each file system",
            ),
            (
                "walwise trial /srv --format html --output trial.html",
                "a page with pictures and the record inside",
            ),
            (
                "walwise trial /dev/sdb --erase S4EVNX0M",
                "a blank spare disk, named by its serial number",
            ),
        ],
        notes: &[
            (
                "What it does",
                "a trial in a directory writes one unnamed loop file there. It makes each file system as `walwise \
                 check` advises and mounts it in a namespace of its own. It measures commits in blocks, each in a \
                 new random order. A signal, or q on the terminal's screen, ends the trial; the report says what the \
                 last look supports. The loop file goes with the trial.",
            ),
            (
                "On a spare disk",
                "the disk is erased only if every check finds it free and you name it by its serial number or WWN. \
                 At the end the trial fills what it wrote with zeros.",
            ),
            (
                "Use of the result",
                "`walwise check --trial FILE` reads the record or the HTML page. It counts as measured on this disk \
                 if serial number or WWN, firmware, kernel and stack are the same.",
            ),
        ],
    },
    Examples {
        of: "drill",
        lines: &[
            (
                "walwise drill /srv/test",
                "print the instructions; nothing is written",
            ),
            (
                "walwise drill check acknowledged.log survived.log",
                "afterwards: what is lost",
            ),
        ],
        notes: &[],
    },
    Examples {
        of: "drill write",
        lines: &[
            (
                "walwise drill write /srv/test",
                "commit until the power fails; keep the output on another machine",
            ),
            (
                "walwise drill write /srv/test --method open_datasync --segments fresh",
                "the same in another way",
            ),
        ],
        notes: &[],
    },
    Examples {
        of: "drill read",
        lines: &[(
            "walwise drill read /srv/test > survived.log",
            "after the restart",
        )],
        notes: &[],
    },
    Examples {
        of: "drill check",
        lines: &[
            (
                "walwise drill check acknowledged.log survived.log",
                "exit code 3: something is lost, 5: nothing is shown",
            ),
            (
                "walwise drill check acknowledged.log survived.log --record drills.json",
                "the same, for `walwise check --drill drills.json`",
            ),
        ],
        notes: &[],
    },
    Examples {
        of: "facts",
        lines: &[
            (
                "walwise facts device. /srv/pgdata",
                "every fact of the devices below it, with sources",
            ),
            ("walwise facts --list", "every fact and its meaning"),
        ],
        notes: &[],
    },
    Examples {
        of: "rules",
        lines: &[
            ("walwise rules list", "the rules, one per line"),
            (
                "walwise rules show barrier.ext4-off",
                "one rule: when it applies, its advice, its sources",
            ),
        ],
        notes: &[],
    },
    Examples {
        of: "rules list",
        lines: &[
            (
                "walwise rules list",
                "every rule in force, including your own",
            ),
            ("walwise rules list --settings", "what can be advised"),
        ],
        notes: &[],
    },
    Examples {
        of: "rules show",
        lines: &[(
            "walwise rules show barrier.ext4-off",
            "its condition, advice, examples and sources",
        )],
        notes: &[],
    },
    Examples {
        of: "rules check",
        lines: &[(
            "walwise rules check our-rules.toml",
            "before it goes to /etc/walwise/rules.d",
        )],
        notes: &[],
    },
    Examples {
        of: "explain",
        lines: &[
            (
                "walwise explain barrier.ext4-off /srv/pgdata",
                "its condition with the readings of this directory",
            ),
            (
                "walwise explain barrier.ext4-off --host db7.host",
                "the same of every file system of a captured host",
            ),
        ],
        notes: &[],
    },
    Examples {
        of: "capture",
        lines: &[
            (
                "walwise capture > db7.host",
                "this host as masked text: read it before you share it",
            ),
            (
                "walwise capture /srv/pgdata --output db7.host",
                "with a directory that is not found automatically",
            ),
            (
                "walwise capture --output db7.host --output-mode 0640",
                "readable by its group",
            ),
        ],
        notes: &[
            (
                "Elsewhere",
                "every command that reads a host takes --host db7.host instead, and the target's path as it was before it was \
                 masked.",
            ),
            (
                "Masked",
                "serial numbers, UUIDs, world-wide names, names of hosts, of users, of databases and roles and of mounts without \
                 a device, IPv4, IPv6 and Ethernet addresses, identifiers of containers: each has one mask wherever it stands, \
                 also inside paths, labels and names of volumes, so that what belongs together still does.",
            ),
            (
                "Not masked",
                "paths, labels, names of volumes, pools and settings, as far as nothing stands in them that is known as one of \
                 these; serial numbers shorter than six and names shorter than three characters outside of where they are \
                 expected, and names that are common words, such as a host called data; the domain behind a host's name where \
                 the name alone is known; accounts of systems and servers, such as postgres; models, firmware, versions, \
                 sizes, mount options, ids of users and processes. --no-mask masks nothing; no password is in either.",
            ),
        ],
    },
    Examples {
        of: "generate",
        lines: &[
            (
                "walwise generate completions bash",
                "print the completions for bash",
            ),
            (
                "walwise generate schema > report.schema.json",
                "the schema of `check --format json`",
            ),
        ],
        notes: &[],
    },
    Examples {
        of: "generate completions",
        lines: &[
            (
                "walwise generate completions bash > /etc/bash_completion.d/walwise",
                "for all users of bash",
            ),
            (
                "walwise generate completions fish > ~/.config/fish/completions/walwise.fish",
                "for your own fish",
            ),
        ],
        notes: &[],
    },
    Examples {
        of: "generate schema",
        lines: &[(
            "walwise generate schema > report.schema.json",
            "the schema of `check --format json`",
        )],
        notes: &[],
    },
];

/// The examples of a command.
pub fn of(command: &str) -> Option<&'static Examples> {
    ALL.iter().find(|examples| examples.of == command)
}

/// The end of a command's help: each example takes two lines, which fit any terminal.
pub fn help(command: &str) -> String {
    let Some(examples) = of(command) else {
        return String::new();
    };
    let mut text = "Examples:".to_owned();
    for (line, what_for) in examples.lines {
        let _ = write!(text, "\n  {line}\n      {what_for}");
    }
    for (head, note) in examples.notes {
        let _ = write!(text, "\n\n{head}: {note}");
    }
    text
}
