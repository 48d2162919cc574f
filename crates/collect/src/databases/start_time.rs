//! The start time of a server, and whether a file has changed since.
//!
//! A configuration file is certainly in force only if it has not changed since the server's start.
//! A directory of included files is checked too, because files could have been added to it. The
//! kernel stamps files from a coarse clock, so a change can be one tick later than its time stamp.
//! Old captures hold whole seconds; a change in the second of the start then counts as later.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::host::{Host, HostTimestamp};
use crate::text::display_path;

/// The largest lag of the clock that stamps files, in nanoseconds: one tick at CONFIG_HZ=100, the
/// lowest rate (ktime_get_coarse_real_ts64 in current_time() of fs/inode.c).
const MAX_CLOCK_LAG_NS: u128 = 10_000_000;

/// The largest number of links that the kernel follows in one path (MAXSYMLINKS,
/// path_resolution(7)).
const MAX_LINKS: usize = 40;

/// The reason why a file or directory may differ from what the server read at `started`; `None` if
/// it has not changed.
pub fn possible_path_change_reason(
    host: &dyn Host,
    started: Option<HostTimestamp>,
    path: &Path,
) -> Option<String> {
    let Some(links) = symlinks_on_path(host, path) else {
        return Some(format!(
            "{} has more symbolic links than the kernel follows",
            display_path(path)
        ));
    };
    // A link may be newer than its target, so the directories that hold links are checked too.
    let holders = links.iter().filter_map(|link| link.parent());
    std::iter::once(path)
        .chain(holders)
        .find_map(|path| possible_file_change_reason(host, started, path))
}

/// All symbolic links on the path to a file, each once; `None` if there are more than the kernel
/// follows, for example in a loop.
fn symlinks_on_path(host: &dyn Host, path: &Path) -> Option<BTreeSet<PathBuf>> {
    let mut links = BTreeSet::new();
    let mut ways = vec![path.to_owned()];
    while let Some(way) = ways.pop() {
        for above in way.ancestors() {
            let Some(holder) = above.parent() else {
                continue;
            };
            let Ok(target) = host.link_target(above) else {
                continue;
            };
            if links.insert(above.to_owned()) {
                ways.push(holder.join(target));
            }
            if links.len() > MAX_LINKS {
                return None;
            }
        }
    }
    Some(links)
}

fn possible_file_change_reason(
    host: &dyn Host,
    started: Option<HostTimestamp>,
    path: &Path,
) -> Option<String> {
    let shown = display_path(path);
    let Some(started) = started else {
        return Some(format!(
            "it is unknown whether {shown} changed after the server started"
        ));
    };
    match host.stat(path).map(|stat| stat.ctime) {
        Ok(Some(changed)) if is_certainly_before(changed, started) => None,
        Ok(Some(_)) => Some(format!("{shown} changed after the server started")),
        Err(miss) if miss.is_absent() => {
            Some(format!("{shown} was removed after the server started"))
        }
        Ok(None) | Err(_) => Some(format!("the time of the last change of {shown} is unknown")),
    }
}

/// If one of the times is known only to the second, the seconds must differ.
fn is_certainly_before(changed: HostTimestamp, started: HostTimestamp) -> bool {
    if changed.has_nanos() && started.has_nanos() {
        changed.earliest_nanos() + MAX_CLOCK_LAG_NS < started.earliest_nanos()
    } else {
        changed.unix_seconds() < started.unix_seconds()
    }
}

