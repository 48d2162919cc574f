//! Whether a power failure can leave a page half-written. A page stays intact if the file system
//! never overwrites data (ZFS), or if no link from the server to the device splits the page.
//!
//! Only Amazon documents such a chain of links (EC2 User Guide, *torn write prevention*).

mod device;

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

pub fn page_atomicity_basis(
    ask: &mut FactReader,
    of: &Subject,
    cluster: &Subject,
) -> AtomicityBasis {
    let unknown = "it is unknown whether the file system writes pages atomically";
    let Some(home) = ask.facts.applicable_subject(of, Scope::Mount) else {
        return AtomicityBasis::Unknown(
            unknown,
            Reading::absent("the directory's file system was not found"),
        );
    };
    let Some(fstype) = ask.read_or_record_missing(&home, &mount::FSTYPE) else {
        return AtomicityBasis::Unknown(
            unknown,
            ask.facts.get(&home, &mount::FSTYPE).into_unknown_reading(),
        );
    };
    let (page, mut links) = page_size_and_server_links(ask, cluster);
    if fstype == ZFS {
        return zfs_atomicity_basis(ask, &home, page);
    }
    links.push(kernel_version_link(ask));
    links.extend(file_system_links(ask, of, &home, &fstype, page));
    links.extend(device::device_links(ask, of, &home, page));
    AtomicityBasis::Chain(links)
}

