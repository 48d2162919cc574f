use std::fs;

use super::attempts::{Attempts, long};
use super::fakes::{Fakes, postgres_data};
use super::ground::Ground;
use super::impostors::setting;
use super::root;
use super::support::postgres::Cluster;

/// The attacker starts two thousand fake servers, or ten thousand in a long run, some older than
/// the real one and some younger. The attacker wants the real server, whose fsync is off, to be
/// left out silently.
#[test]
#[ignore = "needs root and a PostgreSQL: it attacks as another user"]
fn a_real_postgresql_is_not_hidden_by_a_crowd() {
    let mut attempts = Attempts::at("thousands of servers that hide a real one");
    let many = if long() { 10_000 } else { 2_000 };
    let ground = Ground::new();
    let fakes = Fakes::on(&ground);
    let one = |n: usize| {
        let data = ground.at(&format!("data/{n}"));
        fs::create_dir_all(&data).unwrap();
        postgres_data(&data);
        fakes.postgres(&data, &[])
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
        let ended = root::Run::start(&mut root::walwise(&arguments)).end(root::patience(), |_| ());
        let gains = match ended.hang() {
            Some(hang) => vec![hang],
            None => setting(&ended.json(), &cluster.data, "pg.fsync", &false.into()),
        };
        attempts.made(&format!("{many} fakes, {}", arguments.join(" ")), &gains);
    }
    drop(crowd);
    attempts.end();
}
