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
use std::str::FromStr as _;
use std::{fs, io};

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeSize {
    pub tokens: usize,
    /// Lines with at least one token.
    pub lines: usize,
}

impl CodeSize {
    /// `lines` has the line of each token.
    fn new(mut lines: Vec<usize>) -> Self {
        let tokens = lines.len();
        lines.dedup();
        Self {
            tokens,
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
    let test_modules = files.iter().flat_map(|file| &file.test_modules);
    let mut modules: BTreeMap<String, ModuleSize> = BTreeMap::new();
    for file in files {
        let ModuleSize { product, tests } = modules.entry(file.module.clone()).or_default();
        let is_test = file.is_test
            || test_modules
                .clone()
                .any(|module| file.path.starts_with(module));
        if is_test { &mut *tests } else { product }.add(file.size.product);
        tests.add(file.size.tests);
    }
    modules
}

struct SourceFile {
    /// The path without extension.
    path: PathBuf,
    /// Name under which the file's tokens and lines are counted.
    module: String,
    is_test: bool,
    size: ModuleSize,
    /// Paths, without extension, of the modules that the file declares only for tests.
    test_modules: Vec<PathBuf>,
}

impl SourceFile {
    fn new(path: &Path, text: &str, module: &str, is_test: bool) -> io::Result<Self> {
        let trees = TokenStream::from_str(text)
            .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
        let mut tokens = TokenLines::default();
        tokens.push_trees(&Vec::from_iter(trees), false);
        let path = path.with_extension("");
        let directory = match path.file_name().and_then(|stem| stem.to_str()) {
            Some("lib" | "main" | "mod") => path.with_file_name(""),
            _ => path.clone(),
        };
        Ok(Self {
            path,
            module: module.to_owned(),
            is_test,
            size: ModuleSize {
                product: CodeSize::new(tokens.product),
                tests: CodeSize::new(tokens.tests),
            },
            test_modules: tokens
                .test_modules
                .iter()
                .map(|name| directory.join(name))
                .collect(),
        })
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
            let is_test = is_test || matches!(stem, "tests" | "testing");
            let text = fs::read_to_string(&path)?;
            files.push(SourceFile::new(&path, &text, module, is_test)?);
        }
    }
    Ok(())
}

/// Lines of the tokens of a file, and names of the modules that it declares only for tests.
#[derive(Default)]
struct TokenLines {
    product: Vec<usize>,
    tests: Vec<usize>,
    test_modules: Vec<String>,
}

impl TokenLines {
    fn push_trees(&mut self, mut trees: &[TokenTree], is_test: bool) {
        while let [first, rest @ ..] = trees {
            trees = match split_attribute(trees) {
                // The parser turns documentation comments into attributes.
                Some((attribute, after)) if attribute.starts_with("[doc=\"") => after,
                Some((attribute, _)) if !is_test && is_test_only(&attribute) => {
                    let (item, after) = trees.split_at(leading_item_length(trees));
                    if let [.., keyword, name, end] = item
                        && keyword.to_string() == "mod"
                        && end.to_string() == ";"
                    {
                        self.test_modules.push(name.to_string());
                    }
                    self.push_trees(item, true);
                    after
                }
                _ => {
                    self.push_tree(first, is_test);
                    rest
                }
            };
        }
    }

    /// Commas before a closing bracket do not count, because rustfmt adds them when it breaks a
    /// line. A number with a point counts as three tokens.
    fn push_tree(&mut self, tree: &TokenTree, is_test: bool) {
        if let TokenTree::Group(group) = tree {
            let mut inside = Vec::from_iter(group.stream());
            inside.pop_if(|last| last.to_string() == ",");
            self.push_line(group.span_open(), is_test);
            self.push_trees(&inside, is_test);
            self.push_line(group.span_close(), is_test);
            return;
        }
        let text = tree.to_string();
        let is_number = text.starts_with(|first: char| first.is_ascii_digit());
        let marks = text.matches(['.', '-', '+']).filter(|_| is_number).count();
        for _ in 0..=2 * marks {
            self.push_line(tree.span(), is_test);
        }
    }

