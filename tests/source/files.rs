use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use syn::Item;

pub fn rust_files(directory: &Path) -> Vec<PathBuf> {
    fn walk(directory: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                out.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    walk(directory, &mut paths);
    paths
}

pub fn repository_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn parse_tokens(path: &Path) -> TokenStream {
    fs::read_to_string(path).unwrap().parse().unwrap()
}

pub struct ParsedSource {
    pub name: String,
    pub tokens: TokenStream,
    pub syntax: syn::File,
    pub is_test: bool,
}

pub fn read_sources() -> Vec<ParsedSource> {
    let home = repository_root();
    let mut files: BTreeMap<String, (TokenStream, syn::File)> = BTreeMap::new();
    let crates = fs::read_dir(home.join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("src"));
    for path in crates
        .chain([home.join("src")])
        .flat_map(|source| rust_files(&source))
    {
        let name = path
            .strip_prefix(&home)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let tokens = parse_tokens(&path);
        let syntax = syn::parse2(tokens.clone()).unwrap();
        files.insert(name, (tokens, syntax));
    }
    let tests: BTreeSet<String> = files
        .iter()
        .flat_map(|(name, (_, file))| test_modules(name, file))
        .collect();
    let is_test = |name: &str| {
        let is_below =
            |of: &String| name == format!("{of}.rs") || name.starts_with(&format!("{of}/"));
        name.starts_with("crates/testkit/") || tests.iter().any(is_below)
    };
    let source = |(name, (tokens, syntax)): (String, (TokenStream, syn::File))| ParsedSource {
        is_test: is_test(&name),
        name,
        tokens,
        syntax,
    };
    files.into_iter().map(source).collect()
}

pub fn product_files(sources: &[ParsedSource]) -> impl Iterator<Item = (&str, &syn::File)> {
    sources
        .iter()
        .filter(|source| !source.is_test)
        .map(|source| (source.name.as_str(), &source.syntax))
}

/// Returns the paths of modules that are compiled only for tests, without `.rs`.
fn test_modules(name: &str, file: &syn::File) -> Vec<String> {
    let own = name.strip_suffix(".rs").unwrap();
    let home = own
        .strip_suffix("/lib")
        .or_else(|| own.strip_suffix("/main"))
        .unwrap_or(own);
    let mut found = Vec::new();
    for item in &file.items {
        if let Item::Mod(module) = item
            && module.content.is_none()
            && is_for_tests(&module.attrs)
        {
            found.push(format!("{home}/{}", module.ident));
        }
    }
    found
}

pub fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .meta
                .require_list()
                .is_ok_and(|list| list.tokens.to_string().contains("test"))
    })
}
