//! What a command of a rule does: harmless, one that can lose data, or one that is not understood.
//!
//! It reads the command as a shell would and knows a few programs completely; what they would set is judged by what
//! [`crate::settings`] says of the same setting. It runs nothing. The surprise: whatever is not understood to the last word
//! is not understood at all, and is then searched for what can lose data wherever that may stand.

mod flags;
mod judgement;
mod programs;
mod readers;
mod sql;
mod suspect;
mod values;
mod words;

use std::ops::Range;

use self::judgement::Judgement as J;
use self::words::{Line, Simple};
use super::template;

pub(super) use self::judgement::Judgement;

/// How many optional facts a command may have: each doubles what is to be looked at.
const MOST_OPTIONAL: usize = 4;

/// What a command as a rule's author wrote it does, with all its facts and without the optional ones.
pub(super) fn judge(command: &str) -> Judgement {
    let places = template::places(command);
    let optional = places.iter().filter(|place| place.prefix.is_some()).count();
    if optional > MOST_OPTIONAL {
        return J::strange(format!("it has more than {MOST_OPTIONAL} optional facts")).or(searched(command));
    }
    let mut whole = J::Harmless;
    for there in 0..1_usize << optional {
        let line = words::spelt(command, &places, there);
        whole = whole.and(Line::read(&line).map_or_else(J::strange, |line| of_line(&line)));
    }
    whole.or(searched(command))
}

/// What can lose data in a command that is not understood: by its words, and by each part that is a command by itself.
fn searched(command: &str) -> Option<Judgement> {
    suspect::search(command).or_else(|| parts(command, "|;&()\n`")).or_else(|| parts(command, "|;&()\n`'\""))
}

/// How many beginnings of commands are tried in one part.
const MOST_STARTS: usize = 16;

/// The first part between these characters in which a known program, wherever it stands, can lose data.
fn parts(command: &str, between: &str) -> Option<Judgement> {
    let mut at = 0;
    for part in command.split(|c: char| between.contains(c)) {
        let start = at;
        at += part.len() + 1;
        for (from, _) in words_of(part).filter(|(_, word)| programs::is_known(base(word))).take(MOST_STARTS) {
            let said = part.get(from..).unwrap_or_default();
            let line = Line::read(&words::spelt(said, &template::places(said), usize::MAX));
            if let Ok(J::Loses { range, what }) = line.map(|line| of_line(&line)) {
                let from = from + start;
                return Some(J::loses(range.start + from..range.end + from, what));
            }
        }
    }
    None
}

/// What blanks part, with its place.
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

/// A program without the directory it lies in.
fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or_default()
}

/// The first command in a text that can lose data, with its place: what stands between backticks, and what looks like one.
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

/// Where in a sentence a command begins: a program that is called with an option, or with what no sentence has.
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

fn of_line(line: &Line) -> Judgement {
    line.pipelines.iter().map(|pipeline| of_pipeline(pipeline)).fold(J::Harmless, J::and)
}

fn of_pipeline(commands: &[Simple]) -> Judgement {
    match commands {
        [one] => of_simple(one, None),
        // What is written goes on to where `tee` puts it.
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

fn of_simple(one: &Simple, input: Option<&words::Word>) -> Judgement {
    programs::judge(one, input)
}

#[cfg(test)]
mod tests;
