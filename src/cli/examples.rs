//! Examples in the help of every command. Tests check that each example is a valid command line.

/// One section per command, such as `[rules list]`.
pub const SECTIONS: &str = include_str!("examples.txt");

/// Examples, each with its purpose on the next line, and then notes, each with a heading.
pub fn examples_help(command: &str) -> String {
    let (_, section) = SECTIONS
        .split_once(&format!("\n[{command}]\n"))
        .unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    format!("Examples:\n{}", section.trim_end()).replace("\n        ", " ")
}
