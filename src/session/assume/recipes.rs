//! Edits of recorded answers that make the collectors read an assumed value.
//!
//! A recipe is the list of edits for one assumed fact. It changes further facts only if the kernel,
//! a controller or a server couples them to that fact. The collectors derive all other consequences
//! from the edited answers. The caller checks that the collectors read the assumed value.

use super::{
    Assumption, answer_edit, answer_removal, controller, edit_first_json_object, replace_lines,
};
use crate::facts::catalog::device::{self, CacheType, DriveCacheState};
use crate::facts::catalog::{self, mount, mysql, postgres};
use crate::facts::{FactSet, FactValue, Source, Value, ValueKind};
use crate::host::AnswerEdit;
use crate::text::display_safe;
use walwise_model::text::JoinText;

const NOT_RUNNING_REASON: &str = "cannot be read for an assumed kernel";

/// `None` if walwise has no recipe for the answer behind the fact.
pub fn edits_for_assumption(
    one: &Assumption,
    all: &[Assumption],
    read: &FactSet,
) -> Option<Vec<AnswerEdit>> {
    let source = read.reading(&one.subject, one.key.id).source()?;
    let word = format_captured_value(&one.value);
    let lines = |key: &'static str, word: String| {
        vec![line_edit(source, move |_, line| {
            line.strip_prefix(key).map(|_| format!("{key}{word}"))
        })]
    };
    let context = EditContext {
        one,
        all,
        read,
        source,
    };
    Some(match (one.key.name, source) {
        ("kernel.release", _) => kernel_edits(Some(word)),
        ("kernel.vendor", _) => kernel_edits(None),
        ("host.name", _) => vec![uname_edit(1, word)],
        ("os.id", _) => lines("ID=", word),
        ("os.version", _) => lines("VERSION_ID=", word),
        ("os.name", _) => lines("PRETTY_NAME=", word),
        ("host.cpus", _) => lines("cpus=", word),
        ("host.memory", _) => lines("memory_bytes=", word),
        (
            "mount.fstype" | "mount.options" | "mount.super_options",
            Source::File {
                line: Some(line), ..
            },
        ) => context.mount_table_edits(*line),
        ("ext4.features" | "xfs.features", _) => lines("features ", word.replace(',', " ")),
        (
            "boot.options",
            Source::File {
                line: Some(line), ..
            },
        ) => vec![fstab_options_edit(source, *line, word)],
        ("device.drive_cache" | "device.cache_type", _) => context.disk_cache_edits(),
        ("nvme.volatile_cache", _) => context.volatile_cache_edits(),
        (name, Source::Command { .. }) if name.starts_with("controller.") => {
            controller::controller_answer_edits(one, all, read)?
        }
        (_, Source::Command { .. }) if matches!(one.value, Value::Version(_)) => {
            let now = read.reading(&one.subject, one.key.id).value()?.to_string();
            vec![answer_edit(source, move |text| text.replace(&now, &word))]
        }
        (_, Source::File { path, line: None })
            if path.starts_with("/sys/") || path.ends_with("/PG_VERSION") =>
        {
            vec![answer_edit(source, move |_| format!("{word}\n"))]
        }
        (name, _) if name.starts_with("pg.") => context.postgres_edits()?,
        (name, _) if name.starts_with("mysql.") => context.mysql_edits()?,
        _ => return None,
    })
}

/// Replaces each line for which `new(number, line)` returns `Some`.
fn line_edit(
    source: &Source,
    new: impl Fn(u32, &str) -> Option<String> + Send + Sync + 'static,
) -> AnswerEdit {
    answer_edit(source, move |text| replace_lines(text, &new))
}

fn format_captured_value(value: &Value) -> String {
    match value {
        Value::Bool(on) => u8::from(*on).to_string(),
        Value::List(words) => words.join(","),
        Value::Whole(_) | Value::Number(_) | Value::Version(_) | Value::Text(_) => {
            value.to_string()
        }
    }
}

fn replace_field(line: &str, between: &str, at: usize, word: &str) -> String {
    let words = line
        .split(between)
        .enumerate()
        .map(|(place, own)| if place == at { word } else { own });
    words.join_with(between)
}

fn uname_edit(line: usize, word: String) -> AnswerEdit {
    answer_edit(&Source::from_system_call("uname"), move |text| {
        replace_field(text, "\n", line, &word)
    })
}

/// Sets the kernel's release, if given, and removes answers that describe only the running kernel.
fn kernel_edits(release: Option<String>) -> Vec<AnswerEdit> {
    const KERNEL_FILES: [&str; 4] = [
        "/proc/version",
        "/proc/version_signature",
        "/proc/filesystems",
        "/sys/fs/ext4/features/fast_commit",
    ];
    let gone = KERNEL_FILES
        .into_iter()
        .map(|path| answer_removal(path, NOT_RUNNING_REASON));
    let names = release
        .into_iter()
        .map(|release| uname_edit(2, release))
        .chain([uname_edit(3, String::new())]);
    names.chain(gone).collect()
}

