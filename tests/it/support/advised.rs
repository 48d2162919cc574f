//! Every value that built-in rules can advise for database servers, derived from the rules, so that
//! new rules are included automatically.

use walwise_judge::rules::model::{AdviceSpec, ChangeSpec};
use walwise_judge::rules::{Change, Rule, RuleSet};
use walwise_measure::measure::Method;
use walwise_model::facts::{Value, ValueKind};
use walwise_model::version::Version;

pub struct AdvisedSetting<'r> {
    pub rule: &'r Rule,
    pub spec: &'r AdviceSpec,
    /// The setting without its area, such as `wal_init_zero`.
    pub name: &'static str,
    pub values: Vec<String>,
}

/// Lists what all rules can advise for the settings of an area, `pg` or `mysql`. Advice to keep a
/// value has no values.
pub fn list_advised_settings<'r>(area: &str, rules: &'r RuleSet) -> Vec<AdvisedSetting<'r>> {
    let specs = rules
        .rules()
        .iter()
        .flat_map(|rule| rule.advise.iter().map(move |spec| (rule, spec)));
    let named = specs.filter_map(|(rule, spec)| {
        let name = spec.setting.name.strip_prefix(area)?.strip_prefix('.')?;
        Some(AdvisedSetting {
            rule,
            spec,
            name,
            values: values_of_change(&spec.change),
        })
    });
    named.collect()
}

fn values_of_change(change: &ChangeSpec) -> Vec<String> {
    match change {
        ChangeSpec::Fixed(Change::Set(value)) => vec![value.clone()],
        ChangeSpec::SetFrom(fact) => match fact.name {
            "probe.best_method" | "trial.method" => wal_sync_methods(),
            "pg.wal_size" | "pg.wal_size_limit" | "pg.slot_wal_cap" => {
                ["32MB", "4GB", "16TB"].map(str::to_owned).to_vec()
            }
            "pg.half_flush" => ["1000", "100000"].map(str::to_owned).to_vec(),
            "mysql.redo_size_wanted" => ["16777216", "268435456"].map(str::to_owned).to_vec(),
            "mysql.log_buffer_wanted" => ["4194304", "268435456"].map(str::to_owned).to_vec(),
            other => panic!("say here what {other} can be"),
        },
        _ => Vec::new(),
    }
}

fn wal_sync_methods() -> Vec<String> {
    let methods = [
        Method::Fdatasync,
        Method::OpenDatasync,
        Method::Fsync,
        Method::OpenSync,
    ];
    methods
        .iter()
        .filter_map(|method| method.wal_sync_method())
        .map(|method| method.to_string())
        .collect()
}

pub fn parse_advised_value(kind: ValueKind, text: &str) -> Value {
    let number = |text: &str| text.parse::<f64>().unwrap();
    match kind {
        ValueKind::Bool => Value::Bool(text == "on"),
        ValueKind::Count => Value::Whole(text.parse().unwrap()),
        ValueKind::Bytes => {
            let units = [("kB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30)];
            let unit = units
                .iter()
                .find_map(|(unit, of)| Some((text.strip_suffix(unit)?, *of)));
            let (digits, of): (&str, u64) = unit.unwrap_or((text, 1));
            Value::Whole(digits.parse::<u64>().unwrap() * of)
        }
        ValueKind::Micros => {
            let units = [("min", 60e6), ("ms", 1e3), ("s", 1e6)];
            let unit = units
                .iter()
                .find_map(|(unit, of)| Some((text.strip_suffix(unit)?, *of)));
            let (digits, of): (&str, f64) = unit.unwrap_or((text, 1.0));
            Value::Number(number(digits) * of)
        }
        ValueKind::Number => Value::Number(number(text)),
        ValueKind::Text | ValueKind::Choice(_) => Value::Text(text.to_owned()),
        ValueKind::Version => Value::Version(Version::parse(text).unwrap()),
        ValueKind::List | ValueKind::Choices(_) => {
            Value::List(text.split(',').map(str::to_owned).collect())
        }
    }
}
