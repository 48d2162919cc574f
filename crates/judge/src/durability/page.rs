//! Whether a page is written completely or not at all when the power fails. Either the file system
//! never overwrites data (ZFS), or every link from the server to the device passes the page on in
//! one piece. Only Amazon documents such a chain (EC2 User Guide, *torn write prevention*).

mod link;
mod server {
    //! The upper links: page size, direct I/O of the server, kernel release.
    //!
    //! A page in the page cache reaches the disk whenever the kernel writes back, in any number of
    //! pieces; PostgreSQL writes all its pages that way.

    use super::link::{Link, LinkPlace, bytes_text};
    use crate::durability::fact_reader::FactReader;
    use crate::facts::catalog::mysql::{self, FlushMethod};
    use crate::facts::catalog::{cluster as kind, kernel};
    use crate::facts::{Area, Reading, ServerKind, Subject, UnknownReason};
    use crate::ternary::Ternary;

    /// Page size of PostgreSQL in bytes, unless built with another BLCKSZ.
    const POSTGRES_PAGE: u64 = 8192;

    /// The oldest kernel that Amazon tested (EC2 User Guide, *Requirements for using torn write
    /// prevention*).
    const TESTED_FROM: [u64; 2] = [5, 10];

    /// The page size in bytes, if known, and the links of the server.
    pub fn links(ask: &mut FactReader, cluster: &Subject) -> (Option<u64>, Vec<Link>) {
        match ask.facts.area_of(cluster) {
            Some(Area::Mysql) => {
                let page = ask.get(cluster, &mysql::PAGE_SIZE);
                let of_page = match page {
                    Some(page) => Link::new(
                        LinkPlace::Page,
                        Ternary::True,
                        format!("InnoDB's has {}", bytes_text(page)),
                    ),
                    None => Link::unknown(LinkPlace::Page, ask, cluster, &mysql::PAGE_SIZE),
                };
                (page, vec![of_page, innodb_link(ask, cluster)])
            }
            Some(Area::Pg) | None => {
                let says = "PostgreSQL writes pages through the page cache, which promises nothing";
                let of_page = Link::new(
                    LinkPlace::Page,
                    Ternary::True,
                    format!("PostgreSQL's has {}", bytes_text(POSTGRES_PAGE)),
                );
                (
                    Some(POSTGRES_PAGE),
                    vec![of_page, Link::new(LinkPlace::Server, Ternary::False, says)],
                )
            }
        }
    }

    /// How InnoDB opens its data files. From 11.0 on MariaDB has a separate setting for it.
    fn innodb_link(ask: &mut FactReader, cluster: &Subject) -> Link {
        let buffered = "InnoDB writes data files through the page cache";
        let part = LinkPlace::Server;
        if ask
            .get(cluster, &kind::KIND)
            .is_some_and(ServerKind::is_mariadb)
        {
            let key = &mysql::DATA_FILE_BUFFERING;
            match (ask.get(cluster, key), ask.facts.get(cluster, key)) {
                (Some(true), _) => {
                    return Link::new(
                        part,
                        Ternary::False,
                        format!("{buffered} (innodb_data_file_buffering is on)"),
                    );
                }
                (Some(false), _) => {
                    let says = "InnoDB writes data files with O_DIRECT (innodb_data_file_buffering is off)";
                    return Link::new(part, Ternary::True, says);
                }
                // MariaDB before 11.0 has only the flush method.
                (
                    None,
                    Reading::Unknown {
                        why: UnknownReason::Absent,
                        ..
                    },
                ) => {}
                (None, Reading::Known { .. } | Reading::Unknown { .. }) => {
                    return Link::unknown(part, ask, cluster, key);
                }
            }
        }
        let key = &mysql::FLUSH_METHOD;
        match ask.get(cluster, key) {
            Some(method @ (FlushMethod::Direct | FlushMethod::DirectNoFsync)) => {
                let says = format!(
                    "InnoDB writes data files with O_DIRECT (innodb_flush_method is {method})"
                );
                Link::new(part, Ternary::True, says)
            }
            Some(
                method @ (FlushMethod::Fsync
                | FlushMethod::Dsync
                | FlushMethod::Littlesync
                | FlushMethod::Nosync),
            ) => Link::new(
                part,
                Ternary::False,
                format!("{buffered} (innodb_flush_method is {method})"),
            ),
            None => Link::unknown(part, ask, cluster, key),
        }
    }

    pub fn kernel_link(ask: &mut FactReader) -> Link {
        let host = Subject::host();
        let Some(version) = ask.get(&host, &kernel::VERSION) else {
            return Link::unknown(LinkPlace::Kernel, ask, &host, &kernel::VERSION);
        };
        if [version.number(0), version.number(1)] >= TESTED_FROM {
            return Link::new(
                LinkPlace::Kernel,
                Ternary::True,
                format!("Linux {version} is 5.10 or later"),
            );
        }
        let says = format!("Linux {version} is older than 5.10, the first that Amazon has tested");
        Link::new(LinkPlace::Kernel, Ternary::False, says)
    }
}
mod file_system {
    //! The file system: whether a page lies in one piece at a multiple of its size, and direct I/O
    //! stays direct. Only ext4 with bigalloc is documented for it; data journaling and some
    //! encryption buffer direct I/O (`ext4_should_use_dio`, `fscrypt_dio_supported`).

