use proptest::prelude::*;
use proptest::sample::select;

use crate::facts::catalog::{device, kernel, mount, probe, target};
use crate::facts::{
    Choice, FactSet, KeyInfo, Reading, Remedy, Source, Subject, UnknownReason, Value, ValueKind,
};
use crate::rules::model::{Condition, FactTest, StackElementKind, TestOperator};
use crate::version::Version;

#[derive(Clone, Debug)]
pub struct RandomHost {
    pub facts: Vec<(Subject, &'static KeyInfo, Reading<Value>)>,
    leaves: usize,
    open_end: bool,
}

impl RandomHost {
    pub fn to_fact_set(&self) -> FactSet {
        let mut set = FactSet::default();
        set.add_subject(&test_target());
        set.set_fact_link(&test_target(), &Subject::mount("/t"));
        set.add_layer_below(&test_target(), &Subject::mount("/t"));
        for leaf in 0..self.leaves {
            set.add_layer_below(&Subject::mount("/t"), &disk(leaf));
        }
        if self.open_end {
            set.add_layer_below(&Subject::mount("/t"), &Subject::mount("/beneath"));
        }
        for (subject, fact, reading) in &self.facts {
            set.insert_untyped_value(subject, fact, reading.clone());
        }
        set
    }

    pub fn with_reading(&self, index: usize, reading: Reading<Value>) -> Self {
        let mut other = self.clone();
        other.facts[index].2 = reading;
        other
    }
}

pub fn test_target() -> Subject {
    Subject::target("/t")
}

fn disk(index: usize) -> Subject {
    Subject::device(format!("sd{index}"))
}

pub fn facts_with_few_values() -> Vec<&'static KeyInfo> {
    vec![
        &mount::BARRIER.info,
        &mount::READ_ONLY.info,
        &target::EMPTY.info,
        &target::FLUSH_REMOVAL_ALLOWED.info,
    ]
}

pub fn facts_of_every_kind() -> Vec<&'static KeyInfo> {
    let more = [
        &mount::SIZE.info,
        &mount::SUPER_OPTIONS.info,
        &kernel::VERSION.info,
        &probe::FLUSH_COST.info,
        &target::PATH.info,
    ];
    facts_with_few_values().into_iter().chain(more).collect()
}

pub fn arbitrary_host(of: Vec<&'static KeyInfo>) -> impl Strategy<Value = RandomHost> {
    (0..3usize, proptest::bool::weighted(0.2)).prop_flat_map(move |(leaves, open_end)| {
        let place = |info: &'static KeyInfo| match info.scope {
            crate::facts::Scope::Host => (Subject::host(), info),
            crate::facts::Scope::Mount => (Subject::mount("/t"), info),
            _ => (test_target(), info),
        };
        let mut places: Vec<(Subject, &'static KeyInfo)> =
            of.iter().map(|info| place(info)).collect();
        places.extend((0..leaves).map(|leaf| (disk(leaf), &device::CACHE.info)));
        let readings: Vec<_> = places
            .into_iter()
            .map(|(subject, info)| {
                arbitrary_reading(info).prop_map(move |reading| (subject.clone(), info, reading))
            })
            .collect();
        readings.prop_map(move |facts| RandomHost {
            facts,
            leaves,
            open_end,
        })
    })
}

pub fn arbitrary_reading(info: &'static KeyInfo) -> BoxedStrategy<Reading<Value>> {
    let source = prop_oneof![
        3 => Just(Source::from_file("/proc/x")),
        1 => Just(Source::Assumed),
        1 => Just(Source::Probe { id: "fsync".to_owned() }),
        1 => Just(Source::derived_from(["probe.flush_cost"])),
        1 => Just(Source::Derived { of: vec!["device.cache".to_owned()], assumed: true }),
    ];
    let unknown = select(vec![UnknownReason::Denied, UnknownReason::NotCollected])
        .prop_map(|why| Reading::unknown(why, "x").with_remedy(Remedy::RunAsRoot));
    prop_oneof![
        (arbitrary_value(info), source).prop_map(|(value, source)| Reading::known(value, source)),
        unknown
    ]
    .boxed()
}

