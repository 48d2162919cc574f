//! The distribution, and the vantage point of walwise: bare metal, the guest of a hypervisor, or a
//! container.
//!
//! The vantage point is derived in [`vantage`]; memory and processors are read here because a
//! container has fewer. A `.dockerenv` in the root directory proves nothing by itself: virtual
//! machines are built from container images too.

mod lines {
    //! Lines of the form `name=value`, as the host answers them and os-release(5) has them.

    use crate::text::safe;

    /// The value of a `name=value` line.
    pub fn word(text: &[u8], name: &str) -> Option<String> {
        value(text, name).map(safe)
    }

    pub fn value<'a>(text: &'a [u8], name: &str) -> Option<&'a [u8]> {
        let mut lines = text.split(|b| *b == b'\n');
        lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    }
}
mod vantage {
    //! The vantage point of walwise (the host, the guest of a hypervisor, or a container) and its
    //! privileges.
    //!
    //! A guest cannot see whether its hypervisor honours flushes, so this fact stands beside every
    //! verdict. DMI names the hypervisor; the processor's `hypervisor` flag proves that there is
    //! one. Name spaces prove a container; marker files name it. Root inside a user name space is
    //! not root.

    use std::path::Path;

    use super::lines::word;
    use crate::facts::catalog::host::{self as machine, Vantage};
    use crate::facts::catalog::mount;
    use crate::facts::{FactSet, Reading, Scope, Source, Subject, Why};
    use crate::host::redact::AZURE_CHASSIS;
    use crate::host::{Host, Question};
    use crate::lookup::mount_of;
    use crate::refusal::refused;

    /// Records virtualisation, container, vantage point and privilege.
    pub fn look(host: &dyn Host, facts: &mut FactSet) {
        let identity = match host.ask(&Question::Identity) {
            Ok(answer) => Reading::known(answer, Source::call("geteuid and /proc/self/ns")),
            Err(miss) => refused(&miss, "geteuid"),
        };
        let virtualisation = virtualisation(host);
        let container = container(host, &identity, facts);
        let of_host = Subject::host();
        facts.put(
            &of_host,
            &machine::PRIVILEGED,
            identity.and_then(|text| is_privileged(&text)),
        );
        facts.put(&of_host, &machine::VIRTUALISATION, virtualisation);
        facts.put(&of_host, &machine::CONTAINER, container);
        // One of them may be assumed.
        let [container, virtualisation] =
            [&machine::CONTAINER, &machine::VIRTUALISATION].map(|key| facts.get(&of_host, key));
        facts.put(
            &of_host,
            &machine::SEEN_BY,
            seen_by(&container, &virtualisation),
        );
    }

    /// A container is one wherever its host runs; everything else needs both answers.
    fn seen_by(container: &Reading<String>, virtualisation: &Reading<String>) -> Reading<Vantage> {
        let source = Source::derived([machine::CONTAINER.name(), machine::VIRTUALISATION.name()]);
        let known = |from| Reading::known(from, source.clone());
        match (container, virtualisation) {
            (Reading::Known { value, .. }, _) if value != "none" => known(Vantage::Container),
            (Reading::Known { .. }, Reading::Known { value, .. }) if value == "none" => {
                known(Vantage::Host)
            }
            (Reading::Known { .. }, Reading::Known { .. }) => known(Vantage::Guest),
            (
                Reading::Known { .. },
                Reading::Unknown {
                    why,
                    detail,
                    remedy,
                },
            )
            | (
                Reading::Unknown {
                    why,
                    detail,
                    remedy,
                },
                _,
            ) => Reading::Unknown {
                why: *why,
                detail: detail.clone(),
                remedy: remedy.clone(),
            },
        }
    }

    fn is_privileged(identity: &[u8]) -> Result<bool, String> {
        let user = word(identity, "euid").ok_or("no user id")?;
        Ok(user == "0" && word(identity, "user_namespace").is_none_or(|which| which == "initial"))
    }

    /// Every guest of Hyper-V, on Azure or elsewhere, has the same maker and product.
    const HYPERV: &str = "hyperv";

