use super::*;
use crate::probes::Rng;

const STEP_US: u64 = 1_000;
const SAMPLES_PER_QUERY: u64 = 20;
const STEPS_PER_SAMPLE: u64 = 25;

/// Sessions that work, then wait for a commit, each for a random time in steps of 1 ms.
struct SimulatedLoad {
    sessions: u64,
    mean_work_steps: f64,
    mean_wait_steps: f64,
    seconds: u64,
}

/// The samples of a simulated load, and the true mean wait in µs.
fn simulate_load(load: &SimulatedLoad, seed: u64) -> (CommitSamples, f64) {
    let mut random = Rng::new(seed);
    let mut draw = |mean: f64| -> u64 {
        #[expect(clippy::cast_precision_loss, reason = "53 random bits")]
        let share = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounded"
        )]
        let steps = (-mean * (1.0 - share).ln()).clamp(1.0, 1e6) as u64;
        steps
    };
    let mut sessions: Vec<(bool, u64)> = (0..load.sessions)
        .map(|_| (false, draw(load.mean_work_steps)))
        .collect();
    let (mut commits, mut waited) = (0_u64, 0_u64);
    let mut samples = CommitSamples::default();
    let mut query = CommitWaits::default();
    let mut previous: Option<u64> = None;
    for step in 0..load.seconds * 1_000 {
        let per_query = STEPS_PER_SAMPLE * SAMPLES_PER_QUERY;
        if step % per_query == 0 {
            let next = CommitWaits {
                time_us: step * STEP_US,
                next_xid: commits,
                sessions: load.sessions,
                flushes: (commits - samples.waits.last().map_or(0, |waits| waits.next_xid)),
                ..CommitWaits::default()
            };
            samples.waits.push(std::mem::replace(&mut query, next));
            previous = None;
        }
        for (waits, left) in &mut sessions {
            waited += u64::from(*waits);
            *left -= 1;
            if *left == 0 {
                commits += u64::from(*waits);
                *waits = !*waits;
                *left = draw(if *waits {
                    load.mean_wait_steps
                } else {
                    load.mean_work_steps
                });
            }
        }
        if step % STEPS_PER_SAMPLE == 7 {
            let waiting = sessions.iter().filter(|(waits, _)| *waits).count() as u64;
            query.samples += 1;
            query.flush += waiting;
            query.squared_differences +=
                previous.map_or(0, |before| before.abs_diff(waiting).pow(2));
            previous = Some(waiting);
        }
    }
    samples.waits.push(query);
    samples.waits.remove(0);
    let counters = |time_us, commits| CommitCounters {
        time_us,
        reset_age_s: time_us / 1_000_000,
        commits: Some(commits),
        wal_writes: commits,
        wal_syncs: Some(commits),
        ..CommitCounters::default()
    };
    samples.counters = vec![counters(0, 0), counters(load.seconds * 1_000_000, commits)];
    (samples, (waited * STEP_US) as f64 / commits.max(1) as f64)
}

fn busy_samples() -> (CommitSamples, f64) {
    let load = SimulatedLoad {
        sessions: 8,
        mean_work_steps: 10.0,
        mean_wait_steps: 20.0,
        seconds: 30,
    };
    simulate_load(&load, 1)
}

fn fsync_server_settings() -> ServerAndDiskProperties {
    ServerAndDiskProperties {
        log_flush: Some(LogSyncMode::Call),
        separates_turn: true,
        asynchronous: None,
        flushes_must_arrive: true,
        flushes_reach_each_disk: true,
        disks: vec!["sda".to_owned(), "sdb".to_owned()],
    }
}

fn passive_measurement(
    samples: &CommitSamples,
    settings: &ServerAndDiskProperties,
) -> PassiveMeasurement {
    PassiveMeasurement::from_samples("/pg", samples, settings).unwrap()
}