pub fn arbitrary_value(info: &'static KeyInfo) -> BoxedStrategy<Value> {
    match info.kind {
        ValueKind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        ValueKind::Count | ValueKind::Bytes => (0..6u64).prop_map(Value::Whole).boxed(),
        ValueKind::Micros | ValueKind::Number => (0..12u32)
            .prop_map(|n| Value::Number(f64::from(n) / 2.0))
            .boxed(),
        ValueKind::Text => "[ab]{1,2}".prop_map(Value::Text).boxed(),
        ValueKind::Choice(words) => select(words)
            .prop_map(|word| Value::Text(word.to_owned()))
            .boxed(),
        ValueKind::Version => arbitrary_version().prop_map(Value::Version).boxed(),
        ValueKind::List => arbitrary_option_list().prop_map(Value::List).boxed(),
        ValueKind::Choices(words) => {
            proptest::collection::vec(select(words).prop_map(str::to_owned), 0..4)
                .prop_map(Value::List)
                .boxed()
        }
    }
}

fn arbitrary_option_list() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(
        select(vec!["a", "b", "b=1", "c"]).prop_map(str::to_owned),
        0..4,
    )
}

fn arbitrary_version() -> impl Strategy<Value = Version> {
    select(vec![
        "5.4", "5.10.3", "6.1", "6.1.112", "6.1.111", "6.6.54", "6.12",
    ])
    .prop_map(|text| Version::parse(text).unwrap())
}

pub fn arbitrary_test(info: &'static KeyInfo, known: bool) -> BoxedStrategy<FactTest> {
    let one = || arbitrary_value(info);
    let some = || proptest::collection::vec(arbitrary_value(info), 1..3);
    let mut ops = vec![one().prop_map(TestOperator::Is).boxed()];
    match info.kind {
        ValueKind::Bool => {}
        ValueKind::List | ValueKind::Choices(_) => {
            let word = || select(vec!["a", "b", "c"]).prop_map(str::to_owned);
            ops.push(word().prop_map(TestOperator::Has).boxed());
            ops.push(word().prop_map(TestOperator::HasOption).boxed());
            ops.push(
                arbitrary_option_list()
                    .prop_map(TestOperator::HasAny)
                    .boxed(),
            );
        }
        _ => {
            ops.push(some().prop_map(TestOperator::In).boxed());
        }
    }
    if !matches!(
        info.kind,
        ValueKind::Bool
            | ValueKind::List
            | ValueKind::Choices(_)
            | ValueKind::Text
            | ValueKind::Choice(_)
    ) {
        ops.push(one().prop_map(TestOperator::AtLeast).boxed());
    }
    if info.kind == ValueKind::Version {
        ops.push(
            proptest::collection::vec(arbitrary_version(), 1..3)
                .prop_map(TestOperator::FixedIn)
                .boxed(),
        );
    }
    if known {
        ops.push(Just(TestOperator::Known).boxed());
        ops.push(Just(TestOperator::Exists).boxed());
    }
    (proptest::strategy::Union::new(ops), any::<bool>())
        .prop_map(move |(op, negated)| FactTest {
            fact: info,
            op,
            negated,
        })
        .boxed()
}

pub fn arbitrary_condition(
    of: Vec<&'static KeyInfo>,
    known: bool,
) -> impl Strategy<Value = Condition> {
    let fact = select(of)
        .prop_flat_map(move |info| arbitrary_test(info, known))
        .prop_map(Condition::Fact);
    let cache = arbitrary_test(&device::CACHE.info, known)
        .prop_map(Condition::Fact)
        .boxed();
    let quantified = (
        any::<bool>(),
        select(StackElementKind::ALL[..2].to_vec()),
        cache,
    );
    let quantified = quantified.prop_map(|(every, relation, cond)| {
        if every {
            Condition::Every(relation, Box::new(cond))
        } else {
            Condition::Some(relation, Box::new(cond))
        }
    });
    prop_oneof![5 => fact, 1 => quantified].prop_recursive(3, 10, 3, |inner| {
        let list = proptest::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            list.clone().prop_map(Condition::All),
            list.prop_map(Condition::Any),
            inner.prop_map(|cond| Condition::Not(Box::new(cond))),
        ]
    })
}
