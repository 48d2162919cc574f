//! Modules of one directory must not import each other in a circle.
//!
//! A path in the source counts as an import of the module that declares the named item; re-exports
//! are followed. Tests do not count. Cargo already prevents circles between crates.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Item, ItemMod, ItemUse, UseTree, Visibility};

use crate::files::{ParsedSource, is_for_tests, product_files};

pub type ModulePath = Vec<String>;

pub struct ImportGraph {
    modules: BTreeMap<ModulePath, Module>,
    /// From module to module, with the file and line of the first import.
    edges: BTreeMap<(ModulePath, ModulePath), String>,
}

#[derive(Default)]
struct Module {
    children: Vec<String>,
    exports: BTreeMap<String, ModulePath>,
}

struct SiblingGroup<'a> {
    pub parent: ModulePath,
    pub siblings: &'a [String],
    /// Imports between siblings, including those of their submodules, with file and line.
    pub edges: BTreeMap<(&'a str, &'a str), &'a str>,
}

impl ImportGraph {
    pub fn new(sources: &[ParsedSource]) -> Self {
        let mut modules: BTreeMap<ModulePath, Module> = BTreeMap::new();
        let mut paths = Vec::new();
        for (file, parsed) in product_files(sources) {
            let Some(place) = module_path_of_file(file) else {
                continue;
            };
            let mut reader = ImportVisitor {
                at: place.clone(),
                ..ImportVisitor::default()
            };
            reader.visit_file(parsed);
            let ImportVisitor {
                module,
                imports,
                named,
                ..
            } = reader;
            let by_name: BTreeMap<&String, &ModulePath> =
                imports.iter().map(|one| (&one.name, &one.to)).collect();
            for Import { to, line, .. } in &imports {
                paths.push((place.clone(), to.clone(), format!("{file}:{line}")));
            }
            for (words, line) in named {
                let [first, rest @ ..] = words.as_slice() else {
                    continue;
                };
                let to = match by_name.get(first) {
                    Some(home) => [home.as_slice(), rest].concat(),
                    None if module.children.contains(first) => [place.as_slice(), &words].concat(),
                    None => continue,
                };
                paths.push((place.clone(), to, format!("{file}:{line}")));
            }
            modules.insert(place, module);
        }
        let mut graph = Self {
            modules,
            edges: BTreeMap::new(),
        };
        for (from, to, whence) in paths {
            let to = graph.declaring_module(&to, 0);
            if from != to {
                graph.edges.entry((from, to)).or_insert(whence);
            }
        }
        graph
    }

    /// Resolves a path to the module that declares the item; `followed` counts re-exports, to stop
    /// at circles.
    fn declaring_module(&self, path: &[String], followed: usize) -> ModulePath {
        let known = (0..=path.len())
            .rev()
            .find(|length| self.modules.contains_key(&path[..*length]));
        let (module, rest) = path.split_at(known.unwrap_or(0));
        let passed_on = rest.split_first().and_then(|(name, rest)| {
            let to = self.modules.get(module)?.exports.get(name)?;
            Some([to.as_slice(), rest].concat())
        });
        match passed_on {
            Some(to) if followed < 8 => self.declaring_module(&to, followed + 1),
            _ => module.to_vec(),
        }
    }

    fn sibling_groups(&self) -> Vec<SiblingGroup<'_>> {
        let several = self
            .modules
            .iter()
            .filter(|(_, module)| module.children.len() > 1);
        several
            .map(|(parent, module)| self.sibling_group(parent, &module.children))
            .collect()
    }

    fn sibling_group<'a>(
        &'a self,
        parent: &ModulePath,
        siblings: &'a [String],
    ) -> SiblingGroup<'a> {
        let below = |place: &'a ModulePath| {
            place
                .strip_prefix(parent.as_slice())?
                .first()
                .map(String::as_str)
        };
        let mut edges = BTreeMap::new();
        for ((from, to), whence) in &self.edges {
            if let (Some(from), Some(to)) = (below(from), below(to))
                && from != to
            {
                edges.entry((from, to)).or_insert(whence.as_str());
            }
        }
        SiblingGroup {
            parent: parent.clone(),
            siblings,
            edges,
        }
    }
}

/// Returns the module of a file; `None` for the binary, which only calls the library.
fn module_path_of_file(file: &str) -> Option<ModulePath> {
    let (home, path) = file
        .strip_suffix(".rs")?
        .rsplit_once("src/")
        .filter(|(home, _)| !home.contains("/src/"))?;
    let krate = match home.strip_prefix("crates/") {
        Some(name) => format!("walwise_{}", name.trim_end_matches('/')),
        None => "walwise".to_owned(),
    };
    match path {
        "main" => None,
        "lib" => Some(vec![krate]),
        path => Some(
            [krate]
                .into_iter()
                .chain(path.split('/').map(str::to_owned))
                .collect(),
        ),
    }
}

struct Import {
    name: String,
    to: ModulePath,
    line: usize,
}

#[derive(Default)]
struct ImportVisitor {
    at: ModulePath,
    module: Module,
    imports: Vec<Import>,
    named: Vec<(Vec<String>, usize)>,
}

