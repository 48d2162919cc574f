//! Every item that a crate exports is used by another crate; all others are `pub(crate)`.
//!
//! Counts functions, constants and methods by name, along `pub mod` and `pub use`. Types may be
//! reached through signatures and fields, so they are not counted. Neither are facts, which
//! macros declare and rules name.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, ImplItem, Item, UseTree, Visibility};

use crate::files::{ParsedSource, is_for_tests, parse_tokens, repository_root, rust_files};

type NameSet = BTreeSet<String>;

#[derive(Default)]
struct Crate<'a> {
    /// Items by module path; the root is the empty path.
    modules: BTreeMap<Vec<String>, &'a [Item]>,
    identifiers: NameSet,
}

pub fn exports_are_used_by_another_crate(sources: &[ParsedSource]) {
    let crates = crates_by_name(sources);
    let others = outside_identifiers();
    let mut unused = Vec::new();
    for (name, one) in crates.iter().filter(|(name, _)| *name != "src") {
        let is_used = |item: &String| {
            let mut rest = crates.iter().filter(|(other, _)| *other != name);
            others.contains(item) || rest.any(|(_, one)| one.identifiers.contains(item))
        };
        let exports = one.exports();
        unused.extend(
            exports
                .iter()
                .filter(|item| !is_used(item))
                .map(|item| format!("{name}: {item}")),
        );
    }
    assert!(
        unused.is_empty(),
        "exported, but used by no other crate; make them pub(crate): {unused:#?}"
    );
}

fn crates_by_name(sources: &[ParsedSource]) -> BTreeMap<String, Crate<'_>> {
    let mut crates: BTreeMap<String, Crate<'_>> = BTreeMap::new();
    for source in sources {
        let (name, path) = match source.name.strip_prefix("crates/") {
            Some(path) => path.split_once("/src/").unwrap(),
            None => ("src", source.name.strip_prefix("src/").unwrap()),
        };
        let one = crates.entry(name.to_owned()).or_default();
        add_identifiers(source.tokens.clone(), &mut one.identifiers);
        if !source.is_test {
            let place = path.strip_suffix(".rs").unwrap().split('/');
            let place = place.filter(|part| *part != "lib").map(str::to_owned);
            one.add_module(place.collect(), &source.syntax.items);
        }
    }
    crates
}

impl<'a> Crate<'a> {
    fn add_module(&mut self, place: Vec<String>, items: &'a [Item]) {
        for item in items {
            if let Item::Mod(module) = item
                && let Some((_, items)) = &module.content
                && !is_for_tests(&module.attrs)
            {
                let place = [place.as_slice(), &[module.ident.to_string()]].concat();
                self.add_module(place, items);
            }
        }
        self.modules.insert(place, items);
    }

    fn exports(&self) -> NameSet {
        let mut reachable = BTreeSet::new();
        let mut reexports = NameSet::new();
        self.add_reachable_modules(Vec::new(), &mut reachable, &mut reexports);
        let is_exported =
            |place: &Vec<String>, name: &str| reachable.contains(place) || reexports.contains(name);
        let mut types = NameSet::new();
        for (place, items) in &self.modules {
            for item in *items {
                if let Some((name, false)) = public_item_name_and_kind(item)
                    && is_exported(place, &name)
                {
                    types.insert(name);
                }
            }
        }
        let mut names = NameSet::new();
        for (place, items) in &self.modules {
            for item in *items {
                match item {
                    Item::Impl(block) if block.trait_.is_none() && !is_for_tests(&block.attrs) => {
                        let of = type_name(&block.self_ty);
                        if of.is_some_and(|of| types.contains(&of)) {
                            names.extend(block.items.iter().filter_map(public_method_name));
                        }
                    }
                    item => names.extend(
                        public_item_name_and_kind(item)
                            .filter(|(name, is_value)| *is_value && is_exported(place, name))
                            .map(|(name, _)| name),
                    ),
                }
            }
        }
        names
    }

    fn add_reachable_modules(
        &self,
        place: Vec<String>,
        reachable: &mut BTreeSet<Vec<String>>,
        reexports: &mut NameSet,
    ) {
        for item in self.modules.get(&place).into_iter().copied().flatten() {
            match item {
                Item::Mod(module) if is_public(&module.vis, &module.attrs) => {
                    let place = [place.as_slice(), &[module.ident.to_string()]].concat();
                    self.add_reachable_modules(place, reachable, reexports);
                }
                Item::Use(import) if is_public(&import.vis, &import.attrs) => {
                    add_use_tree_names(&import.tree, reexports);
                }
                _ => {}
            }
        }
        reachable.insert(place);
    }
}

fn is_public(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    matches!(visibility, Visibility::Public(_)) && !is_for_tests(attributes)
}

/// The name of a public item, and whether it is a value rather than a type.
fn public_item_name_and_kind(item: &Item) -> Option<(String, bool)> {
    let (visibility, attributes, name, is_value) = match item {
        Item::Fn(item) => (&item.vis, &item.attrs, &item.sig.ident, true),
        Item::Const(item) => (&item.vis, &item.attrs, &item.ident, true),
        Item::Static(item) => (&item.vis, &item.attrs, &item.ident, true),
        Item::Struct(item) => (&item.vis, &item.attrs, &item.ident, false),
        Item::Enum(item) => (&item.vis, &item.attrs, &item.ident, false),
        _ => return None,
    };
    is_public(visibility, attributes).then(|| (name.to_string(), is_value))
}

fn public_method_name(item: &ImplItem) -> Option<String> {
    let (visibility, attributes, name) = match item {
        ImplItem::Fn(item) => (&item.vis, &item.attrs, &item.sig.ident),
        ImplItem::Const(item) => (&item.vis, &item.attrs, &item.ident),
        _ => return None,
    };
    is_public(visibility, attributes).then(|| name.to_string())
}

fn type_name(of: &syn::Type) -> Option<String> {
    match of {
        syn::Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}

/// Adds the last names of a `use`; a glob of an enum's variants has none.
fn add_use_tree_names(tree: &UseTree, names: &mut NameSet) {
    match tree {
        UseTree::Path(path) => add_use_tree_names(&path.tree, names),
        UseTree::Name(name) => drop(names.insert(name.ident.to_string())),
        UseTree::Rename(rename) => drop(names.insert(rename.ident.to_string())),
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|tree| add_use_tree_names(tree, names)),
        UseTree::Glob(_) => {}
    }
}

/// Identifiers of the programs and tests outside `crates` and `src`.
fn outside_identifiers() -> NameSet {
    let mut names = NameSet::new();
    for directory in ["tests", "xtask"] {
        for path in rust_files(&repository_root().join(directory)) {
            let own = path
                .strip_prefix(repository_root().join("tests/source"))
                .is_ok();
            if !own && !path.components().any(|part| part.as_os_str() == "target") {
                add_identifiers(parse_tokens(&path), &mut names);
            }
        }
    }
    names
}

fn add_identifiers(tokens: TokenStream, names: &mut NameSet) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => drop(names.insert(name.to_string())),
            TokenTree::Group(group) => add_identifiers(group.stream(), names),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
