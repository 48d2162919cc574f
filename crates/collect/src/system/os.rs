//! The distribution, and where walwise runs: bare metal, the guest of a hypervisor, or a container.
//!
//! Memory and processors are read here because a container has fewer. A `.dockerenv` in the root
//! directory proves nothing: virtual machines are built from container images too.

use std::path::Path;

use crate::attribute;
use crate::collector::Request;
use crate::facts::catalog::host::RunEnvironment;
use crate::facts::catalog::{host, mount};
use crate::facts::{FactSet, Reading, Source};
use crate::host::redact::AZURE_CHASSIS;
use crate::host::{Host, Question};
use crate::host_readings::{error_reading, file_reading, syscall_reading};
use crate::path_lookup::mount_of_path;
use crate::text::{bytes, display_safe};
use crate::text_table::rows;

pub fn display_safe_value(text: &[u8], name: &str) -> Option<String> {
    bytes::line_value(text, name).map(display_safe)
}

pub fn collect_facts(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    record_os_release(host, facts);
    record_privilege_and_environment(host, facts);
    let summary = syscall_reading(host.ask(&Question::Resources), "sysinfo");
    let number = |name: &'static str| {
        summary.clone().and_then(|text| {
            display_safe_value(&text, name)
                .and_then(|n| n.parse().ok())
                .ok_or(format!("{name} is missing"))
        })
    };
    facts.insert_host(&host::MEMORY, number("memory_bytes"));
    facts.insert_host(&host::CPUS, number("cpus"));
}

fn record_os_release(host: &dyn Host, facts: &mut FactSet) {
    let paths = ["/etc/os-release", "/usr/lib/os-release"];
    let found = paths
        .into_iter()
        .find_map(|path| Some((path, host.read(Path::new(path)).ok()?)));
    let keys = [
        (&host::OS_ID, "ID"),
        (&host::OS_VERSION, "VERSION_ID"),
        (&host::OS_NAME, "PRETTY_NAME"),
    ];
    for (key, name) in keys {
        let reading = match &found {
            Some((path, text)) => match bytes::line_value(text, name) {
                Some(value) => Reading::known(
                    display_safe(&shell_unquote(value)),
                    Source::from_file(*path),
                ),
                None => Reading::absent(format!("{path} has no {name}")),
            },
            None => Reading::absent(paths.join(" and ")),
        };
        facts.insert_host(key, reading);
    }
}

/// Removes shell quotes as in os-release(5): within double quotes, a backslash escapes double
/// quotes, dollar signs, backticks and backslashes.
fn shell_unquote(value: &[u8]) -> Vec<u8> {
    let value = value.trim_ascii();
    let inner = |quote: &[u8]| value.strip_prefix(quote)?.strip_suffix(quote);
    let Some(mut rest) = inner(b"\"") else {
        return inner(b"'").unwrap_or(value).to_vec();
    };
    let mut out = Vec::with_capacity(rest.len());
    while let [b'\\', sign @ (b'"' | b'$' | b'`' | b'\\'), behind @ ..] | [sign, behind @ ..] = rest
    {
        out.push(*sign);
        rest = behind;
    }
    out
}

// Environment of walwise (host, guest or container), and its privileges.
//
// A guest cannot see whether its hypervisor honours flushes. DMI names the hypervisor; the
// processor's `hypervisor` flag proves that there is one. Namespaces and a runtime's files in
// /run prove a container; other marker files only name it. Root inside a user namespace is not
// root.

fn record_privilege_and_environment(host: &dyn Host, facts: &mut FactSet) {
    let identity = match host.ask(&Question::Identity) {
        Ok(answer) => Reading::known(
            answer,
            Source::from_system_call("geteuid and /proc/self/ns"),
        ),
        Err(miss) => error_reading(&miss, "geteuid"),
    };
    let virtualisation = detect_virtualisation(host);
    let container = detect_container(host, &identity, facts);
    facts.insert_host(
        &host::PRIVILEGED,
        identity.and_then(|text| is_root_in_initial_user_namespace(&text)),
    );
    facts.insert_host(&host::VIRTUALISATION, virtualisation);
    facts.insert_host(&host::CONTAINER, container);
    // An assumed fact overrides the one found here, so both are read back.
    let [container, virtualisation] =
        [&host::CONTAINER, &host::VIRTUALISATION].map(|key| facts.host_reading(key));
    facts.insert_host(
        &host::SEEN_BY,
        run_environment_reading(&container, &virtualisation),
    );
}

