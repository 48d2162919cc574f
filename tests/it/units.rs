//! Compares facts about mount units and fstab lines with systemd's own result, its generator and
//! its merging of drop-ins. Both read the same files below a separate root directory.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use walwise_collect::{Request, run_all_collectors};
use walwise_model::facts::catalog::boot;
use walwise_model::facts::{FactSet, Scope, Subject};
use walwise_sys::host::{Host, HostError, LiveHost, Question};

use super::support::{stderr, stdout};
use crate::support::deadline::CommandInTime as _;

const GENERATOR: &str = "/usr/lib/systemd/system-generators/systemd-fstab-generator";

struct UnitFiles {
    what: &'static str,
    fstab: &'static str,
    files: &'static [(&'static str, &'static str)],
    links: &'static [(&'static str, &'static str)],
}

const MAIN: &str = "[Mount]\nWhat=/dev/sdb1\nWhere=/srv/pg\nType=xfs\nOptions=noatime\n";
const UNIT: (&str, &str) = ("etc/systemd/system/srv-pg.mount", MAIN);
const LINE: &str = "/dev/sdb1 /srv/pg ext4 noatime,errors=remount-ro 0 2\n";

const SETS: [UnitFiles; 25] = [
    UnitFiles {
        what: "a unit alone",
        fstab: "",
        files: &[UNIT],
        links: &[],
    },
    UnitFiles {
        what: "a line alone",
        fstab: LINE,
        files: &[],
        links: &[],
    },
    UnitFiles {
        what: "a drop-in of a unit",
        fstab: "",
        files: &[
            UNIT,
            (
                "etc/systemd/system/srv-pg.mount.d/o.conf",
                "[Mount]\nOptions=nobarrier\n",
            ),
        ],
        links: &[],
    },
    UnitFiles {
        what: "a drop-in of a line",
        fstab: LINE,
        files: &[(
            "etc/systemd/system/srv-pg.mount.d/o.conf",
            "[Mount]\nOptions=nobarrier\n",
        )],
        links: &[],
    },
    UnitFiles {
        what: "two drop-ins, by their names",
        fstab: "",
        files: &[
            UNIT,
            (
                "etc/systemd/system/srv-pg.mount.d/20.conf",
                "[Mount]\nOptions=relatime\n",
            ),
            (
                "etc/systemd/system/srv-pg.mount.d/10.conf",
                "[Mount]\nOptions=nobarrier\n",
            ),
        ],
        links: &[],
    },
    UnitFiles {
        what: "drop-ins in two directories, by their names",
        fstab: "",
        files: &[
            UNIT,
            (
                "etc/systemd/system/srv-pg.mount.d/10.conf",
                "[Mount]\nOptions=nobarrier\n",
            ),
            (
                "usr/lib/systemd/system/srv-pg.mount.d/20.conf",
                "[Mount]\nOptions=relatime\n",
            ),
        ],
        links: &[],
    },
    UnitFiles {
        what: "one name in two directories",
        fstab: "",
        files: &[
            UNIT,
            (
                "etc/systemd/system/srv-pg.mount.d/10.conf",
                "[Mount]\nOptions=nobarrier\n",
            ),
            (
                "usr/lib/systemd/system/srv-pg.mount.d/10.conf",
                "[Mount]\nOptions=relatime\n",
            ),
        ],
        links: &[],
    },
    UnitFiles {
        what: "a drop-in of the units beneath",
        fstab: "",
        files: &[
            UNIT,
            (
                "etc/systemd/system/srv-.mount.d/o.conf",
                "[Mount]\nOptions=nobarrier\n",
            ),
        ],
        links: &[],
    },
    UnitFiles {
        what: "a drop-in of all mounts",
        fstab: "",
        files: &[
            UNIT,
            (
                "etc/systemd/system/mount.d/o.conf",
                "[Mount]\nOptions=nobarrier\n",
            ),
        ],
        links: &[],
    },
    UnitFiles {
        what: "one name for this unit and for all mounts",
        fstab: "",
        files: &[
            UNIT,
            (
                "etc/systemd/system/mount.d/o.conf",
                "[Mount]\nOptions=nobarrier\n",
            ),
            (
                "usr/lib/systemd/system/srv-pg.mount.d/o.conf",
                "[Mount]\nOptions=relatime\n",
            ),
        ],
        links: &[],
    },
    UnitFiles {
        what: "a drop-in that hides another",
        fstab: "",
        files: &[
            UNIT,
            (
                "usr/lib/systemd/system/srv-pg.mount.d/o.conf",
                "[Mount]\nOptions=nobarrier\n",
            ),
        ],
        links: &[("etc/systemd/system/srv-pg.mount.d/o.conf", "/dev/null")],
    },
    UnitFiles {
        what: "an empty drop-in that hides another",
        fstab: "",
        files: &[
            UNIT,
            (
                "usr/lib/systemd/system/srv-pg.mount.d/o.conf",
                "[Mount]\nOptions=nobarrier\n",
            ),
            ("etc/systemd/system/srv-pg.mount.d/o.conf", ""),
        ],
        links: &[],
    },
    UnitFiles {
        what: "a drop-in that takes the options back",
        fstab: "",
        files: &[
            UNIT,
            (
                "etc/systemd/system/srv-pg.mount.d/o.conf",
                "[Mount]\nOptions=\n",
            ),
        ],
        links: &[],
    },
    UnitFiles {
        what: "a drop-in of another type and disk",
        fstab: LINE,
        files: &[(
            "etc/systemd/system/srv-pg.mount.d/o.conf",
            "[Mount]\nType=xfs\nWhat=/dev/sdc1\n",
        )],
        links: &[],
    },
    UnitFiles {
        what: "not the section of mounts",
        fstab: LINE,
        files: &[(
            "etc/systemd/system/srv-pg.mount.d/o.conf",
            "[Unit]\nOptions=nobarrier\n",
        )],
        links: &[],
    },
    UnitFiles {
        what: "no drop-in by its name",
        fstab: LINE,
        files: &[(
            "etc/systemd/system/srv-pg.mount.d/o.conf.bak",
            "[Mount]\nOptions=nobarrier\n",
        )],
        links: &[],
    },
    UnitFiles {
        what: "a unit in the place of a line",
        fstab: LINE,
        files: &[UNIT],
        links: &[],
    },
    UnitFiles {
        what: "a line in the place of a distribution's unit",
        fstab: LINE,
        files: &[("usr/lib/systemd/system/srv-pg.mount", MAIN)],
        links: &[],
    },
    UnitFiles {
        what: "an administrator's unit in the place of a distribution's",
        fstab: "",
        files: &[
            (
                "usr/lib/systemd/system/srv-pg.mount",
                "[Mount]\nWhat=/dev/sdz\nWhere=/srv/pg\nOptions=nobarrier\n",
            ),
            UNIT,
        ],
        links: &[],
    },
    UnitFiles {
        what: "a masked line",
        fstab: LINE,
        files: &[],
        links: &[("etc/systemd/system/srv-pg.mount", "/dev/null")],
    },
    UnitFiles {
        what: "a masked unit of a distribution",
        fstab: "",
        files: &[("usr/lib/systemd/system/srv-pg.mount", MAIN)],
        links: &[("etc/systemd/system/srv-pg.mount", "/dev/null")],
    },
    UnitFiles {
        what: "a mount point with a dash",
        fstab: "/dev/sdb1 /srv/my-data ext4 noatime 0 0\n",
        files: &[(
            "etc/systemd/system/srv-my\\x2ddata.mount.d/o.conf",
            "[Mount]\nOptions=nobarrier\n",
        )],
        links: &[],
    },
    UnitFiles {
        what: "a mount point with a blank",
        fstab: "/dev/sdb1 /srv/my\\040data ext4 noatime 0 0\n",
        files: &[(
            "etc/systemd/system/srv-my\\x20data.mount.d/o.conf",
            "[Mount]\nOptions=nobarrier\n",
        )],
        links: &[],
    },
    UnitFiles {
        what: "a unit that its name does not fit",
        fstab: "",
        files: &[("etc/systemd/system/srv-other.mount", MAIN)],
        links: &[],
    },
    UnitFiles {
        what: "options over two lines, and said twice",
        fstab: "",
        files: &[(
            "etc/systemd/system/srv-pg.mount",
            "[Mount]\nWhat=/dev/sdb1\nWhere=/srv/pg\nOptions=nobarrier\nOptions=\\\nnoatime,nodiratime\n",
        )],
        links: &[],
    },
];

