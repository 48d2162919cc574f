//! The size of the source: tokens and lines of each crate and of each root module, product and
//! tests separately.
//!
//! A token is a word or a punctuation mark; a string or character counts as one, a comment as none.
//! Tests are items behind `#[cfg(test)]`, files named `tests.rs` or `testing.rs`, and everything
//! below a directory `tests`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    pub tokens: usize,
    /// Lines with at least one token.
    pub lines: usize,
}

impl Amount {
    fn new(tokens: &[Token<'_>]) -> Self {
        let mut lines: Vec<usize> = tokens.iter().map(|token| token.line).collect();
        lines.dedup();
        Self {
            tokens: tokens.len(),
            lines: lines.len(),
        }
    }

    fn add(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.lines += other.lines;
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Shipped code, or code that builds it.
    pub product: Amount,
    pub tests: Amount,
}

/// The sizes in a checkout by name: modules of `src`, crates, `xtask`, and the directory `tests`.
pub fn modules(checkout: &Path) -> io::Result<BTreeMap<String, Module>> {
    let mut modules = BTreeMap::new();
    walk(&checkout.join("src"), None, false, &mut modules)?;
    let crates = checkout.join("crates");
    // Older checkouts have no workspace.
    for entry in crates
        .is_dir()
        .then(|| fs::read_dir(&crates))
        .transpose()?
        .into_iter()
        .flatten()
    {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        walk(
            &path.join("src"),
            Some(&name),
            name == "testkit",
            &mut modules,
        )?;
    }
    for (directory, is_test) in [("xtask", false), ("tests", true)] {
        let path = checkout.join(directory);
        if path.is_dir() {
            walk(&path, Some(directory), is_test, &mut modules)?;
        }
    }
    Ok(modules)
}

fn walk(
    directory: &Path,
    module: Option<&str>,
    is_test: bool,
    modules: &mut BTreeMap<String, Module>,
) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let stem = name.strip_suffix(".rs").unwrap_or(&name);
        let module = module.unwrap_or(stem);
        if path.is_dir() && name != "target" {
            walk(&path, Some(module), is_test || name == "tests", modules)?;
        } else if name != stem {
            let text = fs::read_to_string(&path)?;
            let (product, tests) = amounts(&text, is_test || matches!(stem, "tests" | "testing"));
            let found = modules.entry(module.to_owned()).or_default();
            found.product.add(product);
            found.tests.add(tests);
        }
    }
    Ok(())
}

/// Attributes of test-only items, in this crate or for those above it.
const TEST_ONLY: [&[&str]; 2] = [
    &["#", "[", "cfg", "(", "test", ")", "]"],
    &["#", "[", "cfg", "(", "any", "(", "test", ","],
];

fn amounts(text: &str, is_test: bool) -> (Amount, Amount) {
    let tokens = tokens(text);
    if is_test {
        return (Amount::default(), Amount::new(&tokens));
    }
    let (mut product, mut tests) = (Vec::new(), Vec::new());
    let mut rest = tokens.as_slice();
    while let Some((first, after)) = rest.split_first() {
        if TEST_ONLY.iter().any(|attribute| starts(rest, attribute)) {
            let (item, after) = rest.split_at(item_length(rest));
            tests.extend_from_slice(item);
            rest = after;
        } else {
            product.push(*first);
            rest = after;
        }
    }
    (Amount::new(&product), Amount::new(&tests))
}

fn starts(tokens: &[Token<'_>], words: &[&str]) -> bool {
    tokens.len() >= words.len()
        && tokens
            .iter()
            .zip(words)
            .all(|(token, word)| token.text == *word)
}

/// The tokens of an item with its attributes: up to its semicolon or the end of its block; for a
/// field or variant up to its comma.
fn item_length(tokens: &[Token<'_>]) -> usize {
    let (mut depth, mut is_field, mut is_attribute) = (0_usize, true, false);
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "#" if depth == 0 => is_attribute = true,
            "{" | "(" | "[" => depth += 1,
            // The enclosing block ends.
            "}" | ")" | "]" if depth == 0 => return at,
            "}" | ")" | "]" => {
                depth -= 1;
                if depth == 0 && token.text == "}" {
                    return at + 1;
                }
                is_attribute &= depth > 0;
            }
            ";" if depth == 0 => return at + 1,
            "," if depth == 0 && is_field => return at + 1,
            "fn" | "mod" | "use" | "impl" | "struct" | "enum" | "trait" | "type" | "const"
            | "static"
                if !is_attribute =>
            {
                is_field = false;
            }
            _ => {}
        }
    }
    tokens.len()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token<'t> {
    text: &'t str,
    line: usize,
}

