//! Generates the committed files in `assets`. A test fails if a committed file differs from the
//! generated one.

use std::io;
use std::path::Path;

use walwise::cli::args::Shell;
use walwise::cli::generate::completion_file;

use crate::OutputFile;
use crate::pictures::{
    load_recorded_session_and_measurement, render_html_page, render_screen_pictures,
};

const README_SCREENSHOT: (&str, (u16, u16)) = ("overview.svg", (140, 45));

pub fn asset_files(checkout: &Path) -> io::Result<Vec<OutputFile>> {
    let (session, measured) = load_recorded_session_and_measurement(checkout)?;
    let mut screens = render_screen_pictures(&session, &measured, README_SCREENSHOT.1);
    screens.retain(|(name, _)| name == README_SCREENSHOT.0);
    let mut files = vec![(
        "assets/report.html".to_owned(),
        render_html_page(session, measured),
    )];
    let within =
        |(name, text): OutputFile, directory: &str| (format!("assets/{directory}{name}"), text);
    files.extend(screens.into_iter().map(|screen| within(screen, "")));
    files.extend(Shell::ALL.map(|shell| within(completion_file(shell), "completions/")));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::checkout_directory;

    #[test]
    fn committed_assets_equal_the_generated_ones() {
        for (name, text) in asset_files(checkout_directory()).unwrap() {
            let committed = fs::read_to_string(checkout_directory().join(&name)).unwrap();
            assert!(committed == text, "{name} is stale: cargo xtask assets");
        }
    }

    #[test]
    fn svg_pictures_have_only_drawing_elements() {
        let (session, measured) =
            load_recorded_session_and_measurement(checkout_directory()).unwrap();
        for (name, svg) in render_screen_pictures(&session, &measured, (100, 32)) {
            for element in svg
                .split('<')
                .skip(1)
                .map(|rest| rest.split([' ', '>', '/']).next().unwrap())
            {
                assert!(
                    ["svg", "title", "rect", "path", "text", ""].contains(&element),
                    "{name}: <{element}"
                );
            }
            assert!(!svg.contains("href") && !svg.contains("url("), "{name}");
        }
    }
}
