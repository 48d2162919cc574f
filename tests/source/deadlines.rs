//! Tests must not wait without a deadline.
//!
//! Only `crates/testkit/src/deadline.rs` may call functions that wait for a child, a pipe, a
//! socket, a terminal or a thread. Those wrappers give up and report what they waited for.

use std::collections::BTreeSet;
use std::fs;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::files::{ParsedSource, is_for_tests, parse_tokens, repository_root, rust_files};

const BLOCKING_METHODS: [(&str, usize); 11] = [
    ("wait", 0),
    ("wait_with_output", 0),
    ("output", 0),
    ("status", 0),
    ("recv", 0),
    ("accept", 0),
    ("incoming", 0),
    ("join", 0),
    ("read_exact", 1),
    ("read_to_end", 1),
    ("read_to_string", 1),
];

const BLOCKING_FUNCTIONS: [&str; 4] = [
    "BufReader::new",
    "Read::read_to_string",
    "Read::read_to_end",
    "io::read_to_string",
];

const TEST_DIRECTORIES: [&str; 4] = ["tests/it", "tests/attacks", "tests/trials", "tests/servers"];

/// Exceptions: file, call, and the reason why the call ends in time.
const EXCEPTIONS: [(&str, &str, &str); 9] = [
    (
        "crates/testkit/src/deadline.rs",
        "read",
        "asked before whether something is there",
    ),
    (
        "crates/testkit/src/deadline.rs",
        "join",
        "asked before whether it has ended",
    ),
    (
        "tests/it/support/pty.rs",
        "read",
        "a thread that nobody waits for",
    ),
    (
        "tests/it/support/fuse.rs",
        "read",
        "a thread that is waited for with a deadline",
    ),
    (
        "tests/attacks/stranger.rs",
        "incoming",
        "a child that is killed",
    ),
    ("tests/attacks/stranger.rs", "read", "the same"),
    ("tests/attacks/sockets.rs", "accept", "does not block"),
    (
        "src/cli/input_file/tests.rs",
        "read_to_end",
        "its deadline is what is tested",
    ),
    (
        "crates/sys/src/host/live/files.rs",
        "io::read_to_string",
        "a regular file",
    ),
];

fn is_excepted_wait(file: &str, wait: &str) -> bool {
    EXCEPTIONS
        .iter()
        .any(|(of, what, _)| *of == file && *what == wait)
}

fn collect_waits(tokens: TokenStream, found: &mut Vec<(String, usize)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        collect_waits(group.stream(), found);
        if group.delimiter() != Delimiter::Parenthesis {
            continue;
        }
        let before = |back: usize| {
            at.checked_sub(back)
                .and_then(|at| tokens.get(at))
                .map(ToString::to_string)
        };
        let Some(name) = before(1) else { continue };
        let line = group.span().start().line;
        // `read` waits only if its argument is a buffer; with a path, `read` opens a file.
        let reads = name == "read" && group.stream().to_string().starts_with("& mut");
        let waits =
            reads || BLOCKING_METHODS.contains(&(name.as_str(), count_arguments(group.stream())));
        if before(2).as_deref() == Some(".") && waits {
            found.push((name, line));
        } else if let (Some(second), Some(first), Some(of)) = (before(2), before(3), before(4)) {
            let path = format!("{of}{first}{second}{name}");
            if BLOCKING_FUNCTIONS.contains(&path.as_str()) {
                found.push((path, line));
            }
        }
    }
}

fn count_arguments(list: TokenStream) -> usize {
    let commas =
        |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
    let tokens: Vec<TokenTree> = list.into_iter().collect();
    tokens
        .split(commas)
        .filter(|argument| !argument.is_empty())
        .count()
}

#[derive(Default)]
struct TestLineRanges(Vec<(usize, usize)>);

impl<'ast> Visit<'ast> for TestLineRanges {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if is_for_tests(&module.attrs) {
            self.0
                .push((module.span().start().line, module.span().end().line));
        } else {
            visit::visit_item_mod(self, module);
        }
    }
}

fn waits_in_tests(text: &str, file: &syn::File, whole: bool) -> Vec<(String, usize)> {
    let mut lines = TestLineRanges::default();
    lines.visit_file(file);
    let mut found = Vec::new();
    collect_waits(text.parse().unwrap(), &mut found);
    let is_test = |line: usize| {
        whole
            || lines
                .0
                .iter()
                .any(|(from, to)| (*from..=*to).contains(&line))
    };
    found.retain(|(_, line)| is_test(*line));
    found
}

pub fn no_test_waits_without_deadline(sources: &[ParsedSource]) {
    let home = repository_root();
    let tests: Vec<ParsedSource> = TEST_DIRECTORIES
        .iter()
        .flat_map(|below| rust_files(&home.join(below)))
        .map(|path| {
            let name = path
                .strip_prefix(&home)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            let tokens = parse_tokens(&path);
            ParsedSource {
                name,
                syntax: syn::parse2(tokens.clone()).unwrap(),
                tokens,
                is_test: true,
            }
        })
        .collect();
    assert!(tests.len() > 150, "too few files of tests were found");
    let mut wrong = Vec::new();
    let mut needed = BTreeSet::new();
    for ParsedSource {
        name: file,
        syntax,
        is_test,
        ..
    } in sources.iter().chain(&tests)
    {
        let text = fs::read_to_string(home.join(file)).unwrap();
        for (wait, line) in waits_in_tests(&text, syntax, *is_test) {
            if is_excepted_wait(file, &wait) {
                needed.insert((file.clone(), wait));
            } else {
                wrong.push(format!("{file}:{line}: {wait}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "use crates/testkit/src/deadline.rs instead:\n{}",
        wrong.join("\n")
    );
    assert_eq!(
        needed.len(),
        EXCEPTIONS.len(),
        "an exception that nothing needs: {needed:?}"
    );
}

#[test]
fn waits_are_recognised() {
    let found = |text: &str| {
        let mut found = Vec::new();
        collect_waits(text.parse().unwrap(), &mut found);
        found
            .into_iter()
            .map(|(wait, _)| wait)
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (text, expected) in [
        ("child.wait().unwrap()", "wait"),
        (
            "assert!(command.output().unwrap().status.success())",
            "output",
        ),
        (
            "let all = threads.into_iter().map(|one| one.join().unwrap());",
            "join",
        ),
        ("BufReader::new(pipe).lines()", "BufReader::new"),
        (
            "std::io::Read::read_to_string(&mut pipe, &mut text)",
            "Read::read_to_string",
        ),
        ("pipe.read_to_end(&mut bytes)", "read_to_end"),
        ("inbox.recv()", "recv"),
        ("pipe.read(&mut bytes)", "read"),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
    for text in [
        "changed.wait(guard)",
        "inbox.recv_timeout(DEADLINE)",
        "directory.join(name)",
        "words.join(\" \")",
        "std::fs::read_to_string(path)",
        "fs::read(path)",
        "File::options().read(true)",
        "self.output(status, more)",
        "output.status.success()",
    ] {
        assert_eq!(found(text), "", "{text}");
    }
}
