//! The judgement of choices in the source: every `match` on one names all its values, nothing else decides by one, and
//! its words are compared only where they enter. A new value, or an unknown word, can therefore not be overlooked.
//!
//! The test reads the syntax and knows no types: a choice is recognised where one of its values is named. In a tuple
//! each position counts for itself, so `_` beside a value is an unnamed value.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Item, Lit, Pat};

/// Modules in which enumerations that are no facts are judged like choices.
const JUDGEMENT: [&str; 8] = [
    "src/drivers.rs",
    "src/durability",
    "src/measure/estimate.rs",
    "src/measure/measurement.rs",
    "src/measure/method.rs",
    "src/servers",
    "src/settings",
    "src/validity",
];

/// Modules where words enter: they translate the words of tools, files and people.
const ENTRANCES: [&str; 9] = [
    "src/cli",
    "src/collect",
    "src/facts/subject.rs",
    "src/host",
    "src/measure/import",
    "src/output/existing.rs",
    "src/pipeline/assume.rs",
    "src/report/difference/parse.rs",
    "src/settings/filesystem.rs",
];

/// Words of open sets, such as drivers and mount options, that are spelled like those of choices.
const SPELLED_ALIKE: [(&str, &str); 25] = [
    ("src/cells/disk/free.rs", "none"), // instead of the name of a container
    ("src/durability/belief/file_system.rs", "volatile"), // a mount option of overlayfs
    ("src/durability/claim/guarantor.rs", "none"),        // instead of the name of a hypervisor
    ("src/durability/controller.rs", "none"),             // instead of the name of a volume
    ("src/durability/database/sayer.rs", "none"),               // instead of the name of a library
    ("src/durability/database/torn.rs", "zfs"),           // a type of file system
    ("src/durability/join.rs", "none"),                   // instead of the name of a hypervisor
    ("src/durability/redundancy.rs", "raid"),             // a target of device-mapper
    ("src/durability/redundancy.rs", "raid1"),            // profiles of btrfs
    ("src/durability/redundancy.rs", "raid5"),
    ("src/durability/redundancy.rs", "raid6"),
    ("src/pipeline/upgrade.rs", "other"), // instead of the name of a vendor
    ("src/report/upgrade/unknown.rs", "other"), // the same
    ("src/probes/method.rs", "wal"),      // one of the words of debug_io_direct
    ("src/probes/request.rs", "none"),    // instead of the name of a hypervisor
    ("src/report/difference.rs", "unknown"), // instead of the name of a host
    ("src/report/layer.rs", "crypt"),     // targets of device-mapper
    ("src/report/layer.rs", "linear"),
    ("src/report/options.rs", "noatime"), // mount options
    ("src/report/options.rs", "relatime"),
    ("src/report/options.rs", "sync"),
    ("src/validity/guard.rs", "off"), // values that advice sets
    ("src/validity/server.rs", "B"),  // a unit
    ("src/validity/guard.rs", "on"),  // a value that advice sets
    ("src/validity/server.rs", "on"), // a value of a switch
];

/// Types of file systems, an open set that is compared in many places: the choice of what a trial ranks has its words from it.
const FILE_SYSTEMS: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// Every file of Rust below a directory.
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

/// The files of the program by their names, each with whether it is for tests alone.
pub fn all_sources() -> Vec<(String, syn::File, bool)> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: BTreeMap<String, syn::File> = BTreeMap::new();
    for path in rust_files(&home.join("src")) {
        let name = path.strip_prefix(&home).unwrap().to_str().unwrap().to_owned();
        files.insert(name, syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap());
    }
    let tests: BTreeSet<String> = files.iter().flat_map(|(name, file)| test_modules(name, file)).collect();
    let is_test =
        |name: &str| tests.iter().any(|of| name == format!("{of}.rs") || name.starts_with(&format!("{of}/")));
    files.into_iter().map(|(name, file)| (name.clone(), file, is_test(&name))).collect()
}

/// Every file of the program, without its tests.
pub fn sources() -> Vec<(String, syn::File)> {
    all_sources().into_iter().filter(|(_, _, is_test)| !is_test).map(|(name, file, _)| (name, file)).collect()
}