/// In the recorded line, fields are separated by an escaped tab, `\x09`; the options are the third
/// field.
fn fstab_options_edit(source: &Source, number: u32, options: String) -> AnswerEdit {
    let number = format!("{number}\t");
    line_edit(source, move |_, line| {
        line.starts_with(&number)
            .then(|| replace_field(line, "\\x09", 2, &options))
    })
}

struct EditContext<'a> {
    one: &'a Assumption,
    all: &'a [Assumption],
    read: &'a FactSet,
    source: &'a Source,
}

impl EditContext<'_> {
    fn is_assumed(&self, name: &str) -> bool {
        self.one.with_fact(name, self.all).is_some()
    }

    fn assumed_option_list(&self) -> Vec<String> {
        Vec::from_value(&self.one.value).unwrap_or_default()
    }

    /// Superblock options appear in the lines of all mounts of the superblock, and in ext4's own
    /// list under /proc/fs/ext4.
    fn mount_table_edits(&self, line: u32) -> Vec<AnswerEdit> {
        let word = format_captured_value(&self.one.value);
        if self.one.key.name != mount::SUPER_OPTIONS.name() {
            let is_type = self.one.key.name == mount::FSTYPE.name();
            return vec![line_edit(self.source, move |number, own| {
                let new = match own.split_once(" - ") {
                    Some((front, rest)) if is_type => {
                        format!("{front} - {}", replace_field(rest, " ", 0, &word))
                    }
                    _ => replace_field(own, " ", MOUNT_OPTIONS_FIELD, &word),
                };
                (number == line).then_some(new)
            })];
        }
        let (mount, then) = (&self.one.subject, self.assumed_option_list());
        let number = self.read.value(mount, &mount::DEVNO).unwrap_or_default();
        let now = self
            .read
            .value(mount, &mount::SUPER_OPTIONS)
            .unwrap_or_default();
        let access = access_mode_option(&then).filter(|_| !self.is_assumed(mount::OPTIONS.name()));
        let mut edits = vec![answer_edit(self.source, move |text| {
            replace_lines(text, |at, own| {
                let (front, last) = own
                    .rsplit_once(' ')
                    .filter(|_| own.split(' ').nth(2) == Some(&number))?;
                // The options `subvol` and `subvolid` differ between mounts of a btrfs, so they
                // stay.
                let own = last
                    .split(',')
                    .filter(|option| option.starts_with("subvol"));
                let shared = word
                    .split(',')
                    .filter(|option| !option.starts_with("subvol"));
                let line_now = format!("{front} {}", shared.chain(own).join_with(","));
                let Some((access, options)) = access
                    .filter(|_| at == line)
                    .zip(line_now.split(' ').nth(MOUNT_OPTIONS_FIELD))
                else {
                    return Some(line_now);
                };
                let rest = options
                    .split_once(',')
                    .map(|(_, rest)| format!(",{rest}"))
                    .unwrap_or_default();
                Some(replace_field(
                    &line_now,
                    " ",
                    MOUNT_OPTIONS_FIELD,
                    &format!("{access}{rest}"),
                ))
            })
        })];
        if let Some(listed) = self.read.reading(mount, mount::EXT4_OPTIONS.id()).source() {
            edits.push(answer_edit(listed, move |text| {
                update_ext4_options(text, &now, &then)
            }));
        }
        edits
    }

    /// Edits the answers about a disk's cache. On a disk with `cache_type`, all facts about the
    /// cache change together. After a write to `cache_type`, the driver queries the disk and
    /// updates the queue (sd_revalidate_disk). On other disks, such as NVMe, only the assumed fact
    /// changes.
    fn disk_cache_edits(&self) -> Vec<AnswerEdit> {
        let drive = DriveCacheState::from_value(&self.one.value)
            .filter(|_| self.one.key.name == device::DRIVE_CACHE.name());
        let told =
            || CacheType::from_value(&self.one.value).is_some_and(CacheType::can_hold_writes);
        let is_on = drive.map_or_else(told, DriveCacheState::is_on);
        let of_driver = self
            .read
            .reading(&self.one.subject, device::CACHE_TYPE.id())
            .is_known();
        let all = [
            &device::DRIVE_CACHE.info,
            &device::CACHE_TYPE.info,
            &device::WRITE_CACHE.info,
        ];
        let follows = all
            .into_iter()
            .filter(|key| of_driver && !self.is_assumed(key.name))
            .chain([self.one.key]);
        follows
            .filter_map(|key| self.write_cache_edit(key.name, is_on))
            .collect()
    }

    /// Edits the controller's VWC field, and the queue's cache, which follows VWC on an NVMe disk
    /// (nvme_update_disk_info).
    fn volatile_cache_edits(&self) -> Vec<AnswerEdit> {
        let is_on = self.one.value == Value::Bool(true);
        let vwc = answer_edit(self.source, move |text| {
            edit_first_json_object(text, &|path, _| {
                (path == "/vwc").then(|| u8::from(is_on).into())
            })
        });
        let queue = device::WRITE_CACHE.name();
        let follows = if self.is_assumed(queue) {
            None
        } else {
            self.write_cache_edit(queue, is_on)
        };
        follows.into_iter().chain([vwc]).collect()
    }

    fn write_cache_edit(&self, key: &str, is_on: bool) -> Option<AnswerEdit> {
        let source = self
            .read
            .reading(&self.one.subject, catalog::find_by_name(key)?.id)
            .source()?;
        let word = if is_on {
            "write back\n"
        } else {
            "write through\n"
        };
        Some(match source {
            Source::Command { .. } => {
                answer_edit(source, move |text| edit_write_cache_output(text, is_on))
            }
            _ => answer_edit(source, move |_| word.to_owned()),
        })
    }

    /// Edits the running server's answer and one configuration file: the file that sets the value,
    /// or else the main file.
    fn postgres_edits(&self) -> Option<Vec<AnswerEdit>> {
        let name = match self.one.key.name.strip_prefix("pg.")? {
            "version" => "server_version",
            name => name,
        };
        let value = match (self.one.key.kind, &self.one.value) {
            (ValueKind::Bytes, Value::Whole(bytes)) => format!("{}kB", bytes / 1024),
            (ValueKind::Micros, Value::Number(micros)) => format!("{micros}us"),
            (_, value) => format_server_value(value),
        };
        let cluster = &self.one.subject;
        let socket = self
            .read
            .value(cluster, &postgres::SOCKET_DIRECTORY)
            .zip(self.read.value(cluster, &postgres::PORT));
        let told = value.clone();
        let server = socket.map(|(directory, port)| {
            let socket = Source::Server {
                socket: format!("{directory}/.s.PGSQL.{port}"),
            };
            line_edit(&socket, move |_, line| {
                let is_it = line.split('\t').next() == Some(name);
                is_it.then(|| replace_field(&replace_field(line, "\t", 1, &told), "\t", 2, ""))
            })
        });
        let file = match self.source {
            Source::File { .. } => Some(self.source.clone()),
            _ => self
                .read
                .value(cluster, &postgres::CONFIG_FILE)
                .map(Source::from_file),
        };
        let file = file.map(|file| config_directive_edit(&file, "", name, &value));
        Some(server.into_iter().chain(file).collect())
    }

    /// Edits the running server's answer and one option file. The main file of MySQL and MariaDB is
    /// unknown, so any option file with a known setting is edited.
    fn mysql_edits(&self) -> Option<Vec<AnswerEdit>> {
        let name = self.one.key.name.strip_prefix("mysql.")?;
        let value = format_server_value(&self.one.value);
        let cluster = &self.one.subject;
        let socket = self
            .read
            .value(cluster, &mysql::SOCKET)
            .map(|socket| Source::Server { socket });
        let row = format!("{name}\t{value}");
        let server = socket.map(|socket| {
            line_edit(&socket, move |_, line| {
                let is_it = line.split_once('\t').is_some_and(|row| row.0 == name);
                is_it.then(|| row.clone())
            })
        });
        let is_file = |source: &&Source| matches!(source, Source::File { line: Some(_), .. });
        let mut sources = self
            .read
            .rows_of(cluster)
            .filter_map(|row| row.reading.source());
        let file = Some(self.source)
            .filter(is_file)
            .or_else(|| sources.find(is_file));
        let file = file.map(|file| config_directive_edit(file, "mysqld.", name, &value));
        Some(server.into_iter().chain(file).collect())
    }
}

