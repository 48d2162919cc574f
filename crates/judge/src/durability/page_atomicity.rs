//! Whether a power failure can leave a page half-written. A page stays intact if the file system
//! never overwrites data (ZFS), or if no link from the server to the device splits the page.
//!
//! Only Amazon documents such a chain of links (EC2 User Guide, *torn write prevention*).

mod device;

use std::cell::RefCell;

use super::fact_reader::{FactDependencies, FactReader};
use crate::facts::catalog::mount::{self, JournalMode};
use crate::facts::catalog::mysql::{self, InnodbFlushMethod};
use crate::facts::catalog::target::{self, InodeFlag, PageAtomicity};
use crate::facts::catalog::{cluster as kind, kernel};
use crate::facts::{
    FactSet, FactValue, Key, Reading, Scope, ServerArea, ServerKind, Subject, UnknownReason, choice,
};
use crate::ternary::Ternary;
use crate::text::format_bytes;

const ZFS: &str = "zfs";

pub enum AtomicityBasis {
    NeverOverwritten,
    /// A clause that names the missing fact, and the unknown reading that
    /// `worst_page_conclusion_of_servers` returns.
    Unknown(&'static str, Reading<PageAtomicity>),
    Chain(Vec<AtomicityLink>),
}

pub fn chain_holds(links: &[AtomicityLink]) -> Ternary {
    Ternary::all(links.iter().map(|link| link.holds))
}

pub fn page_atomicity_basis(target: FactReader, cluster: &Subject) -> AtomicityBasis {
    let unknown = "it is unknown whether the file system writes pages atomically";
    let facts = target.facts;
    let Some(mount) = facts.applicable_subject(target.subject, Scope::Mount) else {
        let reading = Reading::absent("the directory's file system was not found");
        return AtomicityBasis::Unknown(unknown, reading);
    };
    let mount = target.for_subject(&mount);
    let Some(fstype) = mount.require(&mount::FSTYPE) else {
        let reading = facts.get(mount.subject, &mount::FSTYPE);
        return AtomicityBasis::Unknown(unknown, reading.into_unknown_reading());
    };
    let (page, mut links) = page_size_and_server_links(target.for_subject(cluster));
    if fstype == ZFS {
        return zfs_atomicity_basis(mount, page);
    }
    links.push(kernel_version_link(target));
    links.extend(file_system_links(target, mount, &fstype, page));
    links.extend(device::device_links(target, mount.subject, page));
    AtomicityBasis::Chain(links)
}

fn zfs_atomicity_basis(mount: FactReader, page: Option<u64>) -> AtomicityBasis {
    let key = &mount::ZFS_RECORD;
    let Some(record) = mount.require(key) else {
        let reading = mount.facts.get(mount.subject, key);
        let text = "the ZFS record size is unknown";
        return AtomicityBasis::Unknown(text, reading.into_unknown_reading());
    };
    match page_fits(page, record) {
        Ternary::True => AtomicityBasis::NeverOverwritten,
        Ternary::Unknown => {
            let text = "the page size is unknown";
            AtomicityBasis::Unknown(text, Reading::absent(text))
        }
        Ternary::False => {
            let text = format!(
                "the ZFS record size is {}, smaller than a page",
                format_bytes(record)
            );
            AtomicityBasis::Chain(vec![AtomicityLinkPlace::FileSystem.broken(text)])
        }
    }
}

pub struct PageAtomicityConclusion {
    pub writes: Reading<PageAtomicity>,
    /// The first broken link, or else the first unknown link; an unknown reading if every link
    /// holds.
    pub link: Reading<String>,
    pub links: Reading<Vec<String>>,
}

/// *Unknown* if `clusters` is empty.
pub fn worst_page_conclusion_of_servers(
    facts: &FactSet,
    target: &Subject,
    clusters: &[Subject],
) -> PageAtomicityConclusion {
    let all = clusters.iter().map(|cluster| {
        let dependencies = RefCell::default();
        let target = FactReader {
            facts,
            subject: target,
            dependencies: &dependencies,
        };
        let basis = page_atomicity_basis(target, cluster);
        let source = dependencies.borrow().source();
        (basis, source)
    });
    let (basis, source) = all
        .min_by_key(|(basis, _)| severity_rank(basis))
        .unwrap_or_else(|| {
            let source = FactDependencies::default().source();
            let unknown = Reading::known(PageAtomicity::Unknown, source.clone());
            (AtomicityBasis::Unknown("", unknown), source)
        });
    let chain = match basis {
        AtomicityBasis::NeverOverwritten => {
            let writes = Reading::known(PageAtomicity::Whole, source);
            return PageAtomicityConclusion::without_chain(writes);
        }
        AtomicityBasis::Unknown(_, reading) => {
            return PageAtomicityConclusion::without_chain(reading);
        }
        AtomicityBasis::Chain(links) => links,
    };
    let writes = match chain_holds(&chain) {
        Ternary::True => PageAtomicity::Documented,
        Ternary::Unknown => PageAtomicity::Unknown,
        Ternary::False => PageAtomicity::Broken,
    };
    let flawed = chain.iter().filter(|link| link.holds != Ternary::True);
    let link = match flawed.min_by_key(|link| link.holds) {
        Some(link) => Reading::known(link.link_text(), source.clone()),
        None => Reading::absent("no link of the chain is broken or unknown"),
    };
    let links = chain
        .iter()
        .map(AtomicityLink::link_text_with_state)
        .collect();
    PageAtomicityConclusion {
        writes: Reading::known(writes, source.clone()),
        link,
        links: Reading::known(links, source),
    }
}

impl PageAtomicityConclusion {
    pub fn not_applicable() -> Self {
        Self::without_chain(Reading::absent("no pages are stored here"))
    }

