//! The cost of a file that was written to be expensive: its texts, lists and mistakes are bounded, and the bound is
//! reported.

use crate::rules::diagnostic::TOLD;
use crate::rules::load;

/// A rule with this title, reason, command and id.
fn rule(field: &str, value: &str) -> String {
    let of = |name: &str, usual: &str| if name == field { value.to_owned() } else { format!("\"{usual}\"") };
    format!(
        "[[rule]]\nid = {}\nsince = \"1\"\nfor = \"mount\"\ntitle = {}\nlevel = \"warning\"\nconfidence = \"certain\"\n\
         because = {}\nrefs = [{}]\nwhen = {{ fact = {}, is = \"ext4\" }}\n[[rule.advise]]\nsetting = \"mount.options\"\n\
         add = [\"noatime\"]\nreach = \"this-mount\"\nrisk = \"none\"\napply = [{}]\n",
        of("id", "a.b"),
        of("title", "t"),
        of("because", "b"),
        of("refs", "r"),
        of("fact", "mount.fstype"),
        of("apply", "x {mount.point}"),
    )
}

#[test]
fn long_texts_are_refused_with_the_bound() {
    for text in ["{", "}", "[", "]", "\"", "'", "\\\\", "#", "\n", "{a.b}", "{a?", "`{"] {
        let long = text.repeat(20_000 / text.len());
        for (open, close) in [("'''", "'''"), ("\"\"\"\n", "\"\"\"")] {
            let fits = (open == "'''") != text.contains(['\'', '\\']);
            for field in ["id", "title", "because", "refs", "fact", "apply"] {
                if !fits || (text == "\"" && open != "'''") {
                    continue;
                }
                let loaded =
                    load::load("a.toml", &rule(field, &format!("{open}{long}{close}")), load::Terms::USERS);
                assert!(loaded.rules.is_empty(), "{field} of {text:?}");
                assert!(loaded.diags.len() <= TOLD + 1);
                let says = |words: &str| loaded.diags.iter().any(|diag| diag.message.contains(words));
                assert!(says("the longest that is read has 4000"), "{field} of {text:?}: {:?}", loaded.diags);
            }
        }
    }
    let loaded =
        load::load("a.toml", &rule("title", &format!("\"{}\"", "t".repeat(201))), load::Terms::USERS);
    assert!(loaded.diags.iter().any(|diag| diag.message == "a title of 201 bytes; the longest has 200"));
}

#[test]
fn syntax_that_never_ends_comes_to_a_few_mistakes() {
    for text in [
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        "\\",
        "#\n[",
        "[\n",
        "{\n",
        "a\n",
        "[[rule]]\n",
        "[[off]]\n",
        "a = [",
        "a={b=",
    ] {
        let loaded = load::load("a.toml", &text.repeat(10_000 / text.len()), load::Terms::USERS);
        let few = 1..=TOLD + 1;
        assert!(few.contains(&loaded.diags.len()), "{text:?}: {} mistakes", loaded.diags.len());
        assert!(loaded.rules.is_empty());
    }
}

#[test]
fn a_file_and_a_list_have_their_largest() {
    let says = |text: &str| load::load("a.toml", text, load::Terms::USERS).diags.remove(0).message;
    assert!(says(&"#".repeat((1 << 20) + 1)).ends_with("the largest that is read has 1048576"));
    let many = "[[off]]\nrule = \"a.b\"\nbecause = \"c\"\n".repeat(1001);
    assert_eq!(says(&many), "a list of 1001; the longest that is read has 1000");
}
