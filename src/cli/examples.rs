//! Examples and notes of every command, in one place for `--help` and the manual pages.
//!
//! Tests check that every command has examples, and that each can be typed as it stands.

use std::fmt::Write as _;

/// Appended to the help of a command.
pub struct Examples {
    /// The command without `walwise`, such as `rules list`.
    pub command: &'static str,
    /// Command lines, each with its purpose.
    pub lines: &'static [(&'static str, &'static str)],
    /// Further notes, each with a heading.
    pub notes: &'static [(&'static str, &'static str)],
}

const EXIT_CODES: (&str, &str) = (
    "Exit codes",
    "0 nothing found at or above --fail-on, 3 a critical finding, 4 a warning, 5 undecided. Always: 2 wrong use or an \
     unusable input, 128 + n on a signal, 1 any other error.",
);

/// Examples of every command, in the order of the commands in the help.
pub const ALL: &[Examples] = &[
    Examples {
        command: "",
        lines: &[
            (
                "walwise",
                "interactive screens; nothing is written until you confirm",
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
                "changed /etc/fstab lines, to review and paste",
            ),
            (
                "walwise upgrade --kernel 6.12 --os rhel10",
                "what an upgrade changes, blockers first",
            ),
            (
                "walwise capture > db7.host",
                "this host as one text file, to analyse elsewhere",
            ),
        ],
        notes: &[EXIT_CODES],
    },
    Examples {
        command: "check",
        lines: &[
            (
                "walwise check /srv/pgdata -v",
                "the full report: evidence, reasons, how to undo",
            ),
            (
                "walwise check /srv/pgdata --only plan",
                "what to do, with every command",
            ),
            (
                "walwise check /srv/pgdata --save",
                "before a system upgrade: save the report",
            ),
            (
                "walwise check /srv/pgdata --baseline last",
                "after the upgrade: regressions, fixes and changed facts",
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
                "a free disk: the script that creates and mounts XFS",
            ),
            (
                "walwise check /dev/sdb --trial trial.json",
                "let a trial of this disk choose the file system",
            ),
            (
                "walwise check --assume kernel.release=6.18",
                "what would differ with another kernel",
            ),
            (
                "walwise check --assume controller.battery@sda=failed",
                "what would differ if the battery of that disk's controller failed",
            ),
            (
                "walwise check --assume device.drive_cache@sda=off",
                "what would differ if that disk's volatile cache were off",
            ),
        ],
        notes: &[
            (
                "What if",
                "assumptions do not change the plan, exports or exit code; the differences are listed \
                 at the end (JSON: `what_if`). `walwise facts --list` lists all facts.",
            ),
            (
                "Another disk",
                "an NVMe drive with power-loss protection reports no volatile cache: assume \
                 nvme.volatile_cache@nvme0n1=false. An assumption never unlocks a setting that can lose data; only \
                 facts read on this host can.",
            ),
            EXIT_CODES,
        ],
    },
    Examples {
        command: "upgrade",
        lines: &[
            (
                "walwise upgrade --kernel 6.12",
                "the next kernel of the same distribution",
            ),
            (
                "walwise upgrade --os rhel10 --host db7.host",
                "a capture, as if it ran RHEL 10 with its kernel",
            ),
            (
                "walwise upgrade --kernel 6.18 --xfsprogs 6.18",
                "a new kernel and new tools together",
            ),
        ],
        notes: &[(
            "Exit codes",
            "0 no blocker at or above --fail-on, 3 critical, 4 warning, 5 undecided. Improvements do not \
             count. Existing problems count only if they affect the next boot.",
        )],
    },
    Examples {
        command: "show",
        lines: &[
            (
                "walwise show report.html",
                "read a report that someone sent you",
            ),
            (
                "walwise show report.html --format json",
                "the embedded JSON, as `walwise check --format json` wrote it",
            ),
        ],
        notes: &[(
            "Trust",
            "anyone can write a report file, so it is shown as text, without its commands.",
        )],
    },
    Examples {
        command: "probe",
        lines: &[
            (
                "walwise probe /srv/pgdata",
                "commit latency with each sync method",
            ),
            (
                "walwise probe /srv/pgdata --workload group,segment",
                "clients that share flushes; new WAL segments",
            ),
            (
                "walwise probe --import pg_test_fsync.txt",
                "figures measured elsewhere, in the same layout",
            ),
        ],
        notes: &[],
    },
    Examples {
        command: "trial",
        lines: &[
            (
                "walwise trial /srv",
                "the usual file systems on the disk of /srv, for at most 20 minutes",
            ),
            (
                "walwise trial /srv --candidates xfs,ext4 --budget 1h --record trial.json",
                "only XFS and ext4, for up to 1 hour; save every sample",
            ),
            (
                "walwise trial /srv --preset methods",
                "PostgreSQL's sync methods on each file system",
            ),
            (
                "walwise trial /srv --format html --output trial.html",
                "a page with charts and the record",
            ),
            (
                "walwise trial /dev/sdb --erase S4EVNX0M",
                "a blank spare disk, identified by serial number",
            ),
        ],
        notes: &[
            (
                "What it does",
                "a trial in a directory writes one unnamed loop file there. It creates each file system as `walwise \
                 check` advises, and mounts it in its own namespace. It measures commits in blocks, each in a \
                 new random order. A signal, or q on the screen, ends the trial; the report shows what the last \
                 interim analysis supports. The loop file is deleted when the trial ends.",
            ),
            (
                "On a spare disk",
                "the disk is erased only if every check finds it free and you name it by its serial number or WWN. \
                 At the end the trial overwrites its data with zeros.",
            ),
            (
                "Use of the result",
                "`walwise check --trial FILE` reads the record or the HTML page. The result counts as measured on this \
                 disk if serial number or WWN, firmware, kernel and storage stack are the same.",
            ),
        ],
    },
    Examples {
        command: "drill",
        lines: &[
            (
                "walwise drill /srv/test",
                "print the instructions, write nothing",
            ),
            (
                "walwise drill check acknowledged.log survived.log",
                "afterwards: list lost commits",
            ),
        ],
        notes: &[],
    },
    Examples {
        command: "drill write",
        lines: &[
            (
                "walwise drill write /srv/test",
                "commit until power is cut; save the output on another host",
            ),
            (
                "walwise drill write /srv/test --method open_datasync --segments fresh",
                "another sync method, new segments",
            ),
        ],
        notes: &[],
    },
    Examples {
        command: "drill read",
        lines: &[(
            "walwise drill read /srv/test > survived.log",
            "after the reboot",
        )],
        notes: &[],
    },
    Examples {
        command: "drill check",
        lines: &[
            (
                "walwise drill check acknowledged.log survived.log",
                "exit code 3: commits were lost, 5: nothing proven",
            ),
            (
                "walwise drill check acknowledged.log survived.log --record drills.json",
                "also record the result for `walwise check --drill drills.json`",
            ),
        ],
        notes: &[],
    },
    Examples {
        command: "facts",
        lines: &[
            (
                "walwise facts device. /srv/pgdata",
                "facts of the devices below /srv/pgdata, with sources",
            ),
            ("walwise facts --list", "every fact and its meaning"),
        ],
        notes: &[],
    },
    Examples {
        command: "rules",
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
        command: "rules list",
        lines: &[
            (
                "walwise rules list",
                "every rule in force, including your own",
            ),
            (
                "walwise rules list --settings",
                "the settings that rules can advise",
            ),
        ],
        notes: &[],
    },
    Examples {
        command: "rules show",
        lines: &[(
            "walwise rules show barrier.ext4-off",
            "the condition, advice, examples and sources of a rule",
        )],
        notes: &[],
    },
    Examples {
        command: "rules check",
        lines: &[(
            "walwise rules check our-rules.toml",
            "check a rule file before you install it in /etc/walwise/rules.d",
        )],
        notes: &[],
    },
    Examples {
        command: "explain",
        lines: &[
            (
                "walwise explain barrier.ext4-off /srv/pgdata",
                "the condition of the rule with the readings for this directory",
            ),
            (
                "walwise explain barrier.ext4-off --host db7.host",
                "the condition of the rule for every file system of a captured host",
            ),
        ],
        notes: &[],
    },
    Examples {
        command: "capture",
        lines: &[
            (
                "walwise capture > db7.host",
                "this host as masked text: check it before you share it",
            ),
            (
                "walwise capture /srv/pgdata --output db7.host",
                "including a directory that is not found automatically",
            ),
            (
                "walwise capture --output db7.host --output-mode 0640",
                "a capture that the group of the file can read",
            ),
        ],
        notes: &[
            (
                "Elsewhere",
                "every command that reads a host accepts --host db7.host, and the target's path as it was before \
                 masking.",
            ),
            (
                "Masked",
                "serial numbers, UUIDs, world-wide names, names of hosts, users, databases and roles, sources of mounts without \
                 a device, IPv4, IPv6 and Ethernet addresses, and identifiers of containers. Each value gets one mask \
                 everywhere, also inside paths, labels and volume names, so references still match.",
            ),
            (
                "Not masked",
                "paths, labels, and names of volumes, pools and settings, unless they contain a masked value; system and server \
                 accounts, such as postgres; models, firmware, versions, sizes, mount options, user and process ids. \
                 Outside their usual places, serial numbers under six characters, names under three characters, and \
                 common words, such as a host called data, stay. The domain of a host stays if only its bare name is \
                 known. --no-mask masks nothing. No capture contains passwords, masked or not.",
            ),
        ],
    },
    Examples {
        command: "generate",
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
        command: "generate completions",
        lines: &[
            (
                "walwise generate completions bash > /etc/bash_completion.d/walwise",
                "for all users",
            ),
            (
                "walwise generate completions fish > ~/.config/fish/completions/walwise.fish",
                "for your user",
            ),
        ],
        notes: &[],
    },
    Examples {
        command: "generate schema",
        lines: &[(
            "walwise generate schema > report.schema.json",
            "the schema of `check --format json`",
        )],
        notes: &[],
    },
];

pub fn examples_for(command: &str) -> Option<&'static Examples> {
    ALL.iter().find(|examples| examples.command == command)
}

/// The end of a command's help. Examples take two lines each, so they fit an 80-column terminal.
pub fn examples_help(command: &str) -> String {
    let Some(examples) = examples_for(command) else {
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
