//! Examples in the help of every command. Tests check that each example is a valid command line.

use std::fmt::Write as _;

pub struct CommandExamples {
    /// The command without `walwise`, such as `rules list`.
    pub command: &'static str,
    /// Command lines, each with its purpose.
    pub lines: &'static [(&'static str, &'static str)],
    /// Further notes, each with a heading.
    pub notes: &'static [(&'static str, &'static str)],
}

const EXIT_CODES: (&str, &str) = (
    "Exit codes",
    "0 for no finding at or above --fail-on, 3 for a critical finding, 4 for a warning, 5 for undecided. \
     With any --fail-on: 2 for invalid arguments or input, 128 + n for signal n, 1 for any other error.",
);

pub const ALL: &[CommandExamples] = &[
    CommandExamples {
        command: "",
        lines: &[
            (
                "walwise",
                "interactive screens; nothing is written until you confirm",
            ),
            (
                "walwise check /srv/pgdata",
                "verdict, measurement and plan for one directory",
            ),
            (
                "walwise check -v --format json > report.json",
                "everything found on this host, as JSON",
            ),
            (
                "walwise check /srv/pgdata --format fstab",
                "changed /etc/fstab lines, to review and paste",
            ),
            (
                "walwise upgrade --kernel 6.12 --os rhel10",
                "changes caused by an upgrade, blockers first",
            ),
            (
                "walwise capture > db7.host",
                "this host as one text file, to analyse elsewhere",
            ),
        ],
        notes: &[EXIT_CODES],
    },
    CommandExamples {
        command: "check",
        lines: &[
            (
                "walwise check /srv/pgdata -v",
                "the full report: evidence, reasons, how to undo",
            ),
            (
                "walwise check /srv/pgdata --only plan",
                "the plan, with every command",
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
                "one status line, and an exit code for Nagios or Icinga",
            ),
            (
                "walwise check --mysql-defaults /srv/db/my.cnf",
                "a stopped MariaDB or MySQL server, configured by this file",
            ),
            (
                "walwise check /dev/sdb --fs xfs --format script",
                "a script that creates and mounts XFS on a free disk",
            ),
            (
                "walwise check /dev/sdb --trial trial.json",
                "use a trial of this disk to choose the file system",
            ),
            (
                "walwise check --assume kernel.release=6.18",
                "differences with another kernel",
            ),
            (
                "walwise check --assume controller.battery@sda=failed",
                "differences if the battery of that disk's controller failed",
            ),
            (
                "walwise check --assume device.drive_cache@sda=off",
                "differences if that disk's volatile cache were off",
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
    CommandExamples {
        command: "upgrade",
        lines: &[
            (
                "walwise upgrade --kernel 6.12",
                "the next kernel of the same distribution",
            ),
            (
                "walwise upgrade --os rhel10 --host db7.host",
                "a captured host, as if it ran RHEL 10 and its kernel",
            ),
            (
                "walwise upgrade --kernel 6.18 --xfsprogs 6.18",
                "a new kernel and new tools together",
            ),
        ],
        notes: &[(
            "Exit codes",
            "0 for no blocker at or above --fail-on, 3 for critical, 4 for warning, 5 for undecided. \
             Improvements do not count. Existing problems count only if they affect the next boot.",
        )],
    },
    CommandExamples {
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
    CommandExamples {
        command: "probe",
        lines: &[
            (
                "walwise probe /srv/pgdata",
                "commit latency with each sync method",
            ),
            (
                "walwise probe /srv/pgdata --workload group,segment",
                "group commit with 1 to 16 clients; new WAL segments",
            ),
            (
                "walwise probe /var/lib/etcd --profile etcd",
                "is the disk fast enough for etcd (p99 < 10 ms)?",
            ),
        ],
        notes: &[],
    },
    CommandExamples {
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
                "a trial in a directory writes one unnamed loop file there. The trial creates each file system as \
                 `walwise check` recommends, and mounts it in a private mount namespace. Commits are measured in \
                 blocks, each with the candidates in a new random order. A signal, or q on the screen, ends the trial; \
                 the report then shows the result of the last interim analysis. The loop file is deleted when the \
                 trial ends.",
            ),
            (
                "On a spare disk",
                "the disk is erased only if every check finds it free and you identify it by its serial number or WWN. \
                 At the end the trial overwrites its data with zeros.",
            ),
            (
                "Use of the result",
                "`walwise check --trial FILE` reads the record or the HTML page. The result is treated as \
                 measured on this disk if serial number or WWN, firmware, kernel and storage stack are the \
                 same.",
            ),
        ],
    },
    CommandExamples {
        command: "drill",
        lines: &[
            (
                "walwise drill /srv/test",
                "print the instructions; nothing is written",
            ),
            (
                "walwise drill check acknowledged.log survived.log",
                "afterwards: list lost commits",
            ),
        ],
        notes: &[],
    },
    CommandExamples {
        command: "drill write",
        lines: &[
            (
                "walwise drill write /srv/test",
                "commit until the power is cut; save the output on another host",
            ),
            (
                "walwise drill write /srv/test --method open_datasync --segments fresh",
                "another sync method, new segments",
            ),
        ],
        notes: &[],
    },
    CommandExamples {
        command: "drill read",
        lines: &[(
            "walwise drill read /srv/test > survived.log",
            "after the reboot",
        )],
        notes: &[],
    },
    CommandExamples {
        command: "drill check",
        lines: &[
            (
                "walwise drill check acknowledged.log survived.log",
                "exit code 3: commits were lost; 5: nothing was proven",
            ),
            (
                "walwise drill check acknowledged.log survived.log --record drills.json",
                "also record the result for `walwise check --drill drills.json`",
            ),
        ],
        notes: &[],
    },
    CommandExamples {
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
    CommandExamples {
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
    CommandExamples {
        command: "rules list",
        lines: &[
            (
                "walwise rules list",
                "every rule in force, including your own",
            ),
            (
                "walwise rules list --settings",
                "the settings that rules can recommend",
            ),
        ],
        notes: &[],
    },
    CommandExamples {
        command: "rules show",
        lines: &[(
            "walwise rules show barrier.ext4-off",
            "the condition, advice, examples and sources of a rule",
        )],
        notes: &[],
    },
    CommandExamples {
        command: "rules check",
        lines: &[(
            "walwise rules check our-rules.toml",
            "check a rule file before you install it in /etc/walwise/rules.d",
        )],
        notes: &[],
    },
    CommandExamples {
        command: "explain",
        lines: &[
            (
                "walwise explain barrier.ext4-off /srv/pgdata",
                "the condition of the rule, with the values read for this directory",
            ),
            (
                "walwise explain barrier.ext4-off --host db7.host",
                "the same condition for every file system on a captured host",
            ),
        ],
        notes: &[],
    },
    CommandExamples {
        command: "capture",
        lines: &[
            (
                "walwise capture > db7.host",
                "this host as masked text: check the file before you share it",
            ),
            (
                "walwise capture /srv/pgdata --output db7.host",
                "including a directory that is not found automatically",
            ),
            (
                "walwise capture --output db7.host --output-mode 0640",
                "a capture that the file's group can read",
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
                "serial numbers, UUIDs and world-wide names; names of hosts, users, databases and roles; mount sources that are \
                 not devices; IPv4, IPv6 and Ethernet addresses; container IDs. Each value gets the same mask \
                 everywhere, including inside paths, labels and volume names, so that references still \
                 match.",
            ),
            (
                "Not masked",
                "paths, labels, and names of volumes, pools and settings, unless they contain a masked value; system and server \
                 accounts, such as postgres; models, firmware, versions, sizes, mount options, user and process IDs. \
                 Outside their usual places, serial numbers under six characters and names under three are not \
                 masked. Nor are common words used as names, such as a host called data. A host's domain is \
                 not masked if only the short host name is known. --no-mask masks nothing. No capture contains \
                 passwords, masked or not.",
            ),
        ],
    },
    CommandExamples {
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
    CommandExamples {
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
    CommandExamples {
        command: "generate schema",
        lines: &[(
            "walwise generate schema > report.schema.json",
            "the schema of `check --format json`",
        )],
        notes: &[],
    },
];

pub fn examples_for(command: &str) -> Option<&'static CommandExamples> {
    ALL.iter().find(|examples| examples.command == command)
}

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