/// The files of modules that are compiled for tests alone, without their ending.
fn test_modules(name: &str, file: &syn::File) -> Vec<String> {
    let own = name.strip_suffix(".rs").unwrap();
    let home = if own.ends_with("/lib") || own.ends_with("/main") { "src" } else { own };
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
            && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string().contains("test"))
    })
}

/// Every choice by its name, with its values and their words.
fn choices(files: &[(String, syn::File)]) -> BTreeMap<String, Choice> {
    let mut found = BTreeMap::new();
    for (name, file) in files {
        for item in &file.items {
            match item {
                Item::Macro(call) if call.mac.path.is_ident("choice") => {
                    let (name, choice) = declared(call.mac.tokens.clone());
                    assert!(found.insert(name.clone(), choice).is_none(), "{name} is declared twice");
                }
                Item::Enum(item) if JUDGEMENT.iter().any(|place| name.starts_with(place)) => {
                    let values = item.variants.iter().map(|variant| variant.ident.to_string()).collect();
                    found.insert(item.ident.to_string(), Choice { values, words: BTreeSet::new() });
                }
                _ => {}
            }
        }
    }
    found
}

struct Choice {
    values: BTreeSet<String>,
    words: BTreeSet<String>,
}

/// `pub enum Name { Value = "word", … }`, with attributes anywhere.
fn declared(tokens: TokenStream) -> (String, Choice) {
    let mut tokens = tokens.into_iter().skip_while(|token| token.to_string() != "enum").skip(1);
    let name = tokens.next().unwrap().to_string();
    let Some(TokenTree::Group(body)) = tokens.next() else { panic!("{name} has no values") };
    let body: Vec<TokenTree> = body.stream().into_iter().collect();
    let mut choice = Choice { values: BTreeSet::new(), words: BTreeSet::new() };
    for three in body.windows(3) {
        if let [TokenTree::Ident(value), TokenTree::Punct(sign), TokenTree::Literal(word)] = three
            && sign.as_char() == '='
        {
            choice.values.insert(value.to_string());
            choice.words.insert(word.to_string().trim_matches('"').to_owned());
        }
    }
    assert!(choice.values.len() > 1, "{name} leaves no choice");
    (name, choice)
}

struct Reader<'a> {
    choices: &'a BTreeMap<String, Choice>,
    words: BTreeSet<&'a str>,
    file: &'a str,
    /// The type whose methods are being read, if it is a choice.
    own: Vec<Option<String>>,
    /// Values that the file names without their type.
    bare: BTreeSet<String>,
    found: Vec<String>,
}