    use super::link::{Link, LinkPlace, bytes_text, is_multiple};
    use crate::durability::fact_reader::FactReader;
    use crate::facts::Subject;
    use crate::facts::catalog::mount::{self, JournalMode};
    use crate::facts::catalog::target::{self, Attribute};
    use crate::ternary::Ternary;

    pub fn links(
        ask: &mut FactReader,
        of: &Subject,
        home: &Subject,
        fstype: &str,
        page: Option<u64>,
    ) -> Vec<Link> {
        if fstype != "ext4" {
            let says = format!("{fstype} is not ext4 with clusters of a page, as Amazon documents");
            return vec![Link::new(LinkPlace::FileSystem, Ternary::False, says)];
        }
        vec![cluster_link(ask, home, page), direct_io_link(ask, of, home)]
    }

    /// Whether clusters are multiples of a page, so that each page lies within one.
    fn cluster_link(ask: &mut FactReader, home: &Subject, page: Option<u64>) -> Link {
        let part = LinkPlace::FileSystem;
        let Some(features) = ask.get(home, &mount::EXT4_FEATURES) else {
            return Link::unknown(part, ask, home, &mount::EXT4_FEATURES);
        };
        if !features.iter().any(|feature| feature == "bigalloc") {
            let says = "ext4 has no clusters (bigalloc), so a page can lie in several places";
            return Link::new(part, Ternary::False, says);
        }
        let Some(cluster) = ask.get(home, &mount::EXT4_CLUSTER) else {
            return Link::unknown(part, ask, home, &mount::EXT4_CLUSTER);
        };
        let of = if cluster == 0 {
            Ternary::Unknown
        } else {
            is_multiple(page, cluster)
        };
        let says = match of {
            Ternary::True | Ternary::Unknown => {
                format!("ext4 has clusters of {}", bytes_text(cluster))
            }
            Ternary::False => format!(
                "ext4 has clusters of {}, no multiple of a page",
                bytes_text(cluster)
            ),
        };
        Link::new(part, of, says)
    }

    /// Whether direct I/O stays direct.
    fn direct_io_link(ask: &mut FactReader, of: &Subject, home: &Subject) -> Link {
        let part = LinkPlace::FileSystem;
        let data = ask.get(home, &mount::EXT4_DATA);
        match data {
            Some(JournalMode::Journal) => {
                return Link::new(
                    part,
                    Ternary::False,
                    "data=journal turns direct I/O into buffered I/O",
                );
            }
            Some(JournalMode::Ordered | JournalMode::Writeback) => {}
            None if ask.get(home, &mount::EXT4_JOURNAL) == Some(false) => {}
            None => return Link::unknown(part, ask, home, &mount::EXT4_DATA),
        }
        let journalled = |flag: &Attribute| matches!(flag, Attribute::JournalData);
        match ask.get(of, &target::FLAGS) {
            Some(flags) if flags.iter().any(journalled) => {
                return Link::new(
                    part,
                    Ternary::False,
                    "the attribute +j turns direct I/O into buffered I/O",
                );
            }
            Some(_) => {}
            None => return Link::unknown(part, ask, of, &target::FLAGS),
        }
        let features = ask.get(home, &mount::EXT4_FEATURES).unwrap_or_default();
        if features.iter().any(|feature| feature == "encrypt") {
            let says = "files may be encrypted, which can turn direct I/O into buffered I/O";
            return Link::new(part, Ternary::Unknown, says);
        }
        Link::new(part, Ternary::True, "ext4 passes direct I/O on")
    }
}
mod device;

use super::fact_reader::FactReader;
use crate::facts::catalog::mount;
use crate::facts::catalog::target::PageWrites;
use crate::facts::{FactSet, FactValue, Key, Reading, Scope, Source, Subject, UnknownReason};
use crate::ternary::Ternary;
use link::{Link, LinkPlace};

/// The copy-on-write file system, as mountinfo names it.
const ZFS: &str = "zfs";

/// What a power failure does to a page that is being written.
pub enum PageOutcome {
    /// The file system never overwrites a page.
    NeverOverwritten,
    /// Unknown: in words, and as a reading.
    Unknown(&'static str, Reading<PageWrites>),
    /// It is overwritten, through these links.
    Chain(Chain),
}

/// The links that a page passes, in order.
pub struct Chain {
    links: Vec<Link>,
}

impl Chain {
    pub fn holds(&self) -> Ternary {
        Ternary::all(self.links.iter().map(|link| link.holds))
    }

