//! The SQL statements that a rule may send to a server: those that show settings, and those that change a known one.

use super::judgement::CommandEffect as J;
use super::judgement::CommandEffect;
use super::values;
use super::words::Word;
use crate::facts::Area;
use crate::settings;

/// A word of a statement with its place.
struct SqlToken {
    text: String,
    word: Word,
}

/// Statements for a server.
pub fn judge(area: Area, statements: &Word) -> CommandEffect {
    let Some(text) = statements.text() else { return J::strange("a fact stands in a statement") };
    let Some(tokens) = tokens(&text, statements) else {
        return J::strange("its statement is not understood");
    };
    let judged =
        tokens.split(|token| token.text == ";").filter(|one| !one.is_empty()).map(|one| statement(area, one));
    judged.fold(J::Harmless, J::and)
}

fn tokens(text: &str, word: &Word) -> Option<Vec<SqlToken>> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = chars.get(at).copied() {
        let from = at;
        let run = |fits: fn(char) -> bool| chars.iter().skip(from).take_while(|c| fits(**c)).count();
        let named = |c: char| c.is_ascii_alphanumeric() || "_.@-".contains(c);
        let (text, end): (String, usize) = match c {
            ' ' | '\t' => {
                at += 1;
                continue;
            }
            '\'' => {
                let inside: String = chars.iter().skip(at + 1).take_while(|c| **c != '\'').collect();
                let end = at + 1 + inside.chars().count();
                (chars.get(end) == Some(&'\'')).then_some((inside, end + 1))?
            }
            ';' | ',' | '=' | '(' | ')' => (c.to_string(), at + 1),
            c if named(c) => {
                let end = at + run(|c| c.is_ascii_alphanumeric() || "_.@-".contains(c));
                (chars.get(at..end)?.iter().collect(), end)
            }
            _ => return None,
        };
        // Two dashes begin a comment.
        if text.contains("--") {
            return None;
        }
        let place = if c == '\'' { word.part(at + 1..end - 1) } else { word.part(at..end) };
        tokens.push(SqlToken { text, word: place });
        at = end;
    }
    Some(tokens)
}

/// Functions that only read, and the one that reloads the configuration.
const FUNCTIONS: &[&str] = &["pg_reload_conf", "version", "current_setting"];

fn statement(area: Area, tokens: &[SqlToken]) -> CommandEffect {
    let upper: Vec<String> = tokens.iter().map(|token| token.text.to_ascii_uppercase()).collect();
    let words: Vec<&str> = upper.iter().map(String::as_str).collect();
    let strange = || J::strange("its statement is not understood");
    let name =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_.@".contains(c));
    match words.as_slice() {
        ["SHOW", rest @ ..]
            if !rest.is_empty() && rest.iter().all(|word| name(word) || word.contains('%')) =>
        {
            J::Harmless
        }
        ["SELECT", rest @ ..]
            if !rest.is_empty() && rest.iter().all(|word| word.starts_with("@@") || *word == ",") =>
        {
            J::Harmless
        }
        ["SELECT", function, "(", ")"] | ["SELECT", function, "(", _, ")"]
            if FUNCTIONS.iter().any(|known| known.eq_ignore_ascii_case(function)) =>
        {
            J::Harmless
        }
        ["ALTER", "SYSTEM", "RESET", _] => match tokens.last().and_then(|token| find(area, &token.text)) {
            Some(setting) if setting.loses().next().is_none() => J::Harmless,
            _ => J::strange("it is unknown what holds after a reset"),
        },
        ["ALTER", "SYSTEM", "SET", ..] => assigned(area, tokens.get(3..).unwrap_or_default()),
        ["SET", "GLOBAL" | "PERSIST" | "SESSION" | "LOCAL", ..] => {
            assigned(area, tokens.get(2..).unwrap_or_default())
        }
        ["SET", ..] => assigned(area, tokens.get(1..).unwrap_or_default()),
        _ => strange(),
    }
}

fn find(area: Area, name: &str) -> Option<&'static settings::Setting> {
    let name = name.to_ascii_lowercase();
    let own = name.strip_prefix("@@global.").or_else(|| name.strip_prefix("@@persist.")).unwrap_or(&name);
    settings::find(&format!("{}.{own}", area.word()))
}

/// Assignments with commas between them.
fn assigned(area: Area, tokens: &[SqlToken]) -> CommandEffect {
    let one = |tokens: &[SqlToken]| match tokens {
        [name, is, value] if is.text == "=" || is.text.eq_ignore_ascii_case("to") => {
            match find(area, &name.text) {
                Some(setting) => values::given(setting, &value.word),
                None => J::strange(format!("walwise does not know the setting {}", name.text)),
            }
        }
        _ => J::strange("its statement is not understood"),
    };
    tokens.split(|token| token.text == ",").map(one).fold(J::Harmless, J::and)
}
