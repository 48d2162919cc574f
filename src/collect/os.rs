//! The distribution, and from where walwise looks: bare metal, the guest of a hypervisor, or a container.
//!
//! The reading of clues is in [`vantage`]; memory and processors come with it because a container has fewer. The
//! surprise: a `.dockerenv` in the root directory proves nothing by itself, since virtual machines are made from
//! container images too.

mod vantage;

use std::path::Path;

use super::{Collector, Request, refused};
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

/// The value of a `name=value` line.
fn word(text: &[u8], name: &str) -> Option<String> {
    let mut lines = text.split(|b| *b == b'\n');
    lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"=")).map(safe)
}

/// os-release(5): the file in /etc, or else the vendor's.
fn release(host: &dyn Host, facts: &mut FactSet) {
    let paths = ["/etc/os-release", "/usr/lib/os-release"];
    let found = paths.into_iter().find_map(|path| Some((path, host.read(Path::new(path)).ok()?)));
    let keys =
        [(&machine::OS_ID, "ID"), (&machine::OS_VERSION, "VERSION_ID"), (&machine::OS_NAME, "PRETTY_NAME")];
    for (key, name) in keys {
        let reading = match &found {
            Some((path, text)) => match word(text, name) {
                Some(value) => Reading::known(unquoted(&value).to_owned(), Source::file(*path)),
                None => Reading::unknown(crate::facts::Why::Absent, format!("{path} has no {name}")),
            },
            None => Reading::unknown(crate::facts::Why::Absent, paths.join(" and ")),
        };
        facts.put(&Subject::host(), key, reading);
    }
}

fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let inner = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
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
}