/// *Container* needs only the first reading; *host* and *guest* need both.
fn run_environment_reading(
    container: &Reading<String>,
    virtualisation: &Reading<String>,
) -> Reading<RunEnvironment> {
    let source = Source::derived_from([host::CONTAINER.name(), host::VIRTUALISATION.name()]);
    let known = |from| Reading::known(from, source.clone());
    container.as_ref().and_then_reading(|container, _| {
        if container != "none" {
            return known(RunEnvironment::Container);
        }
        virtualisation.as_ref().and_then_reading(|hypervisor, _| {
            known(if hypervisor == "none" {
                RunEnvironment::Host
            } else {
                RunEnvironment::Guest
            })
        })
    })
}

fn is_root_in_initial_user_namespace(identity: &[u8]) -> Result<bool, String> {
    let user = display_safe_value(identity, "euid").ok_or("the user ID is missing")?;
    Ok(user == "0"
        && display_safe_value(identity, "user_namespace").is_none_or(|which| which == "initial"))
}

/// Hyper-V, also on Azure, which is recognised by its chassis tag.
const HYPERV: &str = "hyperv";

const DMI: &str = "/sys/class/dmi/id";
const CHASSIS_TAG: &str = "chassis_asset_tag";
const CPUINFO: &str = "/proc/cpuinfo";

fn detect_virtualisation(host: &dyn Host) -> Reading<String> {
    let xen = host
        .read_attribute(Path::new("/proc/xen/capabilities"))
        .unwrap_or_default();
    if xen.contains("control_d") {
        return known_word("none", "/proc/xen/capabilities");
    }
    let kind = attribute::read_text(host, Path::new("/sys/hypervisor/type"));
    if kind.is_known() {
        return kind;
    }
    let dmi = |name: &str| {
        host.read_attribute(&Path::new(DMI).join(name))
            .unwrap_or_default()
    };
    let product = format!("{} {}", dmi("sys_vendor"), dmi("product_name"));
    let maker = rows(include_str!("hypervisors.txt")).find(|[mark, _]| product.contains(mark));
    let is_metal = product.contains(".metal");
    match maker {
        Some([_, HYPERV]) if dmi(CHASSIS_TAG) == AZURE_CHASSIS => {
            known_word("azure", &format!("{DMI}/{CHASSIS_TAG}"))
        }
        Some([_, name]) if !is_metal => known_word(name, DMI),
        _ => virtualisation_from_cpu_flag(host),
    }
}

fn known_word(word: &str, path: &str) -> Reading<String> {
    Reading::known(word.to_owned(), Source::from_file(path))
}

/// `vm` if the processor has the `hypervisor` flag, else `none`; unknown except on x86.
fn virtualisation_from_cpu_flag(host: &dyn Host) -> Reading<String> {
    file_reading(host.read(Path::new(CPUINFO)), CPUINFO).and_then_reading(|text, source| {
        let Some(flags) = bytes::lines(&text).find(|line| line.starts_with(b"flags")) else {
            return Reading::ambiguous(
                "a guest cannot detect its hypervisor on this processor architecture",
            );
        };
        let mut flags = flags.split(|b| *b == b' ');
        let is_guest = flags.any(|flag| flag == b"hypervisor");
        Reading::known(if is_guest { "vm" } else { "none" }.to_owned(), source)
    })
}