struct HostBelowRoot {
    live: LiveHost,
    root: PathBuf,
}

const OF_SYSTEMD: [&str; 5] = [
    "/etc/systemd",
    "/usr/lib/systemd",
    "/usr/local/lib/systemd",
    "/lib/systemd",
    "/etc/fstab",
];

impl Host for HostBelowRoot {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, HostError> {
        let mut question = question.clone();
        if let Some(path) = question.path_mut()
            && OF_SYSTEMD.iter().any(|ours| path.starts_with(ours))
        {
            *path = self.root.join(path.strip_prefix("/").unwrap());
        }
        self.live.ask(&question)
    }
}

fn systemd_mount_settings(root: &Path, unit: &str) -> Option<(String, String, String)> {
    let mut verify = Command::new("systemd-analyze");
    verify
        .arg(format!("--root={}", root.display()))
        .args(["--man=no", "verify", unit]);
    let output = verify
        .env("SYSTEMD_LOG_LEVEL", "debug")
        .env("LC_ALL", "C")
        .output_in_time();
    let said = stdout(&output);
    let from = said.lines().skip_while(|line| {
        *line != format!("\t-> Unit {unit}:").as_str() && line.trim() != format!("-> Unit {unit}:")
    });
    let field = |name: &str| {
        let line = from.clone().find_map(|line| line.trim().strip_prefix(name));
        line.map(|value| value.trim().to_owned())
            .map(|value| if value == "n/a" { String::new() } else { value })
    };
    let loaded = from
        .clone()
        .any(|line| line.trim() == "Unit Load State: loaded");
    loaded
        .then(|| {
            Some((
                field("What: ")?,
                field("File System Type: ")?,
                field("Options: ")?,
            ))
        })?
        .or_else(|| panic!("{unit}: {said}{}", stderr(&output)))
}