impl Reader<'_> {
    fn report(&mut self, at: &impl Spanned, what: &str) {
        self.found.push(format!("{}:{}: {what}", self.file, at.span().start().line));
    }

    /// Whether a path names a value of a choice.
    fn is_value(&self, path: &syn::Path) -> bool {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        match names.as_slice() {
            [value] => self.bare.contains(value),
            [.., of, value] => {
                let own = self.own.last().cloned().flatten();
                let of = if of == "Self" { own } else { Some(of.clone()) };
                of.and_then(|of| self.choices.get(&of)).is_some_and(|choice| choice.values.contains(value))
            }
            [] => false,
        }
    }

    /// Whether an expression is such a value, alone or in what only wraps it.
    fn names_value(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => self.is_value(&path.path),
            Expr::Reference(inner) => self.names_value(&inner.expr),
            Expr::Paren(inner) => self.names_value(&inner.expr),
            Expr::Tuple(all) => all.elems.iter().any(|one| self.names_value(one)),
            Expr::Array(all) => all.elems.iter().any(|one| self.names_value(one)),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) if self.is_value(&path.path) => true,
                Expr::Path(path) => {
                    let wraps = path.path.is_ident("Some") || path.path.is_ident("Ok");
                    wraps && call.args.iter().any(|one| self.names_value(one))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Every place of a pattern with what stands there.
    fn places(&self, pat: &Pat, at: &str, out: &mut Vec<(String, Stands)>) {
        match pat {
            Pat::Or(or) => or.cases.iter().for_each(|case| self.places(case, at, out)),
            Pat::Paren(inner) => self.places(&inner.pat, at, out),
            Pat::Reference(inner) => self.places(&inner.pat, at, out),
            Pat::Tuple(all) => {
                for (index, one) in all.elems.iter().enumerate() {
                    self.places(one, &format!("{at}{index}."), out);
                }
            }
            Pat::Wild(_) => out.push((at.to_owned(), Stands::Anything)),
            Pat::Ident(name) => match &name.subpat {
                Some((_, inner)) => self.places(inner, at, out),
                None if self.bare.contains(&name.ident.to_string()) => {
                    out.push((at.to_owned(), Stands::Value))
                }
                None if name.ident.to_string().starts_with(char::is_lowercase) => {
                    out.push((at.to_owned(), Stands::Anything));
                }
                None => {}
            },
            Pat::Path(path) if self.is_value(&path.path) => out.push((at.to_owned(), Stands::Value)),
            Pat::TupleStruct(of) if self.is_value(&of.path) => out.push((at.to_owned(), Stands::Value)),
            Pat::TupleStruct(of) => {
                let name = of.path.segments.last().unwrap().ident.to_string();
                for (index, one) in of.elems.iter().enumerate() {
                    self.places(one, &format!("{at}{name}{index}."), out);
                }
            }
            Pat::Struct(of) if self.is_value(&of.path) => out.push((at.to_owned(), Stands::Value)),
            Pat::Struct(of) => {
                let name = of.path.segments.last().unwrap().ident.to_string();
                for field in &of.fields {
                    let syn::Member::Named(member) = &field.member else { continue };
                    self.places(&field.pat, &format!("{at}{name}.{member}."), out);
                }
            }
            _ => {}
        }
    }

    fn names_value_in(&self, pat: &Pat) -> bool {
        let mut places = Vec::new();
        self.places(pat, "", &mut places);
        places.iter().any(|(_, stands)| *stands == Stands::Value)
    }

    /// Whether the words of a pattern are those of a choice.
    fn word_in(&self, pat: &Pat) -> Option<String> {
        match pat {
            Pat::Lit(lit) => self.literal(&lit.lit),
            Pat::Or(or) => or.cases.iter().find_map(|case| self.word_in(case)),
            Pat::Paren(inner) => self.word_in(&inner.pat),
            Pat::Reference(inner) => self.word_in(&inner.pat),
            Pat::Tuple(all) => all.elems.iter().find_map(|one| self.word_in(one)),
            Pat::TupleStruct(of) => of.elems.iter().find_map(|one| self.word_in(one)),
            Pat::Ident(name) => name.subpat.as_ref().and_then(|(_, inner)| self.word_in(inner)),
            _ => None,
        }
    }

    fn literal(&self, literal: &Lit) -> Option<String> {
        match literal {
            Lit::Str(text) => Some(text.value()).filter(|text| self.words.contains(text.as_str())),
            _ => None,
        }
    }

    fn word(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Lit(lit) => self.literal(&lit.lit),
            Expr::Reference(inner) => self.word(&inner.expr),
            Expr::Paren(inner) => self.word(&inner.expr),
            Expr::Array(all) => all.elems.iter().find_map(|one| self.word(one)),
            Expr::Call(call) => call.args.iter().find_map(|one| self.word(one)),
            _ => None,
        }
    }

    /// Whether an expression makes a word of a choice.
    fn makes_word(expr: &Expr) -> bool {
        match expr {
            Expr::MethodCall(call) => call.method == "word" || Self::makes_word(&call.receiver),
            Expr::Reference(inner) => Self::makes_word(&inner.expr),
            Expr::Paren(inner) => Self::makes_word(&inner.expr),
            _ => false,
        }
    }

    fn compares_words(&mut self, at: &impl Spanned, word: Option<String>) {
        let enters = ENTRANCES.iter().any(|place| self.file.starts_with(place));
        let is_another = |word: &String| SPELLED_ALIKE.contains(&(self.file, word));
        if let Some(word) = word.filter(|word| !enters && !is_another(word)) {
            self.report(at, &format!("compares with the word “{word}” of a choice"));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// A value of a choice.
    Value,
    /// Whatever is there.
    Anything,
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
            _ => None,
        };
        self.own.push(name.filter(|name| self.choices.contains_key(name)));
        visit::visit_item_impl(self, item);
        self.own.pop();
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        if matches!(binary.op, syn::BinOp::Eq(_) | syn::BinOp::Ne(_)) {
            let sides = [&*binary.left, &*binary.right];
            if sides.into_iter().any(|side| self.names_value(side)) {
                self.report(binary, "compares a choice");
            }
            let is_parsed = self.file == "src/facts/subject.rs";
            if !is_parsed && sides.into_iter().any(Self::makes_word) {
                self.report(binary, "compares the word of a choice");
            }
            let word = sides.into_iter().find_map(|side| self.word(side));
            self.compares_words(binary, word);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.method == "contains" || call.method == "starts_with" {
            let among = std::iter::once(&*call.receiver).chain(&call.args);
            if among.clone().any(|one| self.names_value(one)) {
                self.report(call, "looks for a choice among some");
            }
            if among.clone().any(Self::makes_word) {
                self.report(call, "looks for the word of a choice");
            }
            if call.method == "contains" && matches!(&*call.receiver, Expr::Array(_)) {
                let word = among.into_iter().find_map(|one| self.word(one));
                self.compares_words(call, word);
            }
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_let(&mut self, condition: &'ast syn::ExprLet) {
        if self.names_value_in(&condition.pat) {
            self.report(condition, "takes one value of a choice and leaves the others to `else`");
        }
        let word = self.word_in(&condition.pat);
        self.compares_words(condition, word);
        visit::visit_expr_let(self, condition);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let diverges = local.init.as_ref().is_some_and(|init| init.diverge.is_some());
        if diverges && self.names_value_in(&local.pat) {
            self.report(local, "takes one value of a choice and leaves the others to `else`");
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_match(&mut self, decision: &'ast syn::ExprMatch) {
        if Self::makes_word(&decision.expr) {
            self.report(decision, "decides by the word of a choice");
        }
        let mut values = BTreeSet::new();
        let mut anything = Vec::new();
        for arm in &decision.arms {
            let mut places = Vec::new();
            self.places(&arm.pat, "", &mut places);
            for (place, stands) in places {
                match stands {
                    Stands::Value => drop(values.insert(place)),
                    Stands::Anything if arm.guard.is_none() => anything.push((place, arm)),
                    Stands::Anything => {}
                }
            }
            let word = self.word_in(&arm.pat);
            self.compares_words(arm, word);
        }
        for (place, arm) in anything {
            if values.iter().any(|value| value.starts_with(&place)) {
                self.report(arm, "leaves values of a choice unnamed");
            }
        }
        visit::visit_expr_match(self, decision);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if call.path.is_ident("matches") {
            let tokens: Vec<String> =
                call.tokens.clone().into_iter().map(|token| token.to_string()).collect();
            let whole = |parts: &[String]| match parts {
                [of, first, second, value] if first == ":" && second == ":" => {
                    let own = self.own.last().cloned().flatten();
                    let of = if of == "Self" { own } else { Some(of.clone()) };
                    of.and_then(|of| self.choices.get(&of))
                        .is_some_and(|choice| choice.values.contains(value))
                }
                _ => false,
            };
            // Patterns stand in groups too: `Some(X::A)`.
            let flat = flat(call.tokens.clone());
            if tokens.windows(4).any(whole) || flat.windows(4).any(whole) {
                self.report(call, "matches! leaves values of a choice unnamed");
            }
            let word = flat.iter().find_map(|token| {
                let text = token.strip_prefix('"')?.strip_suffix('"')?;
                self.words.contains(text).then(|| text.to_owned())
            });
            self.compares_words(call, word);
        }
        if let Ok(all) =
            call.parse_body_with(syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated)
        {
            for one in &all {
                self.visit_expr(one);
            }
        }
        visit::visit_macro(self, call);
    }
}

fn flat(tokens: TokenStream) -> Vec<String> {
    let mut out = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => out.extend(flat(group.stream())),
            other => out.push(other.to_string()),
        }
    }
    out
}

/// The values that `use Choice::{A, B}` makes known by their names alone.
struct Uses<'a> {
    choices: &'a BTreeMap<String, Choice>,
    bare: BTreeSet<String>,
}

impl Uses<'_> {
    fn tree(&mut self, tree: &syn::UseTree, above: Option<&str>) {
        match tree {
            syn::UseTree::Path(path) => self.tree(&path.tree, Some(&path.ident.to_string())),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.tree(item, above)),
            syn::UseTree::Name(name) => {
                let known = above.and_then(|above| self.choices.get(above));
                let name = name.ident.to_string();
                if known.is_some_and(|choice| choice.values.contains(&name)) {
                    self.bare.insert(name);
                }
            }
            syn::UseTree::Glob(_) => {
                let known = above.and_then(|above| self.choices.get(above));
                self.bare.extend(known.into_iter().flat_map(|choice| choice.values.iter().cloned()));
            }
            syn::UseTree::Rename(_) => {}
        }
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&item.tree, None);
    }
}

