//! No function, type or module may have a name from the list in CONTRIBUTING.md, because such a
//! name does not show what the item does.

use std::fs;
use std::path::Path;

use proc_macro2::Ident;
use syn::visit::{self, Visit};

use crate::files::ParsedSource;

/// Returns the words in the first column of the table in CONTRIBUTING.md.
fn forbidden_names() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CONTRIBUTING.md");
    let text = fs::read_to_string(path).unwrap();
    let section = text
        .split("\n## ")
        .find(|section| section.starts_with("Words that are not names"))
        .expect("CONTRIBUTING has a section `Words that are not names`");
    section
        .lines()
        .filter_map(|line| line.strip_prefix("| "))
        .skip(1)
        .filter_map(|row| row.split('|').next())
        .flat_map(|words| words.split(','))
        .map(|word| word.trim().to_owned())
        .collect()
}

struct NameVisitor<'f> {
    file: &'f str,
    words: &'f [String],
    found: Vec<String>,
}

impl NameVisitor<'_> {
    fn record_if_forbidden(&mut self, kind: &str, name: &Ident) {
        let whole = name.to_string();
        if self.words.contains(&whole.to_lowercase()) {
            let line = name.span().start().line;
            self.found
                .push(format!("{}:{line}: {kind} {whole}", self.file));
        }
    }
}

impl<'ast> Visit<'ast> for NameVisitor<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.record_if_forbidden("fn", &item.sig.ident);
        visit::visit_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.record_if_forbidden("fn", &item.sig.ident);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        // The names of a trait's functions are checked where the trait is defined.
        if item.trait_.is_none() {
            for each in &item.items {
                if let syn::ImplItem::Fn(function) = each {
                    self.record_if_forbidden("fn", &function.sig.ident);
                }
            }
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.record_if_forbidden("struct", &item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.record_if_forbidden("enum", &item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.record_if_forbidden("type", &item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.record_if_forbidden("trait", &item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.record_if_forbidden("mod", &item.ident);
        visit::visit_item_mod(self, item);
    }
}

fn uses_of_forbidden_names(file: &str, syntax: &syn::File, words: &[String]) -> Vec<String> {
    let mut names = NameVisitor {
        file,
        words,
        found: Vec::new(),
    };
    names.visit_file(syntax);
    names.found
}

#[test]
fn forbidden_names_are_recognised() {
    let source = "mod way { struct Told; impl Told { fn of() {} fn offset() {} } } impl T for U { fn said() {} }";
    let words = ["way", "told", "of", "said"].map(str::to_owned);
    assert_eq!(
        uses_of_forbidden_names("f", &syn::parse_str(source).unwrap(), &words),
        ["f:1: mod way", "f:1: struct Told", "f:1: fn of"]
    );
}

pub fn no_item_has_a_forbidden_name(sources: &[ParsedSource]) {
    let words = forbidden_names();
    assert!(words.len() >= 30, "only {words:?}");
    let all: Vec<String> = sources
        .iter()
        .flat_map(|source| uses_of_forbidden_names(&source.name, &source.syntax, &words))
        .collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}