/// Position, from 0, among the space-separated fields of a mountinfo line.
const MOUNT_OPTIONS_FIELD: usize = 5;

fn access_mode_option(options: &[String]) -> Option<&'static str> {
    ["rw", "ro"]
        .into_iter()
        .find(|word| options.iter().any(|option| option == word))
}

fn format_server_value(value: &Value) -> String {
    match value {
        Value::Bool(on) => if *on { "on" } else { "off" }.to_owned(),
        value => format_captured_value(value),
    }
}

/// Edits the last line that sets `name`, or appends one; `group` includes the dot, as in `mysqld.`.
fn config_directive_edit(
    file: &Source,
    group: &'static str,
    name: &'static str,
    value: &str,
) -> AnswerEdit {
    let value = display_safe(value.as_bytes());
    answer_edit(file, move |text| {
        let is_it = |line: &&str| {
            line.split('\t')
                .nth(1)
                .is_some_and(|key| key.rsplit('.').next() == Some(name))
        };
        match text.lines().rev().find(is_it) {
            Some(last) => replace_lines(text, |_, line| {
                (line == last).then(|| replace_field(line, "\t", 2, &value))
            }),
            None => format!(
                "{text}{}\t{group}{name}\t{value}\n",
                text.lines().count() + 1
            ),
        }
    })
}