    /// The first broken link, or else the first unknown one.
    fn weakest(&self) -> Option<&Link> {
        self.links
            .iter()
            .filter(|link| link.holds != Ternary::True)
            .min_by_key(|link| link.holds)
    }
}

pub fn page_outcome(ask: &mut FactReader, of: &Subject, cluster: &Subject) -> PageOutcome {
    let unknown = "it is unknown what the file system does with pages";
    let Some(home) = ask.facts.resolve(of, Scope::Mount) else {
        return PageOutcome::Unknown(
            unknown,
            Reading::unknown(UnknownReason::Absent, "its file system was not found"),
        );
    };
    let Some(fstype) = ask.require(&home, &mount::FSTYPE) else {
        return PageOutcome::Unknown(unknown, unknown_reading(ask.facts, &home, &mount::FSTYPE));
    };
    let (page, mut links) = server::links(ask, cluster);
    if fstype == ZFS {
        return zfs_outcome(ask, &home, page);
    }
    links.push(server::kernel_link(ask));
    links.extend(file_system::links(ask, of, &home, &fstype, page));
    links.extend(device::links(ask, of, &home, page));
    PageOutcome::Chain(Chain { links })
}

/// ZFS writes each record completely, to another place.
fn zfs_outcome(ask: &mut FactReader, home: &Subject, page: Option<u64>) -> PageOutcome {
    let Some(record) = ask.require(home, &mount::ZFS_RECORD) else {
        let says = "the record size of ZFS is unknown";
        return PageOutcome::Unknown(says, unknown_reading(ask.facts, home, &mount::ZFS_RECORD));
    };
    match link::fits(page, record) {
        Ternary::True => PageOutcome::NeverOverwritten,
        Ternary::Unknown => {
            let detail = "the size of a page is not known";
            PageOutcome::Unknown(
                "the size of a page is unknown",
                Reading::unknown(UnknownReason::Absent, detail),
            )
        }
        Ternary::False => {
            let says = format!(
                "ZFS has records of {}, smaller than a page",
                link::bytes_text(record)
            );
            PageOutcome::Chain(Chain {
                links: vec![Link::new(LinkPlace::FileSystem, Ternary::False, says)],
            })
        }
    }
}

/// The unknown reading of a deciding fact.
fn unknown_reading<T: FactValue>(
    facts: &FactSet,
    of: &Subject,
    key: &Key<T>,
) -> Reading<PageWrites> {
    facts.get(of, key).then(|_, _| Reading::not_collected())
}

pub struct PageConclusion {
    pub writes: Reading<PageWrites>,
    /// The first link that does not hold.
    pub link: Reading<String>,
    pub links: Reading<Vec<String>>,
}

/// The conclusions for these servers on a target with pages; the worst counts.
pub fn page_conclusion(facts: &FactSet, of: &Subject, clusters: &[Subject]) -> PageConclusion {
    let all = clusters.iter().map(|cluster| {
        let mut ask = FactReader::new(facts);
        let page = page_outcome(&mut ask, of, cluster);
        (page, ask)
    });
    let Some((page, ask)) = all.min_by_key(|(page, _)| severity_rank(page)) else {
        let source = Source::Derived {
            of: Vec::new(),
            assumed: false,
        };
        return PageConclusion::with_unknown_links(Reading::known(PageWrites::Unknown, source));
    };
    let source = ask.dependencies.source();
    let chain = match page {
        PageOutcome::NeverOverwritten => {
            return PageConclusion::with_unknown_links(Reading::known(PageWrites::Whole, source));
        }
        PageOutcome::Unknown(_, reading) => return PageConclusion::with_unknown_links(reading),
        PageOutcome::Chain(chain) => chain,
    };
    let writes = match chain.holds() {
        Ternary::True => PageWrites::Documented,
        Ternary::Unknown => PageWrites::Unknown,
        Ternary::False => PageWrites::Broken,
    };
    let link = match chain.weakest() {
        Some(link) => Reading::known(link.summary(), source.clone()),
        None => Reading::unknown(UnknownReason::Absent, "every link holds"),
    };
    let links = chain.links.iter().map(Link::summary_with_state).collect();
    PageConclusion {
        writes: Reading::known(writes, source.clone()),
        link,
        links: Reading::known(links, source),
    }
}

impl PageConclusion {
    pub fn no_pages() -> Self {
        Self::with_unknown_links(Reading::unknown(UnknownReason::Absent, "no pages lie here"))
    }

    fn with_unknown_links(writes: Reading<PageWrites>) -> Self {
        let none = "no page passes a chain of links here";
        Self {
            writes,
            link: Reading::unknown(UnknownReason::Absent, none),
            links: Reading::unknown(UnknownReason::Absent, none),
        }
    }
}

/// Worst first.
fn severity_rank(page: &PageOutcome) -> u8 {
    match page {
        PageOutcome::Chain(chain) => match chain.holds() {
            Ternary::False => 0,
            Ternary::Unknown => 1,
            Ternary::True => 3,
        },
        PageOutcome::Unknown(..) => 2,
        PageOutcome::NeverOverwritten => 4,
    }
}