impl ImportVisitor {
    /// Resolves a path that begins with a walwise crate, `crate`, `self` or `super`; `None` for
    /// others.
    fn resolve_absolute(&self, words: &[String]) -> Option<ModulePath> {
        let (first, rest) = words.split_first()?;
        match first.as_str() {
            "crate" => Some([self.at.get(..1)?, rest].concat()),
            krate if krate.starts_with("walwise_") => Some(words.to_vec()),
            "self" => Some([self.at.as_slice(), rest].concat()),
            "super" => {
                let ups = words.iter().take_while(|word| *word == "super").count();
                Some(
                    [
                        self.at.get(..self.at.len().checked_sub(ups)?)?,
                        &words[ups..],
                    ]
                    .concat(),
                )
            }
            _ => None,
        }
    }

    fn record_path(&mut self, words: Vec<String>, span: Span) {
        let line = span.start().line;
        if words.len() < 2 {
            return;
        }
        match self.resolve_absolute(&words) {
            Some(to) => self.imports.push(Import {
                name: String::new(),
                to,
                line,
            }),
            None => self.named.push((words, line)),
        }
    }

    fn record_use_tree(&mut self, before: &[String], tree: &UseTree, passes_on: bool) {
        let (end, name) = match tree {
            UseTree::Path(path) => {
                return self.record_use_tree(
                    &[before, &[path.ident.to_string()]].concat(),
                    &path.tree,
                    passes_on,
                );
            }
            UseTree::Group(group) => {
                return group
                    .items
                    .iter()
                    .for_each(|item| self.record_use_tree(before, item, passes_on));
            }
            UseTree::Glob(_) => (None, String::new()),
            UseTree::Name(one) => (Some(one.ident.to_string()), one.ident.to_string()),
            UseTree::Rename(one) => (Some(one.ident.to_string()), one.rename.to_string()),
        };
        let is_itself = end.as_deref() == Some("self");
        let name = if is_itself {
            before.last().cloned().unwrap_or_default()
        } else {
            name
        };
        let words = [before, end.filter(|_| !is_itself).as_slice()].concat();
        let is_child = words
            .first()
            .is_some_and(|first| self.module.children.contains(first));
        let to = self
            .resolve_absolute(&words)
            .or_else(|| is_child.then(|| [self.at.as_slice(), &words].concat()));
        if let Some(to) = to {
            if passes_on {
                self.module.exports.insert(name.clone(), to.clone());
            }
            self.imports.push(Import {
                name,
                to,
                line: tree.span().start().line,
            });
        }
    }

    fn record_macro_paths(&mut self, tokens: TokenStream) {
        let mut words: Vec<String> = Vec::new();
        let mut at = Span::call_site();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Ident(word) => {
                    if colons != 2 {
                        self.record_path(std::mem::take(&mut words), at);
                        at = word.span();
                    }
                    words.push(word.to_string());
                    colons = 0;
                }
                other => {
                    self.record_path(std::mem::take(&mut words), at);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.record_macro_paths(group.stream());
                    }
                }
            }
        }
        self.record_path(words, at);
    }
}

impl<'ast> Visit<'ast> for ImportVisitor {
    fn visit_file(&mut self, file: &'ast syn::File) {
        for item in &file.items {
            if let Item::Mod(module) = item
                && module.content.is_none()
                && !is_for_tests(&module.attrs)
            {
                self.module.children.push(module.ident.to_string());
            }
        }
        visit::visit_file(self, file);
    }

    fn visit_item(&mut self, item: &'ast Item) {
        let attributes: &[syn::Attribute] = match item {
            Item::Const(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Macro(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            Item::Static(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => &[],
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.at.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.at.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.record_use_tree(&[], &item.tree, !matches!(item.vis, Visibility::Inherited));
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.record_path(
            path.segments
                .iter()
                .map(|segment| segment.ident.to_string())
                .collect(),
            path.span(),
        );
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.record_macro_paths(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}

fn import_cycles<'a>(room: &SiblingGroup<'a>) -> BTreeSet<BTreeSet<&'a str>> {
    let reached = |from: &'a str| {
        let mut reached = BTreeSet::new();
        let mut next = vec![from];
        while let Some(at) = next.pop() {
            let further = room
                .edges
                .keys()
                .filter(|(from, _)| *from == at)
                .map(|(_, to)| *to);
            next.extend(further.filter(|to| reached.insert(*to)));
        }
        reached
    };
    let all: BTreeMap<&str, BTreeSet<&str>> = room
        .siblings
        .iter()
        .map(|one| (one.as_str(), reached(one)))
        .collect();
    let circle = |(one, reached): (&&'a str, &BTreeSet<&'a str>)| {
        let circle: BTreeSet<&str> = reached
            .iter()
            .filter(|to| all[*to].contains(one))
            .copied()
            .collect();
        (!circle.is_empty()).then_some(circle)
    };
    all.iter().filter_map(circle).collect()
}

/// Fails if sibling modules import each other in a circle. Imports of a submodule count as imports
/// of its parent.
pub fn no_import_cycles_between_siblings(graph: &ImportGraph) {
    let rooms = graph.sibling_groups();
    assert!(
        rooms.len() > 40,
        "only {} directories of modules were found",
        rooms.len()
    );
    let edges: usize = rooms.iter().map(|room| room.edges.len()).sum();
    assert!(
        edges > 600,
        "only {edges} imports between siblings were found"
    );
    let mut wrong = Vec::new();
    for room in &rooms {
        for circle in import_cycles(room) {
            let inside = room
                .edges
                .iter()
                .filter(|((a, b), _)| circle.contains(a) && circle.contains(b));
            let edges: Vec<String> = inside
                .map(|((from, to), whence)| format!("  {from} → {to} at {whence}"))
                .collect();
            wrong.push(format!(
                "{}: {circle:?}\n{}",
                room.parent.join("/"),
                edges.join("\n")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
