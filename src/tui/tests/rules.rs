use super::{PLAIN, screen_text};
use crate::facts::catalog;
use crate::tui::page::PageBlock;
use crate::tui::screen_id::ScreenId;
use crate::tui::test_sessions::{at_risk_report, press_keys, session_with_report};
use crate::tui::viewport::{BodyLayout, PanePlace};

const ROOM: BodyLayout = BodyLayout {
    columns: 116,
    rows: 35,
    side: 0,
    pane: PanePlace::Below(0),
};

#[test]
fn snapshots_of_rules_screen() {
    let mut model = session_with_report(at_risk_report(), (80, 60), PLAIN);
    press_keys(&mut model, "5 j enter");
    let applies = screen_text(&model);
    press_keys(&mut model, "esc / d o e s space n o t enter enter");
    insta::assert_snapshot!([applies, screen_text(&model)].join("\n\n"));
}

#[test]
fn rules_are_filtered_by_id_title_and_result() {
    let mut model = session_with_report(at_risk_report(), (80, 40), PLAIN);
    press_keys(&mut model, "5");
    let all = screen_text(&model);
    let places = [
        "Applies  ",
        "Undecided  ",
        "Does not apply  ",
        "Not applicable here  ",
    ];
    let places: Vec<Option<usize>> = places.iter().map(|title| all.find(title)).collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{all}"
    );
    for (typed, found, others) in [
        ("u n d e c", "ext4.fast-commit", "mount.noatime"),
        (
            "t i t l e space o f space p g",
            "pg.commit-delay",
            "mount.noatime",
        ),
        ("m i x e d", "device.mixed-caches", "pg.commit-delay"),
    ] {
        press_keys(&mut model, &format!("/ {typed} enter"));
        let screen = screen_text(&model);
        assert!(
            screen.contains(found) && !screen.contains(others),
            "{typed}: {screen}"
        );
        press_keys(&mut model, "esc");
    }
    assert_eq!(model.screen, ScreenId::Rules);
}

#[test]
fn rules_screen_shows_no_placeholders_or_fact_names() {
    let model = session_with_report(at_risk_report(), (120, 40), PLAIN);
    let page = ScreenId::Rules.build_page(&model.data, &model.current_page_state(), ROOM);
    let state = model.current_page_state();
    let details = |block: &PageBlock| {
        block
            .details_title_and_page(&model.data, &state, (120, 40))
            .1
            .blocks
    };
    let open: Vec<PageBlock> = page.selectable_blocks().flat_map(details).collect();
    let lines = page
        .blocks
        .iter()
        .chain(&open)
        .flat_map(|block| &block.lines);
    let lines: Vec<String> = lines.map(ToString::to_string).collect();
    let raw = |line: &&String| line.contains('{') && !line.contains("${");
    assert_eq!(lines.iter().filter(raw).collect::<Vec<_>>(), [""; 0]);
    let folded = page
        .blocks
        .iter()
        .flat_map(|block| &block.lines)
        .map(ToString::to_string);
    let is_fact = |word: &str| catalog::find_by_name(word.trim_end_matches([',', '.'])).is_some();
    assert_eq!(
        folded
            .filter(|line| line.split(' ').any(is_fact))
            .collect::<Vec<_>>(),
        [""; 0]
    );
}