    fn push_line(&mut self, span: Span, is_test: bool) {
        let lines = if is_test {
            &mut self.tests
        } else {
            &mut self.product
        };
        lines.push(span.start().line);
    }
}

/// The attribute at the start, without blanks, and the tokens after it.
fn split_attribute(trees: &[TokenTree]) -> Option<(String, &[TokenTree])> {
    match trees {
        [TokenTree::Punct(hash), TokenTree::Group(group), after @ ..]
        | [
            TokenTree::Punct(hash),
            TokenTree::Punct(_),
            TokenTree::Group(group),
            after @ ..,
        ] if hash.as_char() == '#' => Some((group.to_string().replace(' ', ""), after)),
        _ => None,
    }
}

/// Whether the item is compiled only for tests: for those of the same crate, or also for those of
/// other crates.
fn is_test_only(attribute: &str) -> bool {
    attribute == "[cfg(test)]" || attribute.starts_with("[cfg(any(test,")
}

/// Returns the length of an item with its attributes: up to its semicolon or the end of its block,
/// or for a field or variant up to its comma.
fn leading_item_length(trees: &[TokenTree]) -> usize {
    let mut is_field = true;
    for (at, tree) in trees.iter().enumerate() {
        let is_end = match tree {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(mark) => mark.as_char() == ';' || mark.as_char() == ',' && is_field,
            TokenTree::Ident(word) => {
                is_field &= !ITEM_KEYWORDS.contains(&word.to_string().as_str());
                false
            }
            TokenTree::Literal(_) => false,
        };
        if is_end {
            return at + 1;
        }
    }
    trees.len()
}

const ITEM_KEYWORDS: [&str; 10] = [
    "fn", "mod", "use", "impl", "struct", "enum", "trait", "type", "const", "static",
];

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

    fn source_file(path: &str, text: &str) -> SourceFile {
        SourceFile::new(Path::new(path), text, "a", false).unwrap()
    }

    #[test]
    fn words_marks_and_literals_are_one_each_and_comments_none() {
        let texts = [
            ("a.b(c) // d", 6),
            ("/* a /* b */ c */ d", 1),
            (r##"r#"a " b"# "c\"d" b"e" 'f' '\'' b'g'"##, 6),
            ("'a x::<'static>", 9),
            ("\"//\" x", 2),
            ("1_000.5 1e-3", 6),
            ("/// c\nf(a,)", 4),
        ];
        for (text, count) in texts {
            let size = source_file("a.rs", text).size;
            assert_eq!(size.product.tokens, count, "{text}");
        }
    }

    #[test]
    fn test_items_are_counted_separately() {
        let file = "fn a() {}\n#[cfg(test)]\n#[path = \"x\"]\nmod tests { fn b() {} }\nfn c() {}\n#[cfg(test)]\nmod d;\n";
        let ModuleSize { product, tests } = source_file("a.rs", file).size;
        assert_eq!((product.tokens, product.lines), (12, 2));
        assert_eq!(tests.lines, 5);
        let fields = "struct A {\n#[cfg(test)]\nb: u8,\nc: u8 }";
        assert_eq!(source_file("a.rs", fields).size.product.tokens, 7);
    }

    #[test]
    fn files_of_test_modules_are_tests() {
        let text = "mod b;\n#[cfg(test)]\n#[rustfmt::skip]\npub(crate) mod c;\n#[cfg(test)]\nmod d {}\n#[cfg(any(test, feature = \"testing\"))]\nmod e;\n";
        assert_eq!(
            source_file("src/a.rs", text).test_modules,
            [PathBuf::from("src/a/c"), PathBuf::from("src/a/e")]
        );
        assert_eq!(
            source_file("src/lib.rs", text).test_modules,
            [PathBuf::from("src/c"), PathBuf::from("src/e")]
        );
        let files = [
            source_file("src/a.rs", "#[cfg(test)]\nmod c;\n"),
            source_file("src/a/b.rs", "fn b() {}\n"),
            source_file("src/a/c.rs", "fn c() {}\n"),
            source_file("src/a/c/d.rs", "fn d() {}\n"),
        ];
        let sizes = sizes_by_module(&files);
        assert_eq!(sizes["a"].product.tokens, 6);
        assert_eq!(sizes["a"].tests.tokens, 22);
    }
}
