use super::*;
use crate::facts::UnknownReason;
use crate::facts::catalog::{boot, device, kernel};

#[test]
fn copy_reading_skips_uncollected_facts() {
    let (disk, part) = (Subject::device("sda"), Subject::device("sda1"));
    let mut set = FactSet::default();
    set.insert_known(
        &disk,
        &device::DRIVER,
        "sd".to_owned(),
        Source::from_file("test"),
    );
    set.insert(&disk, &device::MODEL, Reading::denied("a test"));
    for key in [device::DRIVER.info, device::MODEL.info, device::FABRIC.info] {
        set.copy_reading(&part, &key, &disk);
    }
    let rows: Vec<(&str, bool)> = set
        .rows_of(&part)
        .map(|row| (row.fact, row.reading.is_fillable_gap()))
        .collect();
    assert_eq!(rows, [("device.driver", false), ("device.model", true)]);
}

#[test]
fn layers_below_handles_diamonds_and_cycles() {
    let (t, a, b, c) = (
        Subject::target("/t"),
        Subject::device("a"),
        Subject::device("b"),
        Subject::device("c"),
    );
    let mut set = FactSet::default();
    for (top, base) in [(&t, &a), (&t, &b), (&a, &c), (&b, &c)] {
        set.add_layer_below(top, base);
    }
    assert_eq!(set.layers_below(&t), [a.clone(), b.clone(), c.clone()]);
    assert_eq!(set.bottom_devices(&t), std::slice::from_ref(&c));
    assert_eq!(set.bottom_devices(&c), std::slice::from_ref(&c));
    set.add_layer_below(&c, &a);
    assert_eq!(set.layers_below(&t).len(), 3);
    assert!(set.bottom_devices(&t).is_empty(), "a cycle has no bottom");
}

#[test]
fn merge_subset_replaces_facts_of_its_subjects() {
    let [disk, partition, other] = ["sda", "sda1", "sdb"].map(Subject::device);
    let mut set = FactSet::default();
    for subject in [&disk, &partition, &other] {
        set.insert_known(subject, &device::READ_ONLY, false, Source::from_file("ro"));
    }
    set.add_layer_below(&partition, &disk);
    let before = set.clone();
    let mut part = set.subset_with_layers_below([&partition]);
    assert_eq!(
        part.layers_directly_below(&partition),
        std::slice::from_ref(&disk)
    );
    assert!(
        part.reading(&disk, device::READ_ONLY.id()).is_known(),
        "what it stands on can be looked up"
    );
    assert!(!part.contains_subject(&other));
    set.merge_subset(part.clone(), [&partition]);
    assert_eq!(set, before, "nothing was learnt");
    part.insert_known(&partition, &device::FUA, true, Source::from_file("fua"));
    part.add_layer_below(&partition, &other);
    set.insert_known(&disk, &device::FUA, true, Source::from_file("fua"));
    set.merge_subset(part, [&partition]);
    assert_eq!(set.value(&partition, &device::FUA), Some(true));
    assert_eq!(
        set.value(&disk, &device::FUA),
        Some(true),
        "it is none of the part's subjects"
    );
    assert_eq!(set.layers_directly_below(&partition), [disk, other]);
}

#[test]
fn assumed_reading_is_not_replaced() {
    let (disk, new) = (Subject::device("sda"), Subject::device("sdb"));
    let read = || Reading::known(false, Source::from_file("fua"));
    let mut set = FactSet::default();
    set.insert(&disk, &device::FUA, read());
    for subject in [&disk, &new] {
        set.assume(
            subject,
            &device::FUA.info,
            Reading::known(Value::Bool(true), Source::Assumed),
        );
    }
    assert!(
        !set.contains_subject(&new)
            && !set
                .subjects_of_scope(Scope::Device)
                .any(|subject| *subject == new)
    );
    let holds = |set: &FactSet, subject| set.value(subject, &device::FUA) == Some(true);
    assert!(
        holds(&set, &disk),
        "it replaces what the file was read before"
    );
    let ways: [fn(&mut FactSet, &Subject); 4] = [
        |set, of| set.insert_known(of, &device::FUA, false, Source::from_file("fua")),
        |set, of| set.add_subject(of),
        |set, of| {
            let mut other = FactSet::default();
            other.insert_known(of, &device::FUA, false, Source::from_file("fua"));
            set.merge(other);
        },
        |set, of| {
            let mut part = set.subset_with_layers_below([of]);
            part.insert_known(of, &device::FUA, false, Source::from_file("fua"));
            set.merge_subset(part, [of]);
        },
    ];
    for way in ways {
        for subject in [&disk, &new] {
            let mut set = set.clone();
            way(&mut set, subject);
            assert!(holds(&set, subject), "{subject}");
            set.remove_facts(subject);
            set.add_subject(subject);
            assert!(holds(&set, subject), "{subject}, mentioned again");
        }
    }
}