fn judged(files: &[(String, syn::File)]) -> Vec<String> {
    let choices = choices(files);
    let words = choices.values().flat_map(|choice| choice.words.iter().map(String::as_str));
    let words: BTreeSet<&str> = words.filter(|word| !FILE_SYSTEMS.contains(word)).collect();
    let mut found = Vec::new();
    for (name, file) in files {
        let mut uses = Uses { choices: &choices, bare: BTreeSet::new() };
        uses.visit_file(file);
        let mut reader = Reader {
            choices: &choices,
            words: words.clone(),
            file: name,
            own: Vec::new(),
            bare: uses.bare,
            found: Vec::new(),
        };
        reader.visit_file(file);
        found.extend(reader.found);
    }
    found
}

#[test]
fn every_value_of_a_choice_is_named_where_it_is_judged() {
    let found = judged(&sources());
    assert!(found.is_empty(), "{} places:\n{}", found.len(), found.join("\n"));
}

/// Each way to leave a value unnamed is seen, and a `match` that names them all is none.
#[test]
fn what_leaves_a_value_unnamed_is_seen() {
    let choice = r#"choice! { pub enum Cache { On = "cache on", Off = "cache off" } }"#;
    let ways = [
        "cache == Cache::On",
        "cache != Some(Cache::On)",
        "Some(&Cache::On) == cache.as_ref()",
        "matches!(cache, Cache::On)",
        "matches!(cache, Some(Cache::On) | None)",
        "assert!(cache == Cache::On)",
        "if let Cache::On = cache {}",
        "if let Some(Cache::On) = cache {}",
        "let Some(Cache::On) = cache else { return }",
        "while let Some(Cache::On) = next() {}",
        "[Cache::On].contains(&cache)",
        "caches.contains(&Cache::On)",
        "match cache { Cache::On => 1, _ => 2 }",
        "match cache { Cache::On => 1, other => 2 }",
        "match cache { Some(Cache::On) => 1, Some(_) => 2, None => 3 }",
        "match cache { Some(Cache::On) => 1, _ => 2 }",
        "match (cache, x) { (Cache::On, 1) => 1, (_, 2) => 2 }",
        "match cache { Reading::Known { value: Cache::On, .. } => 1, Reading::Known { value, .. } => 2 }",
        "{ use Cache::On; match cache { On => 1, _ => 2 } }",
        "cache.word() == x",
        "match cache.word() { x => 1 }",
        "word == \"cache on\"",
        "word.as_deref() == Some(\"cache on\")",
        "matches!(word, Some(\"cache on\"))",
        "match word { \"cache on\" => 1, _ => 2 }",
        "match word { Some(\"cache on\") => 1, _ => 2 }",
        "[\"cache on\", \"x\"].contains(&word)",
        "if let Some(\"cache on\") = word {}",
    ];
    let read = |body: &str| {
        let file = syn::parse_file(&format!("{choice}\nfn judge() {{ {body}; }}")).unwrap();
        judged(&[("src/report/x.rs".to_owned(), file)])
    };
    for way in ways {
        assert!(!read(way).is_empty(), "{way}");
    }
    for way in [
        "match cache { Cache::On => 1, Cache::Off => 2 }",
        "match cache { Some(Cache::On) => 1, Some(Cache::Off) | None => 2 }",
        "match cache { _ if x => 0, Cache::On => 1, Cache::Off => 2 }",
        "match (cache, x) { (Cache::On, _) => 1, (Cache::Off, _) => 2 }",
        "let x = Some(Cache::On)",
        "word == \"another\"",
    ] {
        assert_eq!(read(way), Vec::<String>::new(), "{way}");
    }
    let own = "impl Cache { fn f(self) -> bool { matches!(self, Self::On) } }";
    let file = syn::parse_file(&format!("{choice}\n{own}")).unwrap();
    assert_eq!(judged(&[("src/report/x.rs".to_owned(), file)]).len(), 1);
}
