//! The choice of a file system for a free disk: offered there alone, refused with the reason, and
//! followed everywhere.

use super::*;
use crate::settings::NewFilesystem;
use crate::tui::sample::wanting;

#[test]
fn pictures_of_the_choice() {
    for (name, model) in states((80, 24), RICH) {
        if ["which file system", "another file system"].contains(&name) {
            insta::assert_snapshot!(name.replace(' ', "_"), shown(&model));
        }
    }
    let mut model = wanting((80, 24), RICH);
    press(&mut model, "4");
    insta::assert_snapshot!("another_file_system_advice", shown(&model));
}

#[test]
fn a_file_system_is_chosen_by_its_key_and_the_first_choice_takes_the_wish_back() {
    let mut model = with(sample::free_disk(), (80, 24), RICH);
    let disk = sample::new_disk();
    assert!(
        shown(&model)
            .lines()
            .last()
            .unwrap()
            .contains("f choose fs"),
        "{}",
        shown(&model)
    );
    press(&mut model, "f");
    assert!(
        shown(&model).contains("Which file system for"),
        "{}",
        shown(&model)
    );
    let asked = press(&mut model, "home enter");
    assert!(
        matches!(&asked[..], [SideEffect::Start(_, Job::Want(of, Some(NewFilesystem::Ext4)))] if *of == disk),
        "{asked:?}"
    );
    assert_eq!(press(&mut model, "f"), [], "one thing at a time");
    finish(
        &mut model,
        JobResult::Report(Box::new(sample::wanting(NewFilesystem::Ext4))),
    );
    assert!(
        shown(&model).contains("ext4, as you want; the first choice here is xfs"),
        "{}",
        shown(&model)
    );

    let back = press(&mut model, "f down enter");
    assert!(
        matches!(&back[..], [SideEffect::Start(_, Job::Want(of, None))] if *of == disk),
        "XFS is the first choice: {back:?}"
    );
    finish(
        &mut model,
        JobResult::Failed("the machine has not been read yet".to_owned()),
    );
    assert!(
        shown(&model).contains("the machine has not been read yet"),
        "{}",
        shown(&model)
    );
}

#[test]
fn what_is_refused_gives_its_reason_and_what_is_no_free_disk_has_no_choice() {
    let mut model = with(sample::free_disk(), (80, 24), RICH);
    press(&mut model, "f end");
    assert!(
        shown(&model).contains("No rule offers it here."),
        "{}",
        shown(&model)
    );
    assert_eq!(press(&mut model, "enter"), [], "it cannot be made");
    press(&mut model, "esc");
    assert!(model.overlay.is_none());

    let mut model = with(at_risk(), (80, 24), RICH);
    assert_eq!(press(&mut model, "f"), []);
    assert!(
        shown(&model).contains("this is no free disk"),
        "{}",
        shown(&model)
    );
}
