//! The arguments of a program: its options, each with its value, and the rest.
//!
//! Short options may be combined and have their value attached, long ones have it after `=` or as the next word. An
//! option that the program's entry does not list is an error, so that nothing is skipped.

use super::words::Word;

/// The options as given, and the other arguments.
#[derive(Debug, Default)]
pub struct Flags {
    pub options: Vec<(String, Option<Word>)>,
    pub rest: Vec<Word>,
}

/// The options of a program in the format of getopt(3): `"no:"`, and long ones with a trailing `=` if they take a
/// value.
#[derive(Clone, Copy, Debug)]
pub struct OptionSyntax {
    pub short: &'static str,
    pub long: &'static [&'static str],
}

impl OptionSyntax {
    fn short(self, flag: char) -> Option<bool> {
        let mut rest = self.short.chars().peekable();
        while let Some(c) = rest.next() {
            let valued = rest.next_if(|next| *next == ':').is_some();
            if c == flag {
                return Some(valued);
            }
        }
        None
    }

    fn long(self, name: &str) -> Option<bool> {
        self.long.iter().find_map(|one| match one.strip_suffix('=') {
            Some(valued) => (valued == name).then_some(true),
            None => (*one == name).then_some(false),
        })
    }
}

/// Parses arguments; the error names the unknown option.
pub fn read(words: &[Word], known: OptionSyntax) -> Result<Flags, String> {
    let mut flags = Flags::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let shape = word.shape();
        let strange = || format!("walwise does not know its option `{}`", shape.replace('\0', "…"));
        let lacking = || format!("`{shape}` lacks its value");
        if shape == "--" {
            flags.rest.extend(words.cloned());
            break;
        }
        if let Some(long) = shape.strip_prefix("--") {
            let (name, value) = match word.split_once('=') {
                Some((before, value)) => (before.shape().trim_start_matches('-').to_owned(), Some(value)),
                None => (long.to_owned(), None),
            };
            let value = match (known.long(&name).ok_or_else(strange)?, value) {
                (true, None) => Some(words.next().ok_or_else(lacking)?.clone()),
                (true, value) => value,
                (false, None) => None,
                (false, Some(_)) => return Err(strange()),
            };
            flags.options.push((name, value));
        } else if shape.starts_with('-') && shape.len() > 1 {
            let mut at = 1;
            while let Some(flag) = shape.chars().nth(at) {
                at += 1;
                let valued = known.short(flag).ok_or_else(strange)?;
                let value = match (valued, word.part(at..)) {
                    (false, _) => None,
                    (true, value) if value.is_empty() => Some(words.next().ok_or_else(lacking)?.clone()),
                    (true, value) => Some(value),
                };
                flags.options.push((flag.to_string(), value));
                if valued {
                    break;
                }
            }
        } else {
            flags.rest.push(word.clone());
        }
    }
    Ok(flags)
}
