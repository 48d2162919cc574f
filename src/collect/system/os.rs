//! The distribution, and the vantage point of walwise: bare metal, the guest of a hypervisor, or a container.
//!
//! The vantage point is derived in [`vantage`]; memory and processors are read here because a container has fewer. A
//! `.dockerenv` in the root directory proves nothing by itself: virtual machines are built from container images too.

mod lines;
mod vantage;

use std::path::Path;

use self::lines::{value, word};
use crate::collect::collector::{Collector, Request};
use crate::collect::refusal::refused;
use crate::facts::catalog::host as machine;
use crate::facts::{FactSet, Reading, Source, Subject};
use crate::host::{Host, Question};
use crate::text::safe;

/// Reads the distribution and the vantage point.
pub const COLLECTOR: Collector = Collector { id: "operating system", run };

fn run(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    release(host, facts);
    vantage::look(host, facts);
    let summary = match host.ask(&Question::Summary) {
        Ok(answer) => Reading::known(answer, Source::call("sysinfo")),
        Err(miss) => refused(&miss, "sysinfo"),
    };
    let number = |name: &'static str| {
        summary
            .clone()
            .and_then(|text| word(&text, name).and_then(|n| n.parse().ok()).ok_or(format!("no {name}")))
    };
    facts.put(&Subject::host(), &machine::MEMORY, number("memory_bytes"));
    facts.put(&Subject::host(), &machine::CPUS, number("cpus"));
}

/// os-release(5): the file in /etc, or else the vendor's.
fn release(host: &dyn Host, facts: &mut FactSet) {
    let paths = ["/etc/os-release", "/usr/lib/os-release"];
    let found = paths.into_iter().find_map(|path| Some((path, host.read(Path::new(path)).ok()?)));
    let keys =
        [(&machine::OS_ID, "ID"), (&machine::OS_VERSION, "VERSION_ID"), (&machine::OS_NAME, "PRETTY_NAME")];
    for (key, name) in keys {
        let reading = match &found {
            Some((path, text)) => match value(text, name) {
                Some(value) => Reading::known(safe(&unquoted(value)), Source::file(*path)),
                None => Reading::unknown(crate::facts::Why::Absent, format!("{path} has no {name}")),
            },
            None => Reading::unknown(crate::facts::Why::Absent, paths.join(" and ")),
        };
        facts.put(&Subject::host(), key, reading);
    }
}

/// The value as a shell reads it, for which os-release(5) is written: within double quotes a backslash escapes the four
/// characters that are special there.
fn unquoted(value: &[u8]) -> Vec<u8> {
    let value = value.trim_ascii();
    let inner = |quote: &[u8]| value.strip_prefix(quote)?.strip_suffix(quote);
    let Some(mut rest) = inner(b"\"") else { return inner(b"'").unwrap_or(value).to_vec() };
    let mut out = Vec::with_capacity(rest.len());
    while let [first, behind @ ..] = rest {
        let hidden = if *first == b'\\' { behind.split_first() } else { None };
        let (sign, behind) = match hidden {
            Some((sign @ (b'"' | b'$' | b'`' | b'\\'), behind)) => (sign, behind),
            _ => (first, behind),
        };
        out.push(*sign);
        rest = behind;
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collect::testing::Fake;

    #[test]
    fn the_distribution_is_read_from_either_place() {
        let text = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\nVERSION_ID='12'\n";
        for path in ["/etc/os-release", "/usr/lib/os-release"] {
            let mut facts = FactSet::default();
            release(&Fake::default().file(path, text), &mut facts);
            let value = |key| facts.value(&Subject::host(), key).unwrap();
            assert_eq!(value(&machine::OS_ID), "debian");
            assert_eq!(value(&machine::OS_VERSION), "12");
            assert_eq!(value(&machine::OS_NAME), "Debian GNU/Linux 12 (bookworm)");
        }
    }

    #[test]
    fn memory_and_processors_have_their_units() {
        let mut facts = FactSet::default();
        let host = Fake::default().answer(Question::Summary, "memory_bytes=1024\ncpus=2\n");
        run(&host, &Request::default(), &mut facts);
        assert_eq!(facts.value(&Subject::host(), &machine::MEMORY), Some(1024));
        assert_eq!(facts.value(&Subject::host(), &machine::CPUS), Some(2));
        assert!(!facts.get(&Subject::host(), &machine::OS_ID).is_known());
    }

    /// The three facts that an os-release file holds.
    fn names(text: &[u8]) -> [Option<String>; 3] {
        let mut facts = FactSet::default();
        release(&Fake::default().file("/etc/os-release", text), &mut facts);
        [&machine::OS_ID, &machine::OS_VERSION, &machine::OS_NAME]
            .map(|key| facts.value(&Subject::host(), key))
    }

    proptest! {
        #[test]
        fn any_name_is_read_as_the_shell_would(name in "[ -~]{0,30}", at in 0usize..3) {
            let escaped: String = name.chars().flat_map(|c| match c {
                '"' | '$' | '`' | '\\' => vec!['\\', c],
                c => vec![c],
            }).collect();
            let mut lines = vec!["ID=debian".to_owned(), "VERSION_ID='12'".to_owned()];
            lines.insert(at, format!("PRETTY_NAME=\"{escaped}\""));
            prop_assert_eq!(
                names(lines.join("\n").as_bytes()),
                [Some("debian".to_owned()), Some("12".to_owned()), Some(safe(name.as_bytes()))]
            );
        }

        #[test]
        fn a_bad_line_costs_itself(bad in prop::collection::vec(any::<u8>().prop_filter("one line", |b| *b != b'\n'), 0..30)) {
            prop_assume!(!bad.starts_with(b"ID=") && !bad.starts_with(b"VERSION_ID="));
            let [id, version, name] = names(&[b"ID=debian\n", bad.as_slice(), b"\nVERSION_ID=12\n"].concat());
            prop_assert_eq!((id.as_deref(), version.as_deref()), (Some("debian"), Some("12")));
            prop_assert!(name.is_none_or(|name| !name.chars().any(crate::text::is_treacherous)));
        }

        #[test]
        fn any_answers_of_the_system_do_no_harm(bytes: Vec<u8>) {
            let host = Fake::default()
                .answer(Question::Summary, &bytes)
                .answer(Question::Identity, &bytes)
                .file("/proc/cpuinfo", &bytes)
                .file("/sys/class/dmi/id/product_name", &bytes)
                .file("/run/systemd/container", &bytes);
            let mut facts = FactSet::default();
            run(&host, &Request::default(), &mut facts);
            prop_assert!(!crate::collect::testing::shown(&facts).chars().any(crate::text::is_treacherous));
        }
    }
}