    /// Virtual machines by maker and product in DMI.
    const MAKERS: &[(&str, &str)] = &[
        ("QEMU", "kvm"),
        ("KVM", "kvm"),
        ("VMware", "vmware"),
        ("VMW", "vmware"),
        ("innotek", "virtualbox"),
        ("VirtualBox", "virtualbox"),
        ("Xen", "xen"),
        ("Bochs", "bochs"),
        ("Parallels", "parallels"),
        ("BHYVE", "bhyve"),
        ("Microsoft Corporation Virtual Machine", HYPERV),
        ("Amazon EC2", "amazon"),
        ("Google Compute Engine", "google"),
        ("Alibaba Cloud", "alibaba"),
        ("OpenStack", "kvm"),
        ("DigitalOcean", "kvm"),
        ("Hetzner vServer", "kvm"),
        ("Nutanix", "kvm"),
        ("oVirt", "kvm"),
        ("RHEV", "kvm"),
        ("Apple Virtualization", "apple"),
        ("Firecracker", "firecracker"),
    ];

    const DMI: &str = "/sys/class/dmi/id";
    const CHASSIS_TAG: &str = "chassis_asset_tag";
    const CPUINFO: &str = "/proc/cpuinfo";

    fn virtualisation(host: &dyn Host) -> Reading<String> {
        let xen = host
            .attribute(Path::new("/proc/xen/capabilities"))
            .unwrap_or_default();
        if xen.contains("control_d") {
            return Reading::known("none".to_owned(), Source::file("/proc/xen/capabilities"));
        }
        if let Ok(kind) = host.attribute(Path::new("/sys/hypervisor/type"))
            && !kind.is_empty()
        {
            return Reading::known(kind, Source::file("/sys/hypervisor/type"));
        }
        let dmi = |name: &str| {
            host.attribute(&Path::new(DMI).join(name))
                .unwrap_or_default()
        };
        let product = format!("{} {}", dmi("sys_vendor"), dmi("product_name"));
        let maker = MAKERS
            .iter()
            .find(|(mark, _)| product.contains(mark))
            .map(|(_, name)| *name);
        let is_metal = product.contains(".metal");
        match maker {
            Some(HYPERV) if dmi(CHASSIS_TAG) == AZURE_CHASSIS => Reading::known(
                "azure".to_owned(),
                Source::file(format!("{DMI}/{CHASSIS_TAG}")),
            ),
            Some(name) if !is_metal => Reading::known(name.to_owned(), Source::file(DMI)),
            _ => by_processor(host),
        }
    }

    /// The processor's flag; processors other than x86 have none that says anything.
    fn by_processor(host: &dyn Host) -> Reading<String> {
        let text = match host.read(Path::new(CPUINFO)) {
            Ok(text) => text,
            Err(miss) => return refused(&miss, CPUINFO),
        };
        let mut lines = text.split(|b| *b == b'\n');
        let Some(flags) = lines.find(|line| line.starts_with(b"flags")) else {
            return Reading::unknown(
                Why::Ambiguous,
                "this processor does not show its guests that they are guests",
            );
        };
        let guest = flags
            .split(|b| *b == b' ')
            .any(|flag| flag == b"hypervisor");
        Reading::known(
            if guest { "vm" } else { "none" }.to_owned(),
            Source::file(CPUINFO),
        )
    }

    /// The container technology, `none`, or `container` when nothing names it.
    fn container(host: &dyn Host, identity: &Reading<Vec<u8>>, facts: &FactSet) -> Reading<String> {
        let known =
            |name: &str, source: &str| Reading::known(name.to_owned(), Source::file(source));
        // A file that a runtime puts into /run of this boot is proof; one in the image is a hint.
        if let Ok(name) = host.attribute(Path::new("/run/systemd/container"))
            && !name.is_empty()
        {
            return Reading::known(name, Source::file("/run/systemd/container"));
        }
        if host.stat(Path::new("/run/.containerenv")).is_ok() {
            return known("podman", "/run/.containerenv");
        }
        let text = match identity {
            Reading::Known { value, .. } => value,
            Reading::Unknown {
                why,
                detail,
                remedy,
            } => {
                return Reading::Unknown {
                    why: *why,
                    detail: detail.clone(),
                    remedy: remedy.clone(),
                };
            }
        };
        let apart = |space: &str| {
            word(text, &format!("{space}_namespace")).is_some_and(|which| which != "initial")
        };
        let on_overlay = root_is_overlay(facts);
        if !apart("pid") && !on_overlay {
            return known("none", "/proc/self/ns/pid");
        }
        let cgroup = host
            .read(Path::new("/proc/self/cgroup"))
            .unwrap_or_default();
        let cgroup = String::from_utf8_lossy(&cgroup);
        let by_cgroup = [
            ("kubepods", "kubernetes"),
            ("docker", "docker"),
            ("libpod", "podman"),
            ("lxc", "lxc"),
        ];
        if let Some((_, name)) = by_cgroup
            .into_iter()
            .find(|(mark, _)| cgroup.contains(mark))
        {
            return known(name, "/proc/self/cgroup");
        }
        if host.stat(Path::new("/.dockerenv")).is_ok() {
            return known("docker", "/.dockerenv");
        }
        if has_lxcfs(facts) {
            return known("lxc", "/proc/self/mountinfo");
        }
        // A live medium also runs from an overlay; only a name space of our own is proof.
        if apart("pid") {
            known("container", "/proc/self/ns/pid")
        } else {
            known("none", "/proc/self/ns/pid")
        }
    }

