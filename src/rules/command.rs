//! The effect of a command in a rule: harmless, able to lose data, or not understood.
//!
//! The command is parsed as a shell would, and a few programs are known completely. The values they would set are
//! judged by [`crate::settings`], as for the same setting. Nothing is run. A command is understood to the last word or
//! not at all. A command that is not understood is searched for anything that can lose data, wherever it may stand.

mod judgement;
mod words;
mod flags;
mod readers;
mod values;
mod sql;
mod programs;
mod suspect;

use std::ops::Range;

use self::judgement::CommandEffect as J;
use self::words::{CommandList, Simple};
use super::template;

pub(super) use self::judgement::CommandEffect;

/// The largest number of optional facts in a command: each one doubles the number of variants.
const MOST_OPTIONAL: usize = 4;

/// Judges a command as written, with all its facts and without the optional ones.
pub(super) fn judge(command: &str) -> CommandEffect {
    let places = template::places(command);
    let optional = places.iter().filter(|place| place.prefix.is_some()).count();
    if optional > MOST_OPTIONAL {
        return J::strange(format!("it has more than {MOST_OPTIONAL} optional facts")).or(searched(command));
    }
    let mut whole = J::Harmless;
    for there in 0..1_usize << optional {
        let line = words::spelt(command, &places, there);
        whole = whole.and(CommandList::read(&line).map_or_else(J::strange, |line| of_line(&line)));
    }
    whole.or(searched(command))
}

/// The part of a command that can lose data although it is not understood: by its words, and by each part that is a
/// command of its own.
fn searched(command: &str) -> Option<CommandEffect> {
    suspect::search(command).or_else(|| parts(command, "|;&()\n`")).or_else(|| parts(command, "|;&()\n`'\""))
}

/// The number of possible beginnings of commands that are tried in one part.
const MOST_STARTS: usize = 16;

/// The first part between these separators in which a known program, at any place, can lose data.
fn parts(command: &str, between: &str) -> Option<CommandEffect> {
    let mut at = 0;
    for part in command.split(|c: char| between.contains(c)) {
        let start = at;
        at += part.len() + 1;
        for (from, _) in words_of(part).filter(|(_, word)| programs::is_known(base(word))).take(MOST_STARTS) {
            let said = part.get(from..).unwrap_or_default();
            let line = CommandList::read(&words::spelt(said, &template::places(said), usize::MAX));
            if let Ok(J::Loses { range, what }) = line.map(|line| of_line(&line)) {
                let from = from + start;
                return Some(J::loses(range.start + from..range.end + from, what));
            }
        }
    }
    None
}

/// The words between blanks, with their places.
fn words_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let starts = text.char_indices().filter(move |(at, c)| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        !c.is_whitespace() && before.is_none_or(char::is_whitespace)
    });
    starts.map(move |(at, _)| {
        let rest = text.get(at..).unwrap_or_default();
        (at, rest.split_whitespace().next().unwrap_or_default())
    })
}

/// A program's name without its directory.
fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or_default()
}

/// The first command in a text that can lose data, with its place: text between backticks, and text that looks like a
/// command.
pub(super) fn in_text(text: &str) -> Option<(Range<usize>, String)> {
    let mut at = 0;
    for (index, part) in text.split('`').enumerate() {
        let start = at;
        at += part.len() + 1;
        let from = if index % 2 == 1 { Some(0) } else { likely(part) };
        let Some((from, said)) = from.and_then(|from| Some((from + start, part.get(from..)?))) else {
            continue;
        };
        // A sentence ends where it ends.
        if let J::Loses { range, what } = judge(said.trim_end().trim_end_matches('.')) {
            return Some((range.start + from..range.end + from, what));
        }
    }
    None
}

/// Where in a sentence a command begins: a program with an option, or with an argument that no sentence contains.
fn likely(sentence: &str) -> Option<usize> {
    let mut words = words_of(sentence);
    let mut last = words.next()?;
    for (at, word) in words {
        let (before, program) = last;
        let verb = ["set", "destroy", "rollback", "labelclear"].contains(&word);
        let called = word.starts_with('-') && word.len() > 1 || verb || word.starts_with(['/', '{']);
        if called && programs::is_known(base(program)) {
            return Some(before);
        }
        last = (at, word);
    }
    None
}

fn of_line(line: &CommandList) -> CommandEffect {
    line.pipelines.iter().map(|pipeline| of_pipeline(pipeline)).fold(J::Harmless, J::and)
}

fn of_pipeline(commands: &[Simple]) -> CommandEffect {
    match commands {
        [one] => of_simple(one, None),
        // The output is passed on to the file that `tee` writes.
        [said, tee] if programs::is_tee(tee) => match programs::said(said) {
            Ok(said) => of_simple(tee, Some(&said)),
            Err(why) => J::strange(why),
        },
        many => {
            let reads = many.iter().map(|one| {
                if readers::is_reader(one) {
                    return of_simple(one, None);
                }
                J::strange("it passes what one program prints to another")
            });
            reads.fold(J::Harmless, J::and)
        }
    }
}

fn of_simple(one: &Simple, input: Option<&words::Word>) -> CommandEffect {
    programs::judge(one, input)
}

#[cfg(test)]
mod tests;
