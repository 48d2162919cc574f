//! Measures the source: tokens and lines of each crate and of each root module, separately for
//! product and tests.
//!
//! A token is a word or a punctuation mark. A string or character counts as one token; comments do
//! not count.
//!
//! Tests are items behind `#[cfg(test)]`, with the files of such modules, files named `tests.rs` or
//! `testing.rs`, the crate `testkit`, and everything below a directory `tests`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeSize {
    pub tokens: usize,
    /// Lines with at least one token.
    pub lines: usize,
}

impl CodeSize {
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
pub struct ModuleSize {
    pub product: CodeSize,
    pub tests: CodeSize,
}

/// Measures the sizes in a checkout by name: modules of `src`, crates, `xtask`, and the directory
/// `tests`.
pub fn module_sizes(checkout: &Path) -> io::Result<BTreeMap<String, ModuleSize>> {
    let mut files = Vec::new();
    collect_source_files(&checkout.join("src"), None, false, &mut files)?;
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
        collect_source_files(
            &path.join("src"),
            Some(&name),
            name == "testkit",
            &mut files,
        )?;
    }
    for (directory, is_test) in [("xtask", false), ("tests", true)] {
        let path = checkout.join(directory);
        if path.is_dir() {
            collect_source_files(&path, Some(directory), is_test, &mut files)?;
        }
    }
    Ok(sizes_by_module(&files))
}

fn sizes_by_module(files: &[SourceFile]) -> BTreeMap<String, ModuleSize> {
    let test_modules: Vec<PathBuf> = files
        .iter()
        .flat_map(SourceFile::test_module_paths)
        .collect();
    let mut modules: BTreeMap<String, ModuleSize> = BTreeMap::new();
    for file in files {
        let path = file.path.with_extension("");
        let is_test = file.is_test || test_modules.iter().any(|module| path.starts_with(module));
        let (product, tests) = product_and_test_size(&file.text, is_test);
        let size = modules.entry(file.module.clone()).or_default();
        size.product.add(product);
        size.tests.add(tests);
    }
    modules
}

struct SourceFile {
    path: PathBuf,
    text: String,
    /// Name under which the file's tokens and lines are counted.
    module: String,
    is_test: bool,
}

impl SourceFile {
    /// Returns the paths, without extension, of the modules that this file declares only for tests.
    fn test_module_paths(&self) -> Vec<PathBuf> {
        let directory = match self.path.file_stem().and_then(|stem| stem.to_str()) {
            Some("lib" | "main" | "mod") => self.path.with_file_name(""),
            _ => self.path.with_extension(""),
        };
        let names = test_module_names(&self.text);
        names.iter().map(|name| directory.join(name)).collect()
    }
}

fn collect_source_files(
    directory: &Path,
    module: Option<&str>,
    is_test: bool,
    files: &mut Vec<SourceFile>,
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
            collect_source_files(&path, Some(module), is_test || name == "tests", files)?;
        } else if name != stem {
            files.push(SourceFile {
                text: fs::read_to_string(&path)?,
                module: module.to_owned(),
                is_test: is_test || matches!(stem, "tests" | "testing"),
                path,
            });
        }
    }
    Ok(())
}

/// Attributes of items that are compiled only for tests: for those of the same crate, or also for
/// those of other crates.
const TEST_ONLY: [&[&str]; 2] = [
    &["#", "[", "cfg", "(", "test", ")", "]"],
    &["#", "[", "cfg", "(", "any", "(", "test", ","],
];

fn product_and_test_size(text: &str, is_test: bool) -> (CodeSize, CodeSize) {
    let tokens = tokenize(text);
    if is_test {
        return (CodeSize::default(), CodeSize::new(&tokens));
    }
    let (product, test_items) = split_test_items(&tokens);
    (CodeSize::new(&product), CodeSize::new(&test_items.concat()))
}

