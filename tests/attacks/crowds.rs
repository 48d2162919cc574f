use std::fs;

use super::attack_directory::AttackDirectory;
use super::attempts::{Attempts, is_long_run};
use super::fakes::{FakeServerPrograms, create_postgres_data};
use super::impostors::setting_mismatches;
use super::root;
use super::support::postgres::Cluster;

/// The attacker starts two thousand fake servers, or ten thousand in a long run, some older than
/// the real one and some younger. The attacker wants the real server, whose fsync is off, to be
/// left out silently.
#[test]
#[ignore = "needs root and a PostgreSQL: it attacks as another user"]
fn a_real_postgresql_is_not_hidden_by_a_crowd() {
    let mut attempts = Attempts::for_attack("thousands of servers that hide a real one");
    let many = if is_long_run() { 10_000 } else { 2_000 };
    let ground = AttackDirectory::new();
    let fakes = FakeServerPrograms::install_in(&ground);
    let one = |n: usize| {
        let data = ground.join(&format!("data/{n}"));
        fs::create_dir_all(&data).unwrap();
        create_postgres_data(&data);
        fakes.start_postgres(&data, &[])
    };
    let mut crowd: Vec<_> = (0..many / 2).map(one).collect();
    let cluster = Cluster::new();
    cluster.start();
    crowd.extend((many / 2..many).map(one));
    for arguments in [
        &["check", "--no-probe"][..],
        &["check", "--no-probe", cluster.data.to_str().unwrap()],
    ] {
        let arguments = [arguments, &["-v", "--format", "json"]].concat();
        let ended = root::RunningCommand::start(&mut root::walwise_from_cron(&arguments))
            .wait_with_timeout(root::time_limit_seconds(), |_| ());
        let gains = match ended.hang_message() {
            Some(hang) => vec![hang],
            None => setting_mismatches(
                &ended.stdout_json(),
                &cluster.data,
                "pg.fsync",
                &false.into(),
            ),
        };
        attempts.record_attempt(&format!("{many} fakes, {}", arguments.join(" ")), &gains);
    }
    drop(crowd);
    attempts.write_tally_and_assert();
}