fn zfs_atomicity_basis(ask: &mut FactReader, home: &Subject, page: Option<u64>) -> AtomicityBasis {
    let Some(record) = ask.read_or_record_missing(home, &mount::ZFS_RECORD) else {
        let says = "the ZFS record size is unknown";
        return AtomicityBasis::Unknown(
            says,
            ask.facts
                .get(home, &mount::ZFS_RECORD)
                .into_unknown_reading(),
        );
    };
    match page_fits(page, record) {
        Ternary::True => AtomicityBasis::NeverOverwritten,
        Ternary::Unknown => {
            let detail = "the page size is unknown";
            AtomicityBasis::Unknown("the page size is unknown", Reading::absent(detail))
        }
        Ternary::False => {
            let says = format!(
                "the ZFS record size is {}, smaller than a page",
                format_bytes(record)
            );
            AtomicityBasis::Chain(vec![AtomicityLink::new(
                AtomicityLinkPlace::FileSystem,
                Ternary::False,
                says,
            )])
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
    of: &Subject,
    clusters: &[Subject],
) -> PageAtomicityConclusion {
    let all = clusters.iter().map(|cluster| {
        let mut ask = FactReader::new(facts);
        let page = page_atomicity_basis(&mut ask, of, cluster);
        (page, ask)
    });
    let Some((page, ask)) = all.min_by_key(|(page, _)| severity_rank(page)) else {
        let source = FactDependencies::default().source();
        return PageAtomicityConclusion::from_page_writes(Reading::known(
            PageAtomicity::Unknown,
            source,
        ));
    };
    let source = ask.dependencies.source();
    let chain = match page {
        AtomicityBasis::NeverOverwritten => {
            return PageAtomicityConclusion::from_page_writes(Reading::known(
                PageAtomicity::Whole,
                source,
            ));
        }
        AtomicityBasis::Unknown(_, reading) => {
            return PageAtomicityConclusion::from_page_writes(reading);
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
        Self::from_page_writes(Reading::absent("no pages are stored here"))
    }

    fn from_page_writes(writes: Reading<PageAtomicity>) -> Self {
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

fn page_size_and_server_links(
    ask: &mut FactReader,
    cluster: &Subject,
) -> (Option<u64>, Vec<AtomicityLink>) {
    match ask.facts.server_area_of(cluster) {
        Some(ServerArea::Mysql) => {
            let page = ask.read_and_record_use(cluster, &mysql::PAGE_SIZE);
            let place = AtomicityLinkPlace::Page;
            let of_page =
                AtomicityLink::from_fact(place, ask, cluster, &mysql::PAGE_SIZE, |page| {
                    let says = format!("InnoDB pages are {}", format_bytes(page));
                    (Ternary::True, says)
                });
            (page, vec![of_page, innodb_direct_io_link(ask, cluster)])
        }
        Some(ServerArea::Pg) | None => {
            let says =
                "PostgreSQL writes pages through the page cache, which may split an 8 kB write";
            let of_page = AtomicityLink::new(
                AtomicityLinkPlace::Page,
                Ternary::True,
                format!("PostgreSQL pages are {}", format_bytes(POSTGRES_PAGE)),
            );
            (
                Some(POSTGRES_PAGE),
                vec![
                    of_page,
                    AtomicityLink::new(AtomicityLinkPlace::Server, Ternary::False, says),
                ],
            )
        }
    }
}

/// The link that depends on how InnoDB opens its data files: `innodb_data_file_buffering`
/// decides in MariaDB 11.0 and later, `innodb_flush_method` otherwise.
fn innodb_direct_io_link(ask: &mut FactReader, cluster: &Subject) -> AtomicityLink {
    let buffered = "InnoDB writes data files through the page cache";
    let part = AtomicityLinkPlace::Server;
    if ask
        .read_and_record_use(cluster, &kind::KIND)
        .is_some_and(ServerKind::is_mariadb)
    {
        let key = &mysql::DATA_FILE_BUFFERING;
        match (
            ask.read_and_record_use(cluster, key),
            ask.facts.get(cluster, key),
        ) {
            (Some(true), _) => {
                return AtomicityLink::new(
                    part,
                    Ternary::False,
                    format!("{buffered} (innodb_data_file_buffering is on)"),
                );
            }
            (Some(false), _) => {
                let says =
                    "InnoDB writes data files with O_DIRECT (innodb_data_file_buffering is off)";
                return AtomicityLink::new(part, Ternary::True, says);
            }
            // Before 11.0, MariaDB has only `innodb_flush_method`, which is judged below.
            (
                None,
                Reading::Unknown {
                    why: UnknownReason::Absent,
                    ..
                },
            ) => {}
            (None, Reading::Known { .. } | Reading::Unknown { .. }) => {
                return AtomicityLink::unknown(part, ask, cluster, key);
            }
        }
    }
    let key = &mysql::FLUSH_METHOD;
    match ask.read_and_record_use(cluster, key) {
        Some(method @ (InnodbFlushMethod::Direct | InnodbFlushMethod::DirectNoFsync)) => {
            let says =
                format!("InnoDB writes data files with O_DIRECT (innodb_flush_method is {method})");
            AtomicityLink::new(part, Ternary::True, says)
        }
        Some(
            method @ (InnodbFlushMethod::Fsync
            | InnodbFlushMethod::Dsync
            | InnodbFlushMethod::Littlesync
            | InnodbFlushMethod::Nosync),
        ) => AtomicityLink::new(
            part,
            Ternary::False,
            format!("{buffered} (innodb_flush_method is {method})"),
        ),
        None => AtomicityLink::unknown(part, ask, cluster, key),
    }
}

fn kernel_version_link(ask: &mut FactReader) -> AtomicityLink {
    let place = AtomicityLinkPlace::Kernel;
    AtomicityLink::from_fact(place, ask, &Subject::host(), &kernel::VERSION, |version| {
        if version.first_numbers() >= OLDEST_TESTED_KERNEL {
            return (Ternary::True, format!("Linux {version} is 5.10 or later"));
        }
        let says =
            format!("Linux {version} is older than 5.10, the first release that Amazon tested");
        (Ternary::False, says)
    })
}

// The file system link: each page must be stored contiguously at a multiple of its size, and
// direct I/O must bypass the page cache.
//
// Only ext4 with bigalloc is documented to place pages like that. Data journaling and some
// encryption buffer direct I/O (`ext4_should_use_dio`, `fscrypt_dio_supported`).

fn file_system_links(
    ask: &mut FactReader,
    of: &Subject,
    home: &Subject,
    fstype: &str,
    page: Option<u64>,
) -> Vec<AtomicityLink> {
    if fstype != "ext4" {
        let says = format!(
            "{fstype} is not ext4 with page-sized clusters, the setup that Amazon documents"
        );
        return vec![AtomicityLink::new(
            AtomicityLinkPlace::FileSystem,
            Ternary::False,
            says,
        )];
    }
    vec![
        ext4_cluster_link(ask, home, page),
        ext4_direct_io_link(ask, of, home),
    ]
}

/// Each page lies within one cluster if the cluster size is a multiple of the page size.
fn ext4_cluster_link(ask: &mut FactReader, home: &Subject, page: Option<u64>) -> AtomicityLink {
    let part = AtomicityLinkPlace::FileSystem;
    let Some(features) = ask.read_and_record_use(home, &mount::EXT4_FEATURES) else {
        return AtomicityLink::unknown(part, ask, home, &mount::EXT4_FEATURES);
    };
    if !features.iter().any(|feature| feature == "bigalloc") {
        let says = "ext4 has no clusters (bigalloc), so a page can be stored in separate blocks";
        return AtomicityLink::new(part, Ternary::False, says);
    }
    AtomicityLink::from_fact(part, ask, home, &mount::EXT4_CLUSTER, |cluster| {
        let of = if cluster == 0 {
            Ternary::Unknown
        } else {
            is_page_multiple(page, cluster)
        };
        let not = match of {
            Ternary::True | Ternary::Unknown => "",
            Ternary::False => ", not a multiple of the page size",
        };
        let says = format!("ext4's cluster size is {}{not}", format_bytes(cluster));
        (of, says)
    })
}

fn ext4_direct_io_link(ask: &mut FactReader, of: &Subject, home: &Subject) -> AtomicityLink {
    let part = AtomicityLinkPlace::FileSystem;
    let data = ask.read_and_record_use(home, &mount::EXT4_DATA);
    match data {
        Some(JournalMode::Journal) => {
            return AtomicityLink::new(
                part,
                Ternary::False,
                "data=journal turns direct I/O into buffered I/O",
            );
        }
        Some(JournalMode::Ordered | JournalMode::Writeback) => {}
        None if ask.read_and_record_use(home, &mount::EXT4_JOURNAL) == Some(false) => {}
        None => return AtomicityLink::unknown(part, ask, home, &mount::EXT4_DATA),
    }
    let journalled = |flag: &InodeFlag| matches!(flag, InodeFlag::JournalData);
    match ask.read_and_record_use(of, &target::FLAGS) {
        Some(flags) if flags.iter().any(journalled) => {
            return AtomicityLink::new(
                part,
                Ternary::False,
                "the attribute +j turns direct I/O into buffered I/O",
            );
        }
        Some(_) => {}
        None => return AtomicityLink::unknown(part, ask, of, &target::FLAGS),
    }
    let features = ask
        .read_and_record_use(home, &mount::EXT4_FEATURES)
        .unwrap_or_default();
    if features.iter().any(|feature| feature == "encrypt") {
        let says = "files may be encrypted, which can turn direct I/O into buffered I/O";
        return AtomicityLink::new(part, Ternary::Unknown, says);
    }
    AtomicityLink::new(part, Ternary::True, "ext4 passes direct I/O to the device")
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

impl AtomicityLink {
    /// `says` is a clause without a full stop.
    pub fn new(place: AtomicityLinkPlace, holds: Ternary, says: impl Into<String>) -> Self {
        Self {
            place,
            holds,
            text: says.into(),
        }
    }

    /// The link that `judge` derives from the fact: whether it holds, and a clause.
    pub fn from_fact<T: FactValue>(
        place: AtomicityLinkPlace,
        ask: &mut FactReader,
        of: &Subject,
        key: &Key<T>,
        judge: impl FnOnce(T) -> (Ternary, String),
    ) -> Self {
        match ask.read_and_record_use(of, key).map(judge) {
            Some((holds, says)) => Self::new(place, holds, says),
            None => Self::unknown(place, ask, of, key),
        }
    }

    pub fn unknown<T: FactValue>(
        place: AtomicityLinkPlace,
        ask: &FactReader,
        of: &Subject,
        key: &Key<T>,
    ) -> Self {
        let why = match ask.facts.get(of, key) {
            Reading::Unknown { why, .. } => format!(" ({why})"),
            Reading::Known { .. } => String::new(),
        };
        Self::new(
            place,
            Ternary::Unknown,
            format!("{} of {} is unknown{why}", key.name(), of.name()),
        )
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