fn detect_container(
    host: &dyn Host,
    identity: &Reading<Vec<u8>>,
    facts: &FactSet,
) -> Reading<String> {
    // A file that a runtime creates in /run proves a container; a file in the image is only a
    // hint.
    let name = attribute::read_text(host, Path::new("/run/systemd/container"));
    if name.is_known() {
        return name;
    }
    if host.stat(Path::new("/run/.containerenv")).is_ok() {
        return known_word("podman", "/run/.containerenv");
    }
    let text = match identity {
        Reading::Known { value, .. } => value,
        unknown @ Reading::Unknown { .. } => return unknown.clone().into_unknown_reading(),
    };
    let is_apart = |key: &str| display_safe_value(text, key).map(|which| which != "initial");
    let Some(in_pid_namespace) = is_apart("pid_namespace") else {
        return Reading::ambiguous(
            "/proc/self/ns/pid cannot be read: /proc is not mounted, or this is a container",
        );
    };
    // If the root of process 1 cannot be read, the mount table may show that walwise has another
    // root.
    let has_other_root = is_apart("root").or_else(|| is_root_mount_of_container(facts));
    if !in_pid_namespace && has_other_root == Some(false) && !is_root_overlay(facts) {
        return known_word("none", "/proc/self/ns/pid");
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
        return known_word(name, "/proc/self/cgroup");
    }
    if host.stat(Path::new("/.dockerenv")).is_ok() {
        return known_word("docker", "/.dockerenv");
    }
    if has_lxcfs(facts) {
        return known_word("lxc", "/proc/self/mountinfo");
    }
    // A live medium also has an overlay as its root, so only a separate namespace or root is proof.
    match (in_pid_namespace, has_other_root) {
        (true, _) => known_word("container", "/proc/self/ns/pid"),
        (false, Some(true)) => known_word("container", "/proc/1/root"),
        (false, Some(false)) => known_word("none", "/proc/self/ns/pid"),
        (false, None) => Reading::ambiguous(
            "the root directory of process 1 cannot be read, and the root of walwise may belong to a container or a live system",
        ),
    }
}

/// Whether the root directory belongs to a container engine. `None` if its mount is unknown, an
/// overlay, or only a part of its file system. Subvolumes of btrfs and deployments of OSTree are
/// not such parts.
fn is_root_mount_of_container(facts: &FactSet) -> Option<bool> {
    let root = mount_of_path(facts, b"/")?;
    let directory = facts.value(&root, &mount::ROOT)?;
    let engines = ["/docker/", "/containers/", "/containerd/"];
    if engines.iter().any(|engine| directory.contains(engine)) {
        return Some(true);
    }
    let is_btrfs = facts.value(&root, &mount::FSTYPE).as_deref() == Some("btrfs");
    let is_plain = directory == "/" && !is_root_overlay(facts);
    (is_plain || is_btrfs || directory.starts_with("/ostree/")).then_some(false)
}

fn is_root_overlay(facts: &FactSet) -> bool {
    let root = mount_of_path(facts, b"/");
    root.and_then(|root| facts.value(&root, &mount::CLASS))
        .is_some_and(mount::MountClass::is_overlay)
}

fn has_lxcfs(facts: &FactSet) -> bool {
    !facts
        .subjects_where(&mount::FSTYPE, |fstype| fstype == "fuse.lxcfs")
        .is_empty()
}

#[cfg(test)]
mod run_environment_tests {
    use super::*;
    use crate::collector::Request;
    use crate::filesystems::mounts;
    use crate::testing::FakeHost;

    const HOST: &str = "euid=0\npid_namespace=initial\nuser_namespace=initial\n";
    const OTHER_NAMESPACES: &str = "euid=0\npid_namespace=other\nuser_namespace=other\n";
    const STAT: &str =
        "mode=33188 uid=0 gid=0 major=0 minor=1 node_major=0 node_minor=0 inode=1 size=0";

    fn environment_facts(
        identity: &str,
        root: &str,
        fake: FakeHost,
    ) -> (String, String, String, bool) {
        let host = fake.with_answer(Question::Identity, identity).with_file(
            "/proc/self/mountinfo",
            format!("1 0 0:9 / / rw - {root} x rw\n"),
        );
        let mut facts = FactSet::default();
        mounts::collect_facts(&host, &Request::default(), &mut facts);
        record_privilege_and_environment(&host, &mut facts);
        let text = |key| facts.host_value(key).unwrap_or_else(|| "?".to_owned());
        let privileged = facts.host_value(&host::PRIVILEGED).unwrap();
        let seen_by = facts.host_value(&host::SEEN_BY);
        let seen_by = seen_by.map_or_else(|| "?".to_owned(), |from| from.to_string());
        (
            text(&host::VIRTUALISATION),
            text(&host::CONTAINER),
            seen_by,
            privileged,
        )
    }

    fn host_with_cpu_flags(flags: &str) -> FakeHost {
        FakeHost::default().with_file(
            CPUINFO,
            format!("processor\t: 0\nflags\t\t: fpu {flags} lm\n\n"),
        )
    }