    fn root_is_overlay(facts: &FactSet) -> bool {
        let root = mount_of(facts, b"/");
        root.and_then(|root| facts.value(&root, &mount::CLASS))
            .is_some_and(mount::MountClass::is_overlay)
    }

    fn has_lxcfs(facts: &FactSet) -> bool {
        facts.subjects(Scope::Mount).any(|m| {
            facts
                .value(m, &mount::FSTYPE)
                .is_some_and(|t| t == "fuse.lxcfs")
        })
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::collector::Request;
        use crate::filesystems::mounts;
        use crate::testing::Fake;

        const HOST: &str = "euid=0\npid_namespace=initial\nuser_namespace=initial\n";
        const APART: &str = "euid=0\npid_namespace=other\nuser_namespace=other\n";
        const STAT: &str =
            "mode=33188 uid=0 gid=0 major=0 minor=1 node_major=0 node_minor=0 inode=1 size=0";

        fn seen(identity: &str, root: &str, fake: Fake) -> (String, String, String, bool) {
            let host = fake.answer(Question::Identity, identity).file(
                "/proc/self/mountinfo",
                format!("1 0 0:9 / / rw - {root} x rw\n"),
            );
            let mut facts = FactSet::default();
            (mounts::COLLECTOR.run)(&host, &Request::default(), &mut facts);
            look(&host, &mut facts);
            let text = |key| {
                facts
                    .value(&Subject::host(), key)
                    .unwrap_or_else(|| "?".to_owned())
            };
            let privileged = facts.value(&Subject::host(), &machine::PRIVILEGED).unwrap();
            let seen_by = facts.value(&Subject::host(), &machine::SEEN_BY);
            let seen_by = seen_by.map_or_else(|| "?".to_owned(), |from| from.to_string());
            (
                text(&machine::VIRTUALISATION),
                text(&machine::CONTAINER),
                seen_by,
                privileged,
            )
        }

        fn processor(flags: &str) -> Fake {
            Fake::default().file(
                CPUINFO,
                format!("processor\t: 0\nflags\t\t: fpu {flags} lm\n\n"),
            )
        }

        fn words(t: &(String, String, String, bool)) -> (&str, &str, &str, bool) {
            (&t.0, &t.1, &t.2, t.3)
        }

        #[test]
        fn host_guest_and_container() {
            assert_eq!(
                words(&seen(HOST, "ext4", processor("vme"))),
                ("none", "none", "host", true)
            );
            assert_eq!(
                words(&seen(HOST, "ext4", processor("hypervisor"))),
                ("vm", "none", "guest", true)
            );
            assert_eq!(
                words(&seen(
                    HOST,
                    "ext4",
                    Fake::default().file(CPUINFO, "Features: fp\n")
                )),
                ("?", "none", "?", true)
            );
            let docker = processor("vme").answer(Question::Stat("/.dockerenv".into()), STAT);
            assert_eq!(
                words(&seen(APART, "overlay", docker)),
                ("none", "docker", "container", false)
            );
            let pod = processor("vme").file("/proc/self/cgroup", "0::/kubepods.slice/x\n");
            assert_eq!(
                words(&seen(APART, "overlay", pod)),
                ("none", "kubernetes", "container", false)
            );
            assert_eq!(words(&seen(APART, "ext4", processor("vme"))).1, "container");
        }

        #[test]
        fn a_machine_made_from_a_container_image_is_no_container() {
            let image = processor("hypervisor").answer(Question::Stat("/.dockerenv".into()), STAT);
            assert_eq!(
                words(&seen(HOST, "ext4", image)),
                ("vm", "none", "guest", true)
            );
        }

        #[test]
        fn azure_is_the_hyper_v_whose_chassis_says_so() {
            let guest = |tag: Option<&str>| {
                let host = processor("hypervisor").files(
                    DMI,
                    &[
                        ("sys_vendor", "Microsoft Corporation"),
                        ("product_name", "Virtual Machine"),
                    ],
                );
                let host = match tag {
                    Some(tag) => host.files(DMI, &[(CHASSIS_TAG, tag)]),
                    None => host,
                };
                seen(HOST, "ext4", host).0
            };
            assert_eq!(guest(Some(AZURE_CHASSIS)), "azure");
            for other in [None, Some(""), Some("other"), Some("7783-7084-3265-9085")] {
                assert_eq!(guest(other), "hyperv", "{other:?}");
            }
        }

        #[test]
        fn makers_name_the_hypervisor_and_metal_is_metal() {
            let dmi = |vendor: &str, product: &str, flags: &str| {
                processor(flags).files(DMI, &[("sys_vendor", vendor), ("product_name", product)])
            };
            for (vendor, product, flags, expect) in [
                (
                    "QEMU",
                    "Standard PC (Q35 + ICH9, 2009)",
                    "hypervisor",
                    "kvm",
                ),
                (
                    "Microsoft Corporation",
                    "Virtual Machine",
                    "hypervisor",
                    "hyperv",
                ),
                ("Microsoft Corporation", "Surface Laptop", "x", "none"),
                ("Amazon EC2", "c5.large", "hypervisor", "amazon"),
                ("Amazon EC2", "c5.metal", "x", "none"),
                ("Dell Inc.", "PowerEdge R740", "x", "none"),
            ] {
                assert_eq!(
                    seen(HOST, "ext4", dmi(vendor, product, flags)).0,
                    expect,
                    "{vendor} {product}"
                );
            }
        }
    }
}