fn collect_below_root(root: &Path) -> FactSet {
    let live = LiveHost::with_child_program(crate::support::programs::walwise_path().into());
    let host = HostBelowRoot {
        live,
        root: root.to_owned(),
    };
    let request = Request {
        without_programs: true,
        ..Request::default()
    };
    run_all_collectors(&host, &request, &mut |_, _| {})
}

#[test]
#[ignore = "needs systemd"]
fn mount_unit_facts_equal_those_of_systemd() {
    for UnitFiles {
        what,
        fstab,
        files,
        links,
    } in &SETS
    {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let place = |name: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            path
        };
        fs::write(place("etc/fstab"), fstab).unwrap();
        for (name, text) in *files {
            fs::write(place(name), text).unwrap();
        }
        for (name, target) in *links {
            symlink(target, place(name)).unwrap();
        }
        let [generated, early, late] = ["run/systemd/system/x", "early/x", "late/x"]
            .map(|name| place(name).parent().unwrap().to_owned());
        let mut generator = Command::new(GENERATOR);
        generator
            .args([&generated, &early, &late])
            .env("SYSTEMD_FSTAB", root.join("etc/fstab"));
        assert!(generator.status_in_time().success());

        let facts = collect_below_root(root);
        let mut ours: BTreeMap<String, (String, String, Vec<String>)> = BTreeMap::new();
        for entry in facts
            .subjects_of_scope(Scope::Boot)
            .filter(|entry| entry.name().starts_with("/srv"))
        {
            // A unit that another one overrides or masks mounts nothing.
            let by_another = |entry: &Subject| {
                facts.value(entry, &boot::AUTO) == Some(false)
                    && !fstab.contains("noauto")
                    && !fstab.is_empty()
            };
            if by_another(entry) && !files.is_empty() | !links.is_empty() {
                let source = facts
                    .reading(entry, boot::AUTO.id())
                    .source()
                    .map(ToString::to_string);
                if source.is_some_and(|source| source.strip_suffix(".mount").is_some()) {
                    continue;
                }
            }
            let text = |key| facts.value(entry, key).unwrap_or_default();
            let row = (
                text(&boot::SOURCE),
                text(&boot::WRITTEN_TYPE),
                facts.value(entry, &boot::OPTIONS).unwrap(),
            );
            let before = ours.insert(facts.value(entry, &boot::POINT).unwrap(), row);
            assert!(before.is_none(), "{what}: {before:?}");
        }
        let mut theirs = BTreeMap::new();
        for point in ["/srv/pg", "/srv/my-data", "/srv/my data", "/srv/other"] {
            let mut escape = Command::new("systemd-escape");
            let unit = stdout(
                &escape
                    .args(["--path", "--suffix=mount", point])
                    .output_in_time(),
            );
            let known = |directory: &str| {
                root.join(directory)
                    .join(unit.trim())
                    .symlink_metadata()
                    .is_ok()
            };
            let places = [
                "etc/systemd/system",
                "run/systemd/system",
                "usr/lib/systemd/system",
            ];
            if !places.iter().any(|directory| known(directory)) {
                continue;
            }
            if let Some((source, fstype, options)) = systemd_mount_settings(root, unit.trim()) {
                let fstype = if fstype.is_empty() {
                    "auto".to_owned()
                } else {
                    fstype
                };
                let options = options
                    .split(',')
                    .filter(|word| !word.is_empty() && *word != "defaults");
                theirs.insert(
                    point.to_owned(),
                    (
                        source,
                        fstype,
                        options.map(|o| o.trim().to_owned()).collect(),
                    ),
                );
            }
        }
        assert_eq!(ours, theirs, "{what}: {:?}", facts.notes());
    }
}
