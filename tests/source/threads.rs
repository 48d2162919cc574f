//! Threads must not be started with functions that panic if no thread can be started, for example
//! under a limit of processes.

use std::collections::BTreeSet;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprMethodCall, ItemMod};

use crate::files::{ParsedSource, is_for_tests, product_files};

struct PanickingSpawnVisitor<'f> {
    file: &'f str,
    found: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for PanickingSpawnVisitor<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(function) = &*call.func {
            let names: Vec<String> = function
                .path
                .segments
                .iter()
                .map(|part| part.ident.to_string())
                .collect();
            if names.ends_with(&["thread".to_owned(), "spawn".to_owned()]) {
                self.found
                    .insert(format!("{}:{}", self.file, call.span().start().line));
            }
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let on_scope = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("scope"));
        if call.method == "spawn" && on_scope {
            self.found
                .insert(format!("{}:{}", self.file, call.span().start().line));
        }
        visit::visit_expr_method_call(self, call);
    }
}

fn panicking_spawns(file: &str, syntax: &syn::File) -> BTreeSet<String> {
    let mut starts = PanickingSpawnVisitor {
        file,
        found: BTreeSet::new(),
    };
    starts.visit_file(syntax);
    starts.found
}

#[test]
fn panicking_spawns_are_recognised() {
    let panics = "fn f() { std::thread::spawn(g); thread::scope(|scope| { scope.spawn(g); }) }";
    assert_eq!(
        panicking_spawns("f", &syn::parse_str(panics).unwrap()).len(),
        1,
        "both stand in one line"
    );
    let fine = "fn f() { Builder::new().spawn(g); Builder::new().spawn_scoped(scope, g); Command::new(p).spawn(); }";
    assert_eq!(
        panicking_spawns("f", &syn::parse_str(fine).unwrap()).len(),
        0
    );
}

pub fn no_thread_is_spawned_with_panicking_functions(sources: &[ParsedSource]) {
    let all: BTreeSet<String> = product_files(sources)
        .flat_map(|(file, syntax)| panicking_spawns(file, syntax))
        .collect();
    assert_eq!(
        all,
        BTreeSet::new(),
        "std::thread::Builder gives an error instead"
    );
}