#[test]
fn intervals_cover_true_wait_of_busy_servers() {
    let (mut shown, mut held, mut withheld) = (0, 0, 0);
    for seed in 0..100 {
        for (sessions, work, wait) in [
            (1, 4.0, 6.0),
            (8, 10.0, 20.0),
            (32, 200.0, 8.0),
            (1, 400.0, 2.0),
        ] {
            let load = SimulatedLoad {
                sessions,
                mean_work_steps: work,
                mean_wait_steps: wait,
                seconds: 30,
            };
            let (samples, truth) = simulate_load(&load, seed);
            let found = passive_measurement(&samples, &fsync_server_settings());
            let Some(wait) = found.commit_us else {
                withheld += 1;
                assert!(matches!(
                    found.limits[..],
                    [UnknownLatencyReason::TooFewSamples { .. }]
                ));
                continue;
            };
            shown += 1;
            held += usize::from(wait.low <= truth && truth <= wait.high);
            assert!((wait.value / truth - 1.0).abs() < 0.35, "{wait:?} {truth}");
            let half_width = (wait.high - wait.low) / 2.0;
            assert!(half_width <= MAX_HALF_WIDTH * wait.value, "{wait:?}");
        }
    }
    assert!(held * 100 >= shown * 90, "{held} of {shown}");
    assert!(withheld >= 90, "a commit in 400 ms is too rare: {withheld}");
}

#[test]
fn read_only_commits_do_not_change_result() {
    let (mut samples, _) = busy_samples();
    let before = passive_measurement(&samples, &fsync_server_settings());
    for (counters, reads) in samples.counters.iter_mut().zip([0, 1_000_000]) {
        counters.commits = counters.commits.map(|count| count + reads);
    }
    assert_eq!(
        passive_measurement(&samples, &fsync_server_settings()),
        before
    );
}

/// The latency is withheld if the number of commits is uncertain, or if sessions wait for
/// something other than a commit.
#[test]
fn uncertain_counts_and_other_waits_give_no_latency() {
    let (base, _) = busy_samples();
    let ids = base.waits.last().unwrap().next_xid;
    let with = |change: &dyn Fn(&mut CommitSamples, &mut ServerAndDiskProperties)| {
        let (mut samples, mut settings) = (base.clone(), fsync_server_settings());
        change(&mut samples, &mut settings);
        passive_measurement(&samples, &settings)
    };
    let grown = |change: fn(&mut CommitCounters, u64)| {
        with(&|samples, _| {
            samples
                .counters
                .last_mut()
                .into_iter()
                .for_each(|last| change(last, ids));
        })
    };
    let reads = |all: &mut CommitCounters, ids: u64| all.commits = Some(10 * ids);
    let count = |found: &PassiveMeasurement| {
        matches!(found.limits[..], [UnknownLatencyReason::CommitCount { .. }])
    };
    let subtransactions = grown(|all, ids| {
        all.commits = Some(10 * ids);
        all.subtransactions = ids / 2;
    });
    assert!(count(&subtransactions) && subtransactions.commit_us.is_none());
    assert!(count(&grown(|all, ids| {
        all.commits = Some(10 * ids);
        all.rollbacks = ids;
    })));
    assert!(grown(reads).limits.is_empty());
    // Without read-only transactions, the server's own count of commits decides.
    let exact = grown(|all, ids| {
        all.commits = Some(ids / 4);
        all.subtransactions = ids - ids / 4;
    });
    assert!(
        exact.limits.is_empty() && exact.commit_us.is_some(),
        "{:?}",
        exact.limits
    );
    assert!(count(&with(&|samples, _| {
        samples.waits[3].prepared = 1;
        samples.counters[1].commits = Some(2 * ids);
    })));
    let bulk = grown(|all, ids| all.buffers_full = ids / 2);
    assert!(matches!(
        bulk.limits[..],
        [UnknownLatencyReason::BulkWrites { .. }]
    ));
    let asynchronous = with(&|_, settings| settings.asynchronous = Some("it is off".to_owned()));
    assert!(matches!(
        asynchronous.limits[..],
        [UnknownLatencyReason::Asynchronous { .. }]
    ));
    let idle = with(&|samples, _| {
        samples
            .waits
            .iter_mut()
            .for_each(|waits| waits.next_xid = 5);
    });
    assert!(idle.limits.contains(&UnknownLatencyReason::NoCommits) && idle.commit_us.is_none());
}