    fn without_chain(writes: Reading<PageAtomicity>) -> Self {
        let none = "no chain of links for atomic page writes was checked";
        Self {
            writes,
            link: Reading::absent(none),
            links: Reading::absent(none),
        }
    }
}

/// Sort key of an outcome: 0 is the worst.
fn severity_rank(page: &AtomicityBasis) -> u8 {
    match page {
        AtomicityBasis::Chain(links) => match chain_holds(links) {
            Ternary::False => 0,
            Ternary::Unknown => 1,
            Ternary::True => 3,
        },
        AtomicityBasis::Unknown(..) => 2,
        AtomicityBasis::NeverOverwritten => 4,
    }
}

// The upper links of the chain that keeps page writes atomic: page size, direct I/O of the
// server, kernel release.
//
// A page in the page cache reaches the disk whenever the kernel writes back, in any number of
// requests. PostgreSQL writes all its pages through the page cache.

/// PostgreSQL's default page size in bytes (BLCKSZ).
const POSTGRES_PAGE: u64 = 8192;

/// The oldest kernel that Amazon tested (EC2 User Guide, *Requirements for using torn write
/// prevention*).
const OLDEST_TESTED_KERNEL: [u64; 2] = [5, 10];

fn page_size_and_server_links(cluster: FactReader) -> (Option<u64>, Vec<AtomicityLink>) {
    let place = AtomicityLinkPlace::Page;
    match cluster.facts.server_area_of(cluster.subject) {
        Some(ServerArea::Mysql) => {
            let key = &mysql::PAGE_SIZE;
            let of_page = cluster.link(place, key, |page| {
                place.holding(format!("InnoDB pages are {}", format_bytes(page)))
            });
            (
                cluster.read(key),
                vec![of_page, innodb_direct_io_link(cluster)],
            )
        }
        Some(ServerArea::Pg) | None => {
            let text =
                "PostgreSQL writes pages through the page cache, which may split an 8 kB write";
            let of_page = format!("PostgreSQL pages are {}", format_bytes(POSTGRES_PAGE));
            (
                Some(POSTGRES_PAGE),
                vec![
                    place.holding(of_page),
                    AtomicityLinkPlace::Server.broken(text),
                ],
            )
        }
    }
}

/// The link that depends on how InnoDB opens its data files: `innodb_data_file_buffering`
/// decides in MariaDB 11.0 and later, `innodb_flush_method` otherwise.
fn innodb_direct_io_link(cluster: FactReader) -> AtomicityLink {
    let buffered = "InnoDB writes data files through the page cache";
    let place = AtomicityLinkPlace::Server;
    if cluster
        .read(&kind::KIND)
        .is_some_and(ServerKind::is_mariadb)
    {
        let key = &mysql::DATA_FILE_BUFFERING;
        match cluster.read(key) {
            Some(true) => {
                return place.broken(format!("{buffered} (innodb_data_file_buffering is on)"));
            }
            Some(false) => {
                return place.holding(
                    "InnoDB writes data files with O_DIRECT (innodb_data_file_buffering is off)",
                );
            }
            // Before 11.0, MariaDB has only `innodb_flush_method`, which is judged below.
            None if cluster.is_unknown_because(key, UnknownReason::Absent) => {}
            None => return cluster.unknown_link(place, key),
        }
    }
    cluster.link(place, &mysql::FLUSH_METHOD, |method| match method {
        InnodbFlushMethod::Direct | InnodbFlushMethod::DirectNoFsync => place.holding(format!(
            "InnoDB writes data files with O_DIRECT (innodb_flush_method is {method})"
        )),
        InnodbFlushMethod::Fsync
        | InnodbFlushMethod::Dsync
        | InnodbFlushMethod::Littlesync
        | InnodbFlushMethod::Nosync => {
            place.broken(format!("{buffered} (innodb_flush_method is {method})"))
        }
    })
}

fn kernel_version_link(reader: FactReader) -> AtomicityLink {
    let (host, place) = (Subject::host(), AtomicityLinkPlace::Kernel);
    reader
        .for_subject(&host)
        .link(place, &kernel::VERSION, |version| {
            if version.first_numbers() >= OLDEST_TESTED_KERNEL {
                return place.holding(format!("Linux {version} is 5.10 or later"));
            }
            place.broken(format!(
                "Linux {version} is older than 5.10, the first release that Amazon tested"
            ))
        })
}

// The file system link: each page must be stored contiguously at a multiple of its size, and
// direct I/O must bypass the page cache.
//
// Only ext4 with bigalloc is documented to place pages like that. Data journaling and some
// encryption buffer direct I/O (`ext4_should_use_dio`, `fscrypt_dio_supported`).

fn file_system_links(
    target: FactReader,
    mount: FactReader,
    fstype: &str,
    page: Option<u64>,
) -> Vec<AtomicityLink> {
    if fstype != "ext4" {
        let text = format!(
            "{fstype} is not ext4 with page-sized clusters, the setup that Amazon documents"
        );
        return vec![AtomicityLinkPlace::FileSystem.broken(text)];
    }
    vec![
        ext4_cluster_link(mount, page),
        ext4_direct_io_link(target, mount),
    ]
}

/// Each page lies within one cluster if the cluster size is a multiple of the page size.
fn ext4_cluster_link(mount: FactReader, page: Option<u64>) -> AtomicityLink {
    let place = AtomicityLinkPlace::FileSystem;
    let Some(features) = mount.read(&mount::EXT4_FEATURES) else {
        return mount.unknown_link(place, &mount::EXT4_FEATURES);
    };
    if !features.iter().any(|feature| feature == "bigalloc") {
        return place
            .broken("ext4 has no clusters (bigalloc), so a page can be stored in separate blocks");
    }
    mount.link(place, &mount::EXT4_CLUSTER, |cluster| {
        let holds = if cluster == 0 {
            Ternary::Unknown
        } else {
            is_page_multiple(page, cluster)
        };
        let not = match holds {
            Ternary::True | Ternary::Unknown => "",
            Ternary::False => ", not a multiple of the page size",
        };
        let text = format!("ext4's cluster size is {}{not}", format_bytes(cluster));
        AtomicityLink::new(place, holds, text)
    })
}

fn ext4_direct_io_link(target: FactReader, mount: FactReader) -> AtomicityLink {
    let place = AtomicityLinkPlace::FileSystem;
    match mount.read(&mount::EXT4_DATA) {
        Some(JournalMode::Journal) => {
            return place.broken("data=journal turns direct I/O into buffered I/O");
        }
        Some(JournalMode::Ordered | JournalMode::Writeback) => {}
        None if mount.read(&mount::EXT4_JOURNAL) == Some(false) => {}
        None => return mount.unknown_link(place, &mount::EXT4_DATA),
    }
    let journalled = |flag: &InodeFlag| matches!(flag, InodeFlag::JournalData);
    match target.read(&target::FLAGS) {
        Some(flags) if flags.iter().any(journalled) => {
            return place.broken("the attribute +j turns direct I/O into buffered I/O");
        }
        Some(_) => {}
        None => return target.unknown_link(place, &target::FLAGS),
    }
    let features = mount.read(&mount::EXT4_FEATURES).unwrap_or_default();
    if features.iter().any(|feature| feature == "encrypt") {
        let text = "files may be encrypted, which can turn direct I/O into buffered I/O";
        return AtomicityLink::new(place, Ternary::Unknown, text);
    }
    place.holding("ext4 passes direct I/O to the device")
}

/// The largest InnoDB page in bytes (innodb_page_size). PostgreSQL's largest page is smaller: 32
/// KiB (BLCKSZ).
const LARGEST_PAGE: u64 = 65536;

/// The smallest InnoDB page in bytes (innodb_page_size).
const SMALLEST_PAGE: u64 = 4096;

choice! {
    pub enum AtomicityLinkPlace {
        Page = "page",
        Server = "server",
        Kernel = "kernel",
        FileSystem = "file system",
        Partition = "partition",
        Mapping = "logical volume",
        Layer = "layer",
        Device = "device",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtomicityLink {
    pub place: AtomicityLinkPlace,
    /// Whether a page at an offset that is a multiple of its size passes this link undivided.
    pub holds: Ternary,
    text: String,
}

impl AtomicityLinkPlace {
    /// `text` is a clause without a full stop.
    pub fn holding(self, text: impl Into<String>) -> AtomicityLink {
        AtomicityLink::new(self, Ternary::True, text)
    }

    /// `text` is a clause without a full stop.
    pub fn broken(self, text: impl Into<String>) -> AtomicityLink {
        AtomicityLink::new(self, Ternary::False, text)
    }
}

impl FactReader<'_> {
    /// The link that `judge` derives from the fact.
    fn link<T: FactValue>(
        self,
        place: AtomicityLinkPlace,
        key: &Key<T>,
        judge: impl FnOnce(T) -> AtomicityLink,
    ) -> AtomicityLink {
        self.read(key)
            .map_or_else(|| self.unknown_link(place, key), judge)
    }

    fn unknown_link<T: FactValue>(self, place: AtomicityLinkPlace, key: &Key<T>) -> AtomicityLink {
        let why = match self.facts.get(self.subject, key) {
            Reading::Unknown { why, .. } => format!(" ({why})"),
            Reading::Known { .. } => String::new(),
        };
        let text = format!("{} of {} is unknown{why}", key.name(), self.name());
        AtomicityLink::new(place, Ternary::Unknown, text)
    }
}

impl AtomicityLink {
    /// `text` is a clause without a full stop.
    pub fn new(place: AtomicityLinkPlace, holds: Ternary, text: impl Into<String>) -> Self {
        Self {
            place,
            holds,
            text: text.into(),
        }
    }

    pub fn link_text(&self) -> String {
        format!("{}: {}", self.place.as_str(), self.text)
    }

    /// Place and text of the link, followed by `(holds)`, `(unknown)` or `(broken)`.
    pub fn link_text_with_state(&self) -> String {
        let comes_to = match self.holds {
            Ternary::True => "holds",
            Ternary::Unknown => "unknown",
            Ternary::False => "broken",
        };
        format!("{} ({comes_to})", self.link_text())
    }
}

fn page_fits(page: Option<u64>, bytes: u64) -> Ternary {
    match page {
        Some(page) => Ternary::from(page <= bytes),
        None if bytes >= LARGEST_PAGE => Ternary::True,
        None if bytes < SMALLEST_PAGE => Ternary::False,
        None => Ternary::Unknown,
    }
}

/// Whether an offset or a size, in bytes, is a multiple of the page size. If the page size is
/// unknown, the result is known only if it is the same for every page size.
fn is_page_multiple(page: Option<u64>, bytes: u64) -> Ternary {
    match page {
        Some(page) => bytes
            .checked_rem(page)
            .map_or(Ternary::Unknown, |rest| Ternary::from(rest == 0)),
        None if bytes.is_multiple_of(LARGEST_PAGE) => Ternary::True,
        None if !bytes.is_multiple_of(SMALLEST_PAGE) => Ternary::False,
        None => Ternary::Unknown,
    }
}

#[cfg(test)]
mod page_size_tests {
    use proptest::prelude::*;

    use super::*;

    const PAGES: [u64; 5] = [4096, 8192, 16384, 32768, 65536];

    proptest! {
        #[test]
        fn unknown_page_size_needs_all_sizes_to_agree(sectors in 0u64..1024) {
            for judge in [page_fits as fn(Option<u64>, u64) -> Ternary, is_page_multiple] {
                let of_all = PAGES.map(|page| judge(Some(page), sectors * 512));
                let unknown = judge(None, sectors * 512);
                let alike = of_all.iter().all(|one| *one == of_all[0]);
                prop_assert_eq!(unknown, if alike { of_all[0] } else { Ternary::Unknown });
            }
        }
    }

    #[test]
    fn page_size_zero_is_unknown() {
        assert_eq!(is_page_multiple(Some(0), 4096), Ternary::Unknown);
    }
}
