//! Every fact declares the consequences of assuming it, and the facts it names exist.

use std::collections::BTreeMap;

use walwise::inside::facts::{KeyInfo, Supposing, catalog};

fn names(key: &KeyInfo) -> &'static [&'static str] {
    match key.supposing {
        Supposing::With(names) | Supposing::Instead(names) => names,
        Supposing::Alone | Supposing::Carries(_) | Supposing::Never | Supposing::Judged => &[],
    }
}

#[test]
fn every_fact_has_its_place() {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for key in catalog::all() {
        let place = match key.supposing {
            Supposing::Alone => "alone",
            Supposing::Carries(_) => "carries",
            Supposing::With(_) => "with others",
            Supposing::Instead(_) => "others instead",
            Supposing::Never => "never",
            Supposing::Judged => "judged",
        };
        *places.entry(place).or_default() += 1;
    }
    assert_eq!(places.len(), 6, "{places:?}");
    assert_eq!(places.values().sum::<usize>(), catalog::all().count());
}

/// Nobody is sent to a fact that is not there, or that is refused as well.
#[test]
fn what_is_to_be_assumed_can_be() {
    for key in catalog::all() {
        for name in names(key) {
            let other = catalog::find(name).unwrap_or_else(|| panic!("{}: there is no {name}", key.name));
            let is_sent = matches!(key.supposing, Supposing::Instead(_));
            let refused =
                matches!(other.supposing, Supposing::Never | Supposing::Judged | Supposing::Instead(_));
            assert!(!(is_sent && refused), "{} sends to {name}, which is refused too", key.name);
        }
    }
}
