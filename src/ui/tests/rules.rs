//! The screen Rules: what is beneath a rule, and how one finds a rule there.

use super::{PLAIN, shown};
use crate::ui::sample::{at_risk, press, with};
use crate::ui::screen::ScreenId;

#[test]
fn pictures_of_the_rules() {
    let mut model = with(at_risk(), (80, 60), PLAIN);
    press(&mut model, "5 j enter");
    insta::assert_snapshot!("applies", shown(&model));
    press(&mut model, "esc / d o e s space n o t enter enter");
    insta::assert_snapshot!("does_not_apply", shown(&model));
}

#[test]
fn rules_are_found_by_id_title_and_outcome() {
    let mut model = with(at_risk(), (80, 40), PLAIN);
    press(&mut model, "5");
    let all = shown(&model);
    let places = ["Applies   ", "Undecided   ", "Does not apply   ", "About nothing here   "];
    let places: Vec<Option<usize>> = places.iter().map(|title| all.find(title)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{all}");
    for (typed, found, others) in [
        ("u n d e c", "ext4.fast-commit", "mount.noatime"),
        ("t i t l e space o f space p g", "pg.commit-delay", "mount.noatime"),
        ("m i x e d", "device.mixed-caches", "pg.commit-delay"),
    ] {
        press(&mut model, &format!("/ {typed} enter"));
        let screen = shown(&model);
        assert!(screen.contains(found) && !screen.contains(others), "{typed}: {screen}");
        press(&mut model, "esc");
    }
    assert_eq!(model.screen, ScreenId::Rules);
}