/// The start of the process refines the recorded second if the two agree. If not, the clock was set
/// between them, and the recorded second counts.
pub fn refine_start_time(second: u64, process: Option<HostTimestamp>) -> HostTimestamp {
    process
        .filter(|process| process.unix_seconds() == second)
        .unwrap_or_else(|| HostTimestamp::from_unix_seconds(second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Question, Stat};
    use crate::testing::{FakeHost, ZERO_STAT};

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn ctime_in_second_of_start_is_compared_exactly() {
        let started = HostTimestamp::from_unix_nanos(1_000 * SECOND + 500_000_000);
        for (nanos, before) in [
            (0, true),
            (489_999_999, true),
            (490_000_000, false),
            (499_999_999, false),
            (500_000_001, false),
        ] {
            assert_eq!(
                is_certainly_before(
                    HostTimestamp::from_unix_nanos(1_000 * SECOND + nanos),
                    started
                ),
                before,
                "{nanos}"
            );
        }
        let whole = HostTimestamp::from_unix_seconds;
        assert!(
            !is_certainly_before(whole(1_000), started),
            "somewhere in that second"
        );
        assert!(is_certainly_before(whole(999), started));
        assert!(!is_certainly_before(
            HostTimestamp::from_unix_nanos(1_000 * SECOND),
            whole(1_000)
        ));
        assert!(
            is_certainly_before(
                HostTimestamp::from_unix_nanos(1_000 * SECOND - 1),
                whole(1_000)
            ),
            "both by the clock of files"
        );
        assert!(
            is_certainly_before(whole(999), whole(1_000))
                && !is_certainly_before(whole(1_000), whole(1_000))
        );
    }

    #[test]
    fn process_start_refines_recorded_second() {
        let process = |nanos| Some(HostTimestamp::from_unix_nanos(nanos));
        assert_eq!(
            refine_start_time(1_000, process(1_000 * SECOND + 5)),
            HostTimestamp::from_unix_nanos(1_000 * SECOND + 5)
        );
        for set in [1_001 * SECOND, 999 * SECOND + 999_999_999, 4_600 * SECOND] {
            assert_eq!(
                refine_start_time(1_000, process(set)),
                HostTimestamp::from_unix_seconds(1_000),
                "{set}"
            );
        }
        assert_eq!(
            refine_start_time(1_000, None),
            HostTimestamp::from_unix_seconds(1_000)
        );
    }

    #[test]
    fn change_of_any_link_directory_counts() {
        let stat = |second| {
            let changed = Some(HostTimestamp::from_unix_seconds(second));
            Stat {
                mode: 0o100_600,
                uid: 26,
                gid: 26,
                major: 8,
                minor: 1,
                inode: 5,
                ctime: changed,
                ..ZERO_STAT
            }
            .encode()
        };
        let path = Path::new("/srv/pg/link/x.conf");
        let at = |holder_of_link, holder_beneath| {
            let fake = FakeHost::default()
                .with_symlink("/srv/pg/link", "/srv/kept/second")
                .with_symlink("/srv/kept/second", "/srv/files")
                .with_answer(Question::Stat(path.into()), stat(900))
                .with_answer(Question::Stat("/srv/pg".into()), stat(holder_of_link))
                .with_answer(Question::Stat("/srv/kept".into()), stat(holder_beneath));
            possible_path_change_reason(&fake, Some(HostTimestamp::from_unix_seconds(1_000)), path)
        };
        assert_eq!(at(900, 900), None);
        assert!(at(1_001, 900).is_some_and(|says| says.contains("/srv/pg changed")));
        assert!(at(900, 1_001).is_some_and(|says| says.contains("kept changed")));
    }

    #[test]
    fn nested_links_are_followed_and_cycles_detected() {
        let nest = (1..=8).map(|depth| format!("/n{}", "/l".repeat(depth)));
        let fake = nest.clone().fold(FakeHost::default(), |fake, link| {
            fake.with_symlink(link, "d")
        });
        let path = format!("/n{}/x.conf", "/l".repeat(8));
        let found = symlinks_on_path(&fake, Path::new(&path)).unwrap();
        assert!(
            nest.map(PathBuf::from).all(|link| found.contains(&link)),
            "{found:?}"
        );
        let circle = (0..60).map(|depth| format!("/c{}", "/l".repeat(depth + 1)));
        let circle = circle.fold(FakeHost::default(), |fake, link| {
            fake.with_symlink(link, "l/l")
        });
        assert_eq!(symlinks_on_path(&circle, Path::new("/c/l")), None);
        let says = possible_path_change_reason(
            &circle,
            Some(HostTimestamp::from_unix_seconds(1_000)),
            Path::new("/c/l"),
        );
        assert!(
            says.is_some_and(|says| says.contains("more symbolic links than the kernel follows"))
        );
    }
}
