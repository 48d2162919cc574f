//! Renders manual pages. clap's text after the options is omitted, because roff would join the
//! lines of its examples; this module formats the examples instead.

use std::io;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use walwise::cli::args::Cli;
use walwise::cli::examples;

use crate::OutputFile;

/// Renders every page with its file name, `walwise.1` first.
pub fn man_pages() -> io::Result<Vec<OutputFile>> {
    let mut whole = Cli::command().disable_help_subcommand(true);
    whole.build();
    let mut pages = Vec::new();
    render_command_pages(&whole, "", &mut pages)?;
    Ok(pages)
}

fn render_command_pages(
    command: &Command,
    of: &str,
    pages: &mut Vec<OutputFile>,
) -> io::Result<()> {
    let name = if of.is_empty() {
        NAME.to_owned()
    } else {
        format!("{NAME}-{}", of.replace(' ', "-"))
    };
    pages.push((format!("{name}.1"), render_page(command, of, &name)?));
    for kid in command.get_subcommands().filter(|kid| !kid.is_hide_set()) {
        render_command_pages(kid, format!("{of} {}", kid.get_name()).trim_start(), pages)?;
    }
    Ok(())
}

const NAME: &str = "walwise";

fn render_page(command: &Command, of: &str, name: &str) -> io::Result<String> {
    let version = concat!("walwise ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).title(name).source(version);
    let mut bytes = Vec::new();
    man.render_title(&mut bytes)?;
    man.render_name_section(&mut bytes)?;
    man.render_synopsis_section(&mut bytes)?;
    man.render_description_section(&mut bytes)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(&mut bytes)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut bytes)?;
    }
    // clap_mangen repeats the same preamble in each section; only the first is kept.
    let text = String::from_utf8_lossy(&bytes);
    let (once, rest) = text.split_once(".TH ").unwrap_or(("", &text));
    let mut page = format!("{once}.TH {}", rest.replace(once, ""));
    page.push_str(".SH EXAMPLES\n");
    for line in examples::examples_help(of).lines() {
        let roff = if let Some(purpose) = line.strip_prefix("      ") {
            format!("{}\n", escape_roff(purpose))
        } else if let Some(example) = line.strip_prefix("  ") {
            format!(".TP\n.B {}\n", escape_roff(example))
        } else if let Some((heading, note)) = line.split_once(": ") {
            let heading = escape_roff(&heading.to_uppercase());
            format!(".SH {heading}\n{}\n", escape_roff(note))
        } else {
            continue;
        };
        page.push_str(&roff);
    }
    if !of.is_empty() {
        page.push_str(".SH SEE ALSO\n.BR walwise (1)\n");
    }
    Ok(page)
}

/// Escapes a text so that roff renders it literally, without requests, escapes, or typographic
/// dashes and quotes.
fn escape_roff(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '`' => out.push_str("\\(ga"),
            '~' => out.push_str("\\(ti"),
            '^' => out.push_str("\\(ha"),
            '"' => out.push_str("\\(dq"),
            c => out.push(c),
        }
    }
    if out.starts_with('.') {
        format!("\\&{out}")
    } else {
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_has_no_roff_requests() {
        assert_eq!(escape_roff(".so x"), "\\&.so x");
        assert_eq!(escape_roff("a\\b 'c' -d"), "a\\eb \\(aqc\\(aq \\-d");
    }

    #[test]
    fn every_command_has_a_page() {
        let names: Vec<String> = man_pages()
            .unwrap()
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        for wanted in [
            "walwise.1",
            "walwise-check.1",
            "walwise-rules-show.1",
            "walwise-generate-schema.1",
        ] {
            assert!(
                names.iter().any(|name| name == wanted),
                "{wanted}: {names:?}"
            );
        }
        assert_eq!(names.first().map(String::as_str), Some("walwise.1"));
        let sections = examples::SECTIONS
            .lines()
            .filter(|line| line.starts_with('['));
        assert_eq!(names.len(), sections.count(), "{names:?}");
    }
}