/// Returns the tokens of the product, and each item that is compiled only for tests.
fn split_test_items<'a, 't>(tokens: &'a [Token<'t>]) -> (Vec<Token<'t>>, Vec<&'a [Token<'t>]>) {
    let (mut product, mut test_items) = (Vec::new(), Vec::new());
    let mut rest = tokens;
    while let Some((first, after)) = rest.split_first() {
        if TEST_ONLY
            .iter()
            .any(|attribute| starts_with_tokens(rest, attribute))
        {
            let (item, after) = rest.split_at(leading_item_token_count(rest));
            test_items.push(item);
            rest = after;
        } else {
            product.push(*first);
            rest = after;
        }
    }
    (product, test_items)
}

/// Returns the names of the modules that have their own file and are compiled only for tests.
fn test_module_names(text: &str) -> Vec<&str> {
    let tokens = tokenize(text);
    let (_, test_items) = split_test_items(&tokens);
    let names = test_items.into_iter().filter_map(|item| match item {
        [.., keyword, name, end] if keyword.text == "mod" && end.text == ";" => Some(name.text),
        _ => None,
    });
    names.collect()
}

fn starts_with_tokens(tokens: &[Token<'_>], words: &[&str]) -> bool {
    tokens.len() >= words.len()
        && tokens
            .iter()
            .zip(words)
            .all(|(token, word)| token.text == *word)
}

/// Returns the length of an item with its attributes: up to its semicolon or the end of its block,
/// or for a field or variant up to its comma.
fn leading_item_token_count(tokens: &[Token<'_>]) -> usize {
    let (mut depth, mut is_field, mut is_attribute) = (0_usize, true, false);
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "#" if depth == 0 => is_attribute = true,
            "{" | "(" | "[" => depth += 1,
            // The last field or variant of a block may end without a comma.
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

/// Splits Rust source into tokens, without comments. Commas before a closing bracket do not count,
/// because rustfmt adds them when it breaks a line.
fn tokenize(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (length, is_token) = match first {
            _ if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), false),
            _ if rest.starts_with("/*") => (block_comment_length(rest), false),
            '"' => (literal_length(rest, '"'), true),
            '\'' if starts_character_literal(rest) => (literal_length(rest, '\''), true),
            _ if first.is_whitespace() => (first.len_utf8(), false),
            _ if is_word_char(first) => {
                let length = rest.find(|c| !is_word_char(c)).unwrap_or(rest.len());
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

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn starts_character_literal(text: &str) -> bool {
    let mut chars = text.chars().skip(1);
    chars.next() == Some('\\') || chars.next() == Some('\'')
}

/// Returns the length of the literal at the start of `text`, including both quotes.
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

/// Returns the length of a raw string after its prefix; 0 if there is none.
fn raw_string_length(text: &str) -> usize {
    let hashes = text.len() - text.trim_start_matches('#').len();
    let Some(body) = text.get(hashes..).and_then(|body| body.strip_prefix('"')) else {
        return 0;
    };
    let end = format!("\"{}", "#".repeat(hashes));
    body.find(&end)
        .map_or(text.len(), |at| hashes + 1 + at + end.len())
}

fn block_comment_length(text: &str) -> usize {
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

fn parse_ceilings(table: &str) -> BTreeMap<&str, usize> {
    let lines = table.lines().filter_map(|line| line.split_once(' '));
    lines
        .filter_map(|(module, tokens)| Some((module, tokens.parse().ok()?)))
        .collect()
}

/// Returns a message for each module that exceeds its ceiling or has none.
pub fn exceeded_ceiling_messages(
    modules: &BTreeMap<String, ModuleSize>,
    table: &str,
) -> Vec<String> {
    let ceilings = parse_ceilings(table);
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

pub fn size_table(modules: &BTreeMap<String, ModuleSize>) -> String {
    let line = |name: &str, ModuleSize { product, tests }: &ModuleSize| {
        format!(
            "{name:<12} {:>8} {:>7} {:>9} {:>7}\n",
            product.tokens, product.lines, tests.tokens, tests.lines
        )
    };
    let mut all = ModuleSize::default();
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

pub fn ceiling_table(modules: &BTreeMap<String, ModuleSize>) -> String {
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
            assert_eq!(tokenize(text).len(), count, "{text}: {:?}", tokenize(text));
        }
    }

    #[test]
    fn test_items_are_counted_separately() {
        let file = "fn a() {}\n#[cfg(test)]\n#[path = \"x\"]\nmod tests { fn b() {} }\nfn c() {}\n#[cfg(test)]\nmod d;\n";
        let (product, tests) = product_and_test_size(file, false);
        assert_eq!((product.tokens, product.lines), (12, 2));
        assert_eq!(tests.lines, 5);
        let fields = "struct A {\n#[cfg(test)]\nb: u8,\nc: u8 }";
        assert_eq!(product_and_test_size(fields, false).0.tokens, 7);
    }

    #[test]
    fn files_of_test_modules_are_tests() {
        let file = |path: &str, text: &str| SourceFile {
            path: PathBuf::from(path),
            text: text.to_owned(),
            module: "a".to_owned(),
            is_test: false,
        };
        let text = "mod b;\n#[cfg(test)]\n#[rustfmt::skip]\npub(crate) mod c;\n#[cfg(test)]\nmod d {}\n#[cfg(any(test, feature = \"testing\"))]\nmod e;\n";
        assert_eq!(
            file("src/a.rs", text).test_module_paths(),
            [PathBuf::from("src/a/c"), PathBuf::from("src/a/e")]
        );
        assert_eq!(
            file("src/lib.rs", text).test_module_paths(),
            [PathBuf::from("src/c"), PathBuf::from("src/e")]
        );
        let files = [
            file("src/a.rs", "#[cfg(test)]\nmod c;\n"),
            file("src/a/b.rs", "fn b() {}\n"),
            file("src/a/c.rs", "fn c() {}\n"),
            file("src/a/c/d.rs", "fn d() {}\n"),
        ];
        let sizes = sizes_by_module(&files);
        assert_eq!(sizes["a"].product.tokens, 6);
        assert_eq!(sizes["a"].tests.tokens, 22);
    }
}