/// The tokens of Rust source, without comments and without the commas before a closing bracket:
/// rustfmt adds them where it breaks a line.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (length, is_token) = match first {
            _ if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), false),
            _ if rest.starts_with("/*") => (block_comment(rest), false),
            '"' => (literal_length(rest, '"'), true),
            '\'' if is_character(rest) => (literal_length(rest, '\''), true),
            _ if first.is_whitespace() => (first.len_utf8(), false),
            _ if is_word(first) => {
                let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                let (word, after) = rest.split_at(length);
                let literal = match word {
                    "r" | "br" | "cr" => raw_string_length(after),
                    "b" | "c" if after.starts_with('"') => literal_length(after, '"'),
                    "b" if after.starts_with('\'') => literal_length(after, '\''),
                    _ => 0,
                };
                (length + literal, true)
            }
            _ => (first.len_utf8(), true),
        };
        let (token, after) = rest.split_at(length);
        if is_token {
            let is_closing = matches!(token, ")" | "]" | "}");
            tokens.pop_if(|last: &mut Token<'_>| is_closing && last.text == ",");
            tokens.push(Token { text: token, line });
        }
        line += token.matches('\n').count();
        rest = after;
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a quote starts a character literal, not a lifetime.
fn is_character(text: &str) -> bool {
    let mut chars = text.chars().skip(1);
    chars.next() == Some('\\') || chars.next() == Some('\'')
}

/// The length of a literal, both quotes included.
fn literal_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// The length of a raw string after its prefix; 0 if there is none.
fn raw_string_length(text: &str) -> usize {
    let hashes = text.len() - text.trim_start_matches('#').len();
    let Some(body) = text.get(hashes..).and_then(|body| body.strip_prefix('"')) else {
        return 0;
    };
    let end = format!("\"{}", "#".repeat(hashes));
    body.find(&end)
        .map_or(text.len(), |at| hashes + 1 + at + end.len())
}

/// The length of a block comment, which may be nested.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The ceilings by module, from lines `module tokens`.
fn ceilings(table: &str) -> BTreeMap<&str, usize> {
    let lines = table.lines().filter_map(|line| line.split_once(' '));
    lines
        .filter_map(|(module, tokens)| Some((module, tokens.parse().ok()?)))
        .collect()
}

/// A message for each module above its ceiling, or without one.
pub fn exceeded(modules: &BTreeMap<String, Module>, table: &str) -> Vec<String> {
    let ceilings = ceilings(table);
    let above = modules.iter().filter_map(|(name, module)| {
        let (tokens, ceiling) = (
            module.product.tokens,
            ceilings.get(name.as_str()).copied().unwrap_or(0),
        );
        (tokens > ceiling)
            .then(|| format!("{name}: {tokens} tokens, above the ceiling of {ceiling}"))
    });
    above.collect()
}

/// The sizes as a table.
pub fn report(modules: &BTreeMap<String, Module>) -> String {
    let line = |name: &str, Module { product, tests }: &Module| {
        format!(
            "{name:<12} {:>8} {:>7} {:>9} {:>7}\n",
            product.tokens, product.lines, tests.tokens, tests.lines
        )
    };
    let mut all = Module::default();
    let mut page = format!(
        "{:<12} {:>8} {:>7} {:>9} {:>7}\n",
        "", "tokens", "lines", "of tests", "lines"
    );
    for (name, module) in modules {
        page.push_str(&line(name, module));
        all.product.add(module.product);
        all.tests.add(module.tests);
    }
    page + &line("all", &all)
}

/// The table of ceilings for the current sizes.
pub fn ceiling_table(modules: &BTreeMap<String, Module>) -> String {
    let shipped = modules
        .iter()
        .filter(|(_, module)| module.product.tokens > 0);
    let lines: Vec<String> = shipped
        .map(|(name, module)| format!("{name} {}", module.product.tokens))
        .collect();
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_marks_and_literals_are_one_each_and_comments_none() {
        let texts = [
            ("a.b(c) // d", 6),
            ("/* a /* b */ c */ d", 1),
            (r##"r#"a " b"# "c\"d" b"e" 'f' '\'' b'g'"##, 6),
            ("'a x::<'static>", 9),
            ("\"//\" x", 2),
            ("1_000.5", 3),
        ];
        for (text, count) in texts {
            assert_eq!(tokens(text).len(), count, "{text}: {:?}", tokens(text));
        }
    }

    #[test]
    fn tests_are_apart() {
        let file = "fn a() {}\n#[cfg(test)]\n#[path = \"x\"]\nmod tests { fn b() {} }\nfn c() {}\n#[cfg(test)]\nmod d;\n";
        let (product, tests) = amounts(file, false);
        assert_eq!((product.tokens, product.lines), (12, 2));
        assert_eq!(tests.lines, 5);
        let fields = "struct A {\n#[cfg(test)]\nb: u8,\nc: u8 }";
        assert_eq!(amounts(fields, false).0.tokens, 7);
    }
}