/// A reset hides the growth of a counter, and a missing reading shows none.
#[test]
fn reset_or_missing_counters_give_no_latency() {
    let (base, _) = busy_samples();
    let middle = |age: u64| {
        let mut samples = base.clone();
        let reset = CommitCounters {
            time_us: 15_000_000,
            reset_age_s: age,
            ..base.counters[0].clone()
        };
        samples.counters.insert(1, reset);
        passive_measurement(&samples, &fsync_server_settings())
    };
    assert!(middle(15).commit_us.is_some());
    let mut only_one = base.clone();
    only_one.counters.truncate(1);
    let mut back = base.clone();
    back.counters[0].rollbacks = 1;
    for found in [
        middle(2),
        passive_measurement(&only_one, &fsync_server_settings()),
        passive_measurement(&back, &fsync_server_settings()),
    ] {
        assert!(matches!(
            found.limits[..],
            [UnknownLatencyReason::CommitCount { .. }]
        ));
        assert!(found.commit_us.is_none() && found.server_flushes.is_none());
        assert!(found.contradiction.is_none() && found.parts.is_none());
    }
}

#[test]
fn open_methods_count_wal_writes_as_flushes() {
    let (mut samples, _) = busy_samples();
    let by_flush = passive_measurement(&samples, &fsync_server_settings()).server_flushes;
    for counters in &mut samples.counters {
        counters.wal_syncs = Some(0);
    }
    assert_eq!(
        passive_measurement(&samples, &fsync_server_settings()).server_flushes,
        None
    );
    let open = ServerAndDiskProperties {
        log_flush: Some(LogSyncMode::Open),
        ..fsync_server_settings()
    };
    assert_eq!(
        passive_measurement(&samples, &open).server_flushes,
        by_flush
    );
}

#[test]
fn missing_required_disk_flushes_are_a_contradiction() {
    let (mut samples, _) = busy_samples();
    let ids = samples.waits.last().unwrap().next_xid;
    let mut contradicts = |flushes: Option<u64>, settings: &ServerAndDiskProperties| {
        let disk = |count| DiskFlushes { count, millis: 1 };
        samples.disk_flushes = flushes.map(|count| vec![disk(ids), disk(count)]);
        passive_measurement(&samples, settings)
            .contradiction
            .is_some()
    };
    let flushes = ids / 4;
    assert!(
        contradicts(Some(0), &fsync_server_settings())
            && contradicts(Some(flushes), &fsync_server_settings())
    );
    assert!(
        !contradicts(Some(ids), &fsync_server_settings())
            && !contradicts(None, &fsync_server_settings())
    );
    // One path of a multipath device gets the flushes.
    let multipath = ServerAndDiskProperties {
        flushes_reach_each_disk: false,
        ..fsync_server_settings()
    };
    assert!(!contradicts(Some(0), &multipath));
    for excused in [
        ServerAndDiskProperties {
            flushes_must_arrive: false,
            ..fsync_server_settings()
        },
        ServerAndDiskProperties {
            log_flush: Some(LogSyncMode::Open),
            ..fsync_server_settings()
        },
        ServerAndDiskProperties {
            log_flush: None,
            ..fsync_server_settings()
        },
    ] {
        assert!(!contradicts(Some(0), &excused), "{excused:?}");
    }
    // InnoDB does not count its flushes: each of 8 sessions waits for one.
    for counters in &mut samples.counters {
        counters.wal_syncs = None;
    }
    let innodb = ServerAndDiskProperties {
        separates_turn: false,
        ..fsync_server_settings()
    };
    for (arrived, expected) in [(0, true), (ids / 8, false)] {
        samples.disk_flushes = Some(vec![DiskFlushes {
            count: arrived,
            millis: 1,
        }]);
        let found = passive_measurement(&samples, &innodb);
        assert_eq!(found.contradiction.is_some(), expected, "{arrived}");
    }
}