#[test]
fn unlisted_choice_word_is_malformed() {
    let line = Subject::boot("/data");
    let other = || {
        Reading::known(
            Value::Text("elsewhere".to_owned()),
            Source::from_file("test"),
        )
    };
    let (mut set, mut assumed) = (FactSet::default(), FactSet::default());
    set.insert_untyped_value(&line, &boot::DEVICE.info, other());
    assumed.add_subject(&line);
    assumed.assume(&line, &boot::DEVICE.info, other());
    for set in [set, assumed] {
        let found = set.reading(&line, boot::DEVICE.id());
        assert!(
            matches!(
                found,
                Reading::Unknown {
                    why: UnknownReason::Malformed,
                    ..
                }
            ),
            "{found:?}"
        );
        assert_eq!(set.value(&line, &boot::DEVICE), None);
    }
}

#[test]
fn inserted_text_is_escaped_for_terminals() {
    use crate::facts::{Remedy, catalog};
    use crate::text::is_display_unsafe;
    const HOSTILE: &str = "a\x1b]0;b\x07\r\u{9b}31m\u{202e}\u{2066}\u{7f}\n\u{85}";
    let hostile = || HOSTILE.to_owned();
    let values = || {
        [
            Value::Text(hostile()),
            Value::List(vec![hostile(), hostile()]),
        ]
    };
    for key in catalog::all_keys() {
        let subjects = [
            Subject::host(),
            Subject::device(HOSTILE),
            Subject::mount(HOSTILE),
            Subject::boot(HOSTILE),
            Subject::cluster(HOSTILE),
            Subject::target(HOSTILE),
        ];
        let subject = subjects
            .iter()
            .find(|subject| subject.scope() == key.scope)
            .unwrap();
        let known = values().map(|value| Reading::known(value, Source::from_file(HOSTILE)));
        let unknown = Reading::denied(HOSTILE).with_remedy(Remedy::Do(hostile()));
        for reading in known.into_iter().chain([unknown]) {
            let (mut set, mut assumed) = (FactSet::default(), FactSet::default());
            set.insert_untyped_value(subject, key, reading.clone());
            assumed.assume(subject, key, reading);
            assumed.add_subject(subject);
            for set in [set, assumed] {
                for row in set.rows() {
                    let shown = match row.reading {
                        Reading::Known { value, source } => format!("{value}{source}"),
                        Reading::Unknown { detail, remedy, .. } => format!("{detail}{remedy:?}"),
                    };
                    let shown = format!("{}{shown}", row.subject);
                    assert!(
                        !shown.contains(is_display_unsafe),
                        "{}: {shown:?}",
                        key.name
                    );
                    assert!(shown.contains("\\x1b"), "{}: {shown:?}", key.name);
                }
                assert_eq!(set.rows().count(), 1);
            }
        }
    }
}

#[test]
fn facts_apply_through_links() {
    let (target, disk) = (Subject::target("/t"), Subject::device("sda"));
    let mut set = FactSet::default();
    set.insert_known(
        &disk,
        &device::FUA,
        true,
        Source::from_file("/sys/block/sda/queue/fua"),
    );
    assert!(
        !set.applicable_reading(&target, &device::FUA.info)
            .is_known()
    );
    set.set_fact_link(&target, &disk);
    assert!(
        set.applicable_reading(&target, &device::FUA.info)
            .is_known()
    );
    set.insert_known(
        &Subject::host(),
        &kernel::RELEASE,
        "6.1".to_owned(),
        Source::from_system_call("uname"),
    );
    assert!(
        set.applicable_reading(&target, &kernel::RELEASE.info)
            .is_known()
    );
}