    fn to_borrowed_tuple(t: &(String, String, String, bool)) -> (&str, &str, &str, bool) {
        (&t.0, &t.1, &t.2, t.3)
    }

    #[test]
    fn host_guest_and_container_are_distinguished() {
        assert_eq!(
            to_borrowed_tuple(&environment_facts(HOST, "ext4", host_with_cpu_flags("vme"))),
            ("none", "none", "host", true)
        );
        assert_eq!(
            to_borrowed_tuple(&environment_facts(
                HOST,
                "ext4",
                host_with_cpu_flags("hypervisor")
            )),
            ("vm", "none", "guest", true)
        );
        assert_eq!(
            to_borrowed_tuple(&environment_facts(
                HOST,
                "ext4",
                FakeHost::default().with_file(CPUINFO, "Features: fp\n")
            )),
            ("?", "none", "?", true)
        );
        let docker =
            host_with_cpu_flags("vme").with_answer(Question::Stat("/.dockerenv".into()), STAT);
        assert_eq!(
            to_borrowed_tuple(&environment_facts(OTHER_NAMESPACES, "overlay", docker)),
            ("none", "docker", "container", false)
        );
        let pod =
            host_with_cpu_flags("vme").with_file("/proc/self/cgroup", "0::/kubepods.slice/x\n");
        assert_eq!(
            to_borrowed_tuple(&environment_facts(OTHER_NAMESPACES, "overlay", pod)),
            ("none", "kubernetes", "container", false)
        );
        assert_eq!(
            to_borrowed_tuple(&environment_facts(
                OTHER_NAMESPACES,
                "ext4",
                host_with_cpu_flags("vme")
            ))
            .1,
            "container"
        );
    }

    #[test]
    fn container_with_host_pid_namespace_is_detected() {
        let container = |identity: &str| {
            let facts = environment_facts(identity, "ext4", host_with_cpu_flags("vme"));
            (facts.1, facts.2)
        };
        let pair = |name: &str, vantage: &str| (name.to_owned(), vantage.to_owned());
        assert_eq!(
            container(&format!("{HOST}root=other\n")),
            pair("container", "container")
        );
        assert_eq!(
            container(&format!("{HOST}root=initial\n")),
            pair("none", "host")
        );
        assert_eq!(container("euid=0\n"), pair("?", "?"));
        assert_eq!(
            environment_facts(HOST, "overlay", host_with_cpu_flags("vme")).2,
            "?"
        );
        for (mount, fstype, expected) in [
            (
                "/var/lib/docker/vfs/dir/1f /",
                "ext4",
                Some(RunEnvironment::Container),
            ),
            ("/srv/bundle/rootfs /", "ext4", None),
            ("/ /", "ext4", Some(RunEnvironment::Host)),
            ("/ /data", "ext4", None),
            ("/@ /", "btrfs", Some(RunEnvironment::Host)),
            (
                "/ostree/deploy/fedora/deploy/1f.0 /",
                "xfs",
                Some(RunEnvironment::Host),
            ),
        ] {
            let host = host_with_cpu_flags("vme")
                .with_answer(Question::Identity, HOST)
                .with_file(
                    "/proc/self/mountinfo",
                    format!("1 0 0:9 {mount} rw - {fstype} x rw\n"),
                );
            let mut facts = FactSet::default();
            mounts::collect_facts(&host, &Request::default(), &mut facts);
            record_privilege_and_environment(&host, &mut facts);
            assert_eq!(facts.host_value(&host::SEEN_BY), expected, "{mount}");
        }
    }

    #[test]
    fn dockerenv_alone_is_no_container() {
        let image = host_with_cpu_flags("hypervisor")
            .with_answer(Question::Stat("/.dockerenv".into()), STAT);
        assert_eq!(
            to_borrowed_tuple(&environment_facts(HOST, "ext4", image)),
            ("vm", "none", "guest", true)
        );
    }

    #[test]
    fn azure_is_detected_by_chassis_tag() {
        let guest = |tag: Option<&str>| {
            let host = host_with_cpu_flags("hypervisor").with_files_in_directory(
                DMI,
                &[
                    ("sys_vendor", "Microsoft Corporation"),
                    ("product_name", "Virtual Machine"),
                ],
            );
            let host = match tag {
                Some(tag) => host.with_files_in_directory(DMI, &[(CHASSIS_TAG, tag)]),
                None => host,
            };
            environment_facts(HOST, "ext4", host).0
        };
        assert_eq!(guest(Some(AZURE_CHASSIS)), "azure");
        for other in [None, Some(""), Some("other"), Some("7783-7084-3265-9085")] {
            assert_eq!(guest(other), "hyperv", "{other:?}");
        }
    }

