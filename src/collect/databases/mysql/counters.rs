//! What a running MySQL or MariaDB counts of its redo log and its binary log, from its own answer.
//!
//! Counters begin with the start of the server. What follows from them is left to [`crate::sizing`].

use super::server::VariablesReply;
use super::settings::number;
use crate::facts::catalog::mysql;
use crate::facts::{FactSet, Reading, Subject, Why};
use crate::text::safe;

/// Records all of it; `None` where no server runs.
pub fn put(facts: &mut FactSet, cluster: &Subject, answer: Option<&VariablesReply>) {
    let count = |name: &str| count(answer, name);
    facts.put(cluster, &mysql::UPTIME, count("Uptime").map(|seconds| seconds as f64 * 1e6));
    facts.put(cluster, &mysql::REDO_WRITTEN, count("Innodb_os_log_written"));
    let age = [count("Innodb_checkpoint_age"), count("Innodb_redo_log_logical_size")];
    let age = age.into_iter().reduce(|one, other| if one.is_known() { one } else { other });
    facts.put(cluster, &mysql::CHECKPOINT_AGE, age.unwrap_or_else(Reading::not_collected));
    facts.put(cluster, &mysql::LOG_WAITS, count("Innodb_log_waits"));
    let per_group = match (count("Binlog_commits"), count("Binlog_group_commits")) {
        (_, Reading::Known { value: 0, .. }) => {
            Reading::unknown(Why::Absent, "nothing was committed to the binary log")
        }
        (commits, Reading::Known { value: groups, .. }) => {
            commits.map(|commits| commits as f64 / groups as f64)
        }
        (_, unknown) => unknown.map(|groups| groups as f64),
    };
    facts.put(cluster, &mysql::COMMITS_PER_GROUP, per_group);
}

fn count(answer: Option<&VariablesReply>, name: &str) -> Reading<u64> {
    match answer {
        None => Reading::unknown(Why::Absent, format!("only a running server tells {name}")),
        Some(VariablesReply::Silent(why, detail, remedy)) => {
            Reading::unknown(*why, detail.clone()).or_try(remedy.clone())
        }
        Some(told @ VariablesReply::Told(..)) => match (told.get(name), told.get("Uptime")) {
            (Some(value), _) => value.and_then(|value| number(&safe(&value))),
            (None, Some(_)) => Reading::unknown(Why::Absent, format!("this release does not count {name}")),
            (None, None) => Reading::unknown(
                Why::NotCollected,
                format!("the answer to hand holds no counters, and so no {name}"),
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::facts::{Key, Remedy, Source};

    fn told(rows: &[(&str, &str)], key: &Key<u64>) -> Result<u64, Why> {
        let rows: BTreeMap<_, _> =
            rows.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect();
        let answer = VariablesReply::Told(rows, Source::call("test"));
        let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/db"));
        put(&mut facts, &cluster, Some(&answer));
        match facts.get(&cluster, key) {
            Reading::Known { value, .. } => Ok(value),
            Reading::Unknown { why, .. } => Err(why),
        }
    }

    #[test]
    fn both_names_of_the_age_are_read_and_nothing_is_made_up() {
        let age = &mysql::CHECKPOINT_AGE;
        assert_eq!(told(&[("Uptime", "9"), ("Innodb_checkpoint_age", "7")], age), Ok(7));
        assert_eq!(told(&[("Uptime", "9"), ("Innodb_redo_log_logical_size", "8")], age), Ok(8));
        assert_eq!(told(&[("Uptime", "9")], age), Err(Why::Absent));
        assert_eq!(told(&[("port", "9")], age), Err(Why::NotCollected), "an older capture");
        assert_eq!(
            told(&[("Uptime", "9"), ("Innodb_os_log_written", "x")], &mysql::REDO_WRITTEN),
            Err(Why::Malformed)
        );
    }

    #[test]
    fn a_server_that_was_not_asked_says_nothing() {
        let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/db"));
        let silent = VariablesReply::Silent(Why::Denied, "no".to_owned(), Remedy::RunAsRoot);
        for (answer, expected) in [(Some(&silent), Why::Denied), (None, Why::Absent)] {
            put(&mut facts, &cluster, answer);
            for name in
                ["mysql.uptime", "mysql.redo_written", "mysql.commits_per_group", "mysql.checkpoint_age"]
            {
                let Reading::Unknown { why, .. } = facts.named(&cluster, name) else { panic!("{name}") };
                assert_eq!(*why, expected, "{name}");
            }
        }
    }
}
