//! One name for one type: no two types of the program share a name, so that a name says which thing is meant wherever it
//! is read. Types that a foreign trait names are not counted.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::Item;

use crate::choices::{is_for_tests, sources};

#[test]
fn no_two_types_share_a_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, parsed) in sources() {
        let mut names = Vec::new();
        types(&parsed.items, &mut names);
        for name in names {
            places.entry(name).or_default().push(file.clone());
        }
    }
    assert!(places.len() > 300, "only {} types were found", places.len());
    places.retain(|_, files| files.len() > 1);
    assert!(places.is_empty(), "names of several types: {places:#?}");
}

/// The names of all types that these items declare.
fn types(items: &[Item], names: &mut Vec<String>) {
    for item in items {
        match item {
            Item::Struct(item) => names.push(item.ident.to_string()),
            Item::Enum(item) => names.push(item.ident.to_string()),
            Item::Trait(item) => names.push(item.ident.to_string()),
            Item::Type(item) => names.push(item.ident.to_string()),
            Item::Macro(call) if call.mac.path.is_ident("choice") => {
                names.extend(declared(call.mac.tokens.clone()))
            }
            Item::Mod(module) if !is_for_tests(&module.attrs) => {
                types(module.content.as_ref().map_or(&[], |(_, items)| items), names);
            }
            _ => {}
        }
    }
}

/// The names behind `enum` in a macro.
fn declared(tokens: TokenStream) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_next = false;
    for token in tokens {
        if let TokenTree::Ident(word) = token {
            if is_next {
                names.push(word.to_string());
            }
            is_next = word == "enum";
        }
    }
    names
}