    #[test]
    fn hypervisor_is_detected_from_dmi() {
        let dmi = |vendor: &str, product: &str, flags: &str| {
            host_with_cpu_flags(flags)
                .with_files_in_directory(DMI, &[("sys_vendor", vendor), ("product_name", product)])
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
                environment_facts(HOST, "ext4", dmi(vendor, product, flags)).0,
                expect,
                "{vendor} {product}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::Subject;
    use crate::testing::FakeHost;

    #[test]
    fn os_release_is_read_from_either_path() {
        let text = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\nVERSION_ID='12'\n";
        for path in ["/etc/os-release", "/usr/lib/os-release"] {
            let mut facts = FactSet::default();
            record_os_release(&FakeHost::default().with_file(path, text), &mut facts);
            let value = |key| facts.host_value(key).unwrap();
            assert_eq!(value(&host::OS_ID), "debian");
            assert_eq!(value(&host::OS_VERSION), "12");
            assert_eq!(value(&host::OS_NAME), "Debian GNU/Linux 12 (bookworm)");
        }
    }

    #[test]
    fn memory_and_cpu_count_are_read() {
        let mut facts = FactSet::default();
        let host =
            FakeHost::default().with_answer(Question::Resources, "memory_bytes=1024\ncpus=2\n");
        collect_facts(&host, &Request::default(), &mut facts);
        assert_eq!(facts.host_value(&host::MEMORY), Some(1024));
        assert_eq!(facts.host_value(&host::CPUS), Some(2));
        assert!(!facts.get(&Subject::host(), &host::OS_ID).is_known());
    }

    fn recorded_os_release_fields(text: &[u8]) -> [Option<String>; 3] {
        let mut facts = FactSet::default();
        record_os_release(
            &FakeHost::default().with_file("/etc/os-release", text),
            &mut facts,
        );
        [&host::OS_ID, &host::OS_VERSION, &host::OS_NAME].map(|key| facts.host_value(key))
    }

    proptest! {
        #[test]
        fn os_release_values_are_unquoted_like_shell(name in "[ -~]{0,30}", at in 0usize..3) {
            let escaped: String = name.chars().flat_map(|c| match c {
                '"' | '$' | '`' | '\\' => vec!['\\', c],
                c => vec![c],
            }).collect();
            let mut lines = vec!["ID=debian".to_owned(), "VERSION_ID='12'".to_owned()];
            lines.insert(at, format!("PRETTY_NAME=\"{escaped}\""));
            prop_assert_eq!(
                recorded_os_release_fields(lines.join("\n").as_bytes()),
                [Some("debian".to_owned()), Some("12".to_owned()), Some(display_safe(name.as_bytes()))]
            );
        }

        #[test]
        fn malformed_line_affects_only_itself(bad in prop::collection::vec(any::<u8>().prop_filter("one line", |b| *b != b'\n'), 0..30)) {
            prop_assume!(!bad.starts_with(b"ID=") && !bad.starts_with(b"VERSION_ID="));
            let [id, version, name] = recorded_os_release_fields(&[b"ID=debian\n", bad.as_slice(), b"\nVERSION_ID=12\n"].concat());
            prop_assert_eq!((id.as_deref(), version.as_deref()), (Some("debian"), Some("12")));
            prop_assert!(name.is_none_or(|name| !name.chars().any(crate::text::is_display_unsafe)));
        }

        #[test]
        fn arbitrary_answers_are_display_safe(bytes: Vec<u8>) {
            let host = FakeHost::default()
                .with_answer(Question::Resources, &bytes)
                .with_answer(Question::Identity, &bytes)
                .with_file("/proc/cpuinfo", &bytes)
                .with_file("/sys/class/dmi/id/product_name", &bytes)
                .with_file("/run/systemd/container", &bytes);
            let mut facts = FactSet::default();
            collect_facts(&host, &Request::default(), &mut facts);
            prop_assert!(!crate::testing::displayed_notes_and_readings(&facts).chars().any(crate::text::is_display_unsafe));
        }
    }
}