use std::path::Path;

use self::lines::{value, word};
use crate::collector::{Collector, Request};
use crate::facts::catalog::host as machine;
use crate::facts::{FactSet, Reading, Source, Subject};
use crate::host::{Host, Question};
use crate::refusal::refused;
use crate::text::safe;

/// Reads the distribution and the vantage point.
pub const COLLECTOR: Collector = Collector {
    id: "operating system",
    run,
};

fn run(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    release(host, facts);
    vantage::look(host, facts);
    let summary = match host.ask(&Question::Summary) {
        Ok(answer) => Reading::known(answer, Source::call("sysinfo")),
        Err(miss) => refused(&miss, "sysinfo"),
    };
    let number = |name: &'static str| {
        summary.clone().and_then(|text| {
            word(&text, name)
                .and_then(|n| n.parse().ok())
                .ok_or(format!("no {name}"))
        })
    };
    facts.put(&Subject::host(), &machine::MEMORY, number("memory_bytes"));
    facts.put(&Subject::host(), &machine::CPUS, number("cpus"));
}

/// os-release(5): the file in /etc, or else the vendor's.
fn release(host: &dyn Host, facts: &mut FactSet) {
    let paths = ["/etc/os-release", "/usr/lib/os-release"];
    let found = paths
        .into_iter()
        .find_map(|path| Some((path, host.read(Path::new(path)).ok()?)));
    let keys = [
        (&machine::OS_ID, "ID"),
        (&machine::OS_VERSION, "VERSION_ID"),
        (&machine::OS_NAME, "PRETTY_NAME"),
    ];
    for (key, name) in keys {
        let reading = match &found {
            Some((path, text)) => match value(text, name) {
                Some(value) => Reading::known(safe(&unquoted(value)), Source::file(*path)),
                None => {
                    Reading::unknown(crate::facts::Why::Absent, format!("{path} has no {name}"))
                }
            },
            None => Reading::unknown(crate::facts::Why::Absent, paths.join(" and ")),
        };
        facts.put(&Subject::host(), key, reading);
    }
}

/// The value as a shell reads it, for which os-release(5) is written: within double quotes a
/// backslash escapes the four characters that are special there.
fn unquoted(value: &[u8]) -> Vec<u8> {
    let value = value.trim_ascii();
    let inner = |quote: &[u8]| value.strip_prefix(quote)?.strip_suffix(quote);
    let Some(mut rest) = inner(b"\"") else {
        return inner(b"'").unwrap_or(value).to_vec();
    };
    let mut out = Vec::with_capacity(rest.len());
    while let [first, behind @ ..] = rest {
        let hidden = if *first == b'\\' {
            behind.split_first()
        } else {
            None
        };
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
    use crate::testing::Fake;

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
            prop_assert!(!crate::testing::shown(&facts).chars().any(crate::text::is_treacherous));
        }
    }
}