fn edit_write_cache_output(text: &str, is_on: bool) -> String {
    const WORDS: [(&str, &str); 4] = [
        ("Enabled", "Disabled"),
        ("1 (on)", "0 (off)"),
        ("WCE           1", "WCE           0"),
        ("value:0x00000001", "value:0"),
    ];
    if text.contains("\"write_cache\"") {
        return edit_first_json_object(text, &|path, _| {
            (path == "/write_cache/enabled").then(|| is_on.into())
        });
    }
    WORDS.iter().fold(text.to_owned(), |text, (on, off)| {
        if is_on {
            text.replace(off, on)
        } else {
            text.replace(on, off)
        }
    })
}

/// Options that the kernel prints for every superblock, and that ext4's own list omits
/// (`show_sb_opts` in fs/proc_namespace.c).
const GENERIC_OPTIONS: &[&str] = &["sync", "dirsync", "mand", "lazytime", "seclabel"];

/// Updates ext4's list of options in force, one per line, after a change of the printed mount
/// options. The kernel prints only deviations from the superblock's defaults, so an option that
/// vanished from `then` reverts to its default.
fn update_ext4_options(text: &str, now: &[String], then: &[String]) -> String {
    let name = |word: &str| {
        let word = word.split('=').next().unwrap_or_default();
        if word == "ro" {
            "rw"
        } else {
            word.strip_prefix("no").unwrap_or(word)
        }
        .to_owned()
    };
    let back = |word: &String| match word.split_once('=') {
        Some(("commit", _)) => Some("commit=5".to_owned()),
        Some(_) => None,
        None => Some(
            word.strip_prefix("no")
                .map_or_else(|| format!("no{word}"), str::to_owned),
        ),
    };
    let gone = now
        .iter()
        .filter(|word| !then.iter().any(|other| name(other) == name(word)));
    let changes = gone.map(back).chain(then.iter().cloned().map(Some));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for word in changes.flatten() {
        match lines.iter_mut().find(|line| name(line) == name(&word)) {
            Some(line) => *line = word,
            None if GENERIC_OPTIONS.contains(&name(&word).as_str()) => {}
            None => lines.push(word),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each pair of mount options and changed entries of ext4's list was observed on Linux 6.18;
    /// unrelated options are left out.
    #[test]
    fn ext4_options_file_follows_mount_options() {
        let words = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let listed = "rw\ndioread_nolock\nnodiscard\ndelalloc\nbarrier\ncommit=5\ndata=ordered";
        for (now, then, new) in [
            ("rw", "rw,nobarrier", "nobarrier"),
            ("rw", "ro", "ro"),
            ("rw", "rw,commit=60,discard", "discard commit=60"),
            (
                "rw",
                "rw,nodelalloc,data=journal",
                "nodelalloc data=journal",
            ),
        ] {
            let there = update_ext4_options(listed, &words(now), &words(then));
            let changed: Vec<&str> = there
                .lines()
                .filter(|line| !listed.lines().any(|old| old == *line))
                .collect();
            assert_eq!(changed.join(" "), new, "{then}");
        }
        for there in ["rw,nobarrier", "rw,discard", "rw,commit=60", "ro"] {
            let out = update_ext4_options(listed, &words("rw"), &words(there));
            assert_eq!(
                update_ext4_options(&out, &words(there), &words("rw")),
                listed,
                "{there}"
            );
        }
    }

    #[test]
    fn edits_replace_or_append_assumed_value() {
        let file = Source::from_file("/etc/my.cnf");
        let edit = config_directive_edit(&file, "mysqld.", "sync_binlog", "0");
        for (answer, now) in [
            (
                "3\tmysqld.sync_binlog\t1\n4\tmysqld.socket\t/s\n",
                "3\tmysqld.sync_binlog\t0\n4\tmysqld.socket\t/s\n",
            ),
            (
                "4\tmysqld.socket\t/s\n",
                "4\tmysqld.socket\t/s\n2\tmysqld.sync_binlog\t0\n",
            ),
        ] {
            assert_eq!(edit.apply_to(answer).unwrap(), now);
        }
        assert_eq!(
            edit_write_cache_output("Write cache is:   Enabled\n", false),
            "Write cache is:   Disabled\n"
        );
        assert_eq!(
            edit_first_json_object("x {\"vwc\": 1}", &|path, _| (path == "/vwc")
                .then(|| 0.into())),
            "{\"vwc\":0}"
        );
    }
}
