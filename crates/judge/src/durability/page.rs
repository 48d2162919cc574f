//! Whether a page that a server overwrites is written whole or not at all when the power fails.
//!
//! A file system that never overwrites anything decides that alone. On any other a page passes a
//! chain: server, kernel, file system, partition, logical volume, device. It is written whole only
//! if every link passes it on in one piece, at a place where the device promises that. One provider
//! documents such a chain: Amazon, *torn write prevention* in the EC2 User Guide (EBS on Nitro,
//! ext4 with bigalloc clusters of a page, O_DIRECT, aligned offsets). Each kind of link has a file;
//! what follows for a commit is decided in [`super::database`].

mod link;
mod server {
    //! The upper links: the size of a page, whether the server writes it past the page cache, and
    //! the kernel's release.
    //!
    //! A page that is written through the page cache reaches the disk whenever the kernel writes
    //! back, in as many pieces as it likes. PostgreSQL writes all its pages so, whatever the
    //! storage promises.

    use super::link::{Link, LinkPlace, size};
    use crate::durability::ask::Ask;
    use crate::facts::catalog::mysql::{self, FlushMethod};
    use crate::facts::catalog::{cluster as kind, kernel};
    use crate::facts::{Area, Reading, ServerKind, Subject, Why};
    use crate::truth::Truth;

    /// Size of a page of PostgreSQL, in bytes, unless it was built otherwise (BLCKSZ).
    const POSTGRES_PAGE: u64 = 8192;

    /// The oldest kernel with which Amazon has tested it (EC2 User Guide, *Requirements for using
    /// torn write prevention*).
    const TESTED_FROM: [u64; 2] = [5, 10];

    /// The size of a page in bytes, where it is known, and the links of the server.
    pub fn links(ask: &mut Ask, cluster: &Subject) -> (Option<u64>, Vec<Link>) {
        match ask.facts.area_of(cluster) {
            Some(Area::Mysql) => {
                let page = ask.value(cluster, &mysql::PAGE_SIZE);
                let of_page = match page {
                    Some(page) => Link::new(
                        LinkPlace::Page,
                        Truth::True,
                        format!("InnoDB's has {}", size(page)),
                    ),
                    None => Link::unread(LinkPlace::Page, ask, cluster, &mysql::PAGE_SIZE),
                };
                (page, vec![of_page, innodb(ask, cluster)])
            }
            Some(Area::Pg) | None => {
                let says = "PostgreSQL writes pages through the page cache, which promises nothing";
                let of_page = Link::new(
                    LinkPlace::Page,
                    Truth::True,
                    format!("PostgreSQL's has {}", size(POSTGRES_PAGE)),
                );
                (
                    Some(POSTGRES_PAGE),
                    vec![of_page, Link::new(LinkPlace::Server, Truth::False, says)],
                )
            }
        }
    }

    /// How InnoDB opens its data files. From 11.0 on MariaDB has a setting of its own for that.
    fn innodb(ask: &mut Ask, cluster: &Subject) -> Link {
        let buffered = "InnoDB writes data files through the page cache";
        let part = LinkPlace::Server;
        if ask
            .value(cluster, &kind::KIND)
            .is_some_and(ServerKind::is_mariadb)
        {
            let key = &mysql::DATA_FILE_BUFFERING;
            match (ask.value(cluster, key), ask.facts.get(cluster, key)) {
                (Some(true), _) => {
                    return Link::new(
                        part,
                        Truth::False,
                        format!("{buffered} (innodb_data_file_buffering is on)"),
                    );
                }
                (Some(false), _) => {
                    let says = "InnoDB writes data files with O_DIRECT (innodb_data_file_buffering is off)";
                    return Link::new(part, Truth::True, says);
                }
                // Releases before 11.0 have only the flush method.
                (
                    None,
                    Reading::Unknown {
                        why: Why::Absent, ..
                    },
                ) => {}
                (None, Reading::Known { .. } | Reading::Unknown { .. }) => {
                    return Link::unread(part, ask, cluster, key);
                }
            }
        }
        let key = &mysql::FLUSH_METHOD;
        match ask.value(cluster, key) {
            Some(method @ (FlushMethod::Direct | FlushMethod::DirectNoFsync)) => {
                let says = format!(
                    "InnoDB writes data files with O_DIRECT (innodb_flush_method is {method})"
                );
                Link::new(part, Truth::True, says)
            }
            Some(
                method @ (FlushMethod::Fsync
                | FlushMethod::Dsync
                | FlushMethod::Littlesync
                | FlushMethod::Nosync),
            ) => Link::new(
                part,
                Truth::False,
                format!("{buffered} (innodb_flush_method is {method})"),
            ),
            None => Link::unread(part, ask, cluster, key),
        }
    }

    /// Whether the kernel is one with which the chain was tested.
    pub fn kernel(ask: &mut Ask) -> Link {
        let host = Subject::host();
        let Some(version) = ask.value(&host, &kernel::VERSION) else {
            return Link::unread(LinkPlace::Kernel, ask, &host, &kernel::VERSION);
        };
        if [version.number(0), version.number(1)] >= TESTED_FROM {
            return Link::new(
                LinkPlace::Kernel,
                Truth::True,
                format!("Linux {version} is 5.10 or later"),
            );
        }
        let says = format!("Linux {version} is older than 5.10, the first that Amazon has tested");
        Link::new(LinkPlace::Kernel, Truth::False, says)
    }
}
mod file_system {
    //! The link of the file system: whether it puts a page in one piece at a multiple of its size,
    //! and whether it passes direct I/O on. Only ext4 with the feature bigalloc is documented for
    //! that (Documentation/filesystems/ext4/bigalloc.rst).
    //!
    //! ext4 turns direct I/O into buffered I/O where data goes through the journal, and for some
    //! encrypted files (`ext4_should_use_dio` in fs/ext4/file.c, `fscrypt_dio_supported` in
    //! fs/crypto/inline_crypt.c).

    use super::link::{Link, LinkPlace, multiple, size};
    use crate::durability::ask::Ask;
    use crate::facts::Subject;
    use crate::facts::catalog::mount::{self, JournalMode};
    use crate::facts::catalog::target::{self, Attribute};
    use crate::truth::Truth;

    /// The links of the file system of a target.
    pub fn links(
        ask: &mut Ask,
        of: &Subject,
        home: &Subject,
        fstype: &str,
        page: Option<u64>,
    ) -> Vec<Link> {
        if fstype != "ext4" {
            let says = format!("{fstype} is not ext4 with clusters of a page, as Amazon documents");
            return vec![Link::new(LinkPlace::FileSystem, Truth::False, says)];
        }
        vec![clusters(ask, home, page), direct(ask, of, home)]
    }

    /// Whether clusters are multiples of a page, so that each page lies within one.
    fn clusters(ask: &mut Ask, home: &Subject, page: Option<u64>) -> Link {
        let part = LinkPlace::FileSystem;
        let Some(features) = ask.value(home, &mount::EXT4_FEATURES) else {
            return Link::unread(part, ask, home, &mount::EXT4_FEATURES);
        };
        if !features.iter().any(|feature| feature == "bigalloc") {
            let says = "ext4 has no clusters (bigalloc), so a page can lie in several places";
            return Link::new(part, Truth::False, says);
        }
        let Some(cluster) = ask.value(home, &mount::EXT4_CLUSTER) else {
            return Link::unread(part, ask, home, &mount::EXT4_CLUSTER);
        };
        let of = if cluster == 0 {
            Truth::Unknown
        } else {
            multiple(page, cluster)
        };
        let says = match of {
            Truth::True | Truth::Unknown => format!("ext4 has clusters of {}", size(cluster)),
            Truth::False => format!(
                "ext4 has clusters of {}, no multiple of a page",
                size(cluster)
            ),
        };
        Link::new(part, of, says)
    }

    /// Whether direct I/O stays direct.
    fn direct(ask: &mut Ask, of: &Subject, home: &Subject) -> Link {
        let part = LinkPlace::FileSystem;
        let data = ask.value(home, &mount::EXT4_DATA);
        match data {
            Some(JournalMode::Journal) => {
                return Link::new(
                    part,
                    Truth::False,
                    "data=journal turns direct I/O into buffered I/O",
                );
            }
            Some(JournalMode::Ordered | JournalMode::Writeback) => {}
            None if ask.value(home, &mount::EXT4_JOURNAL) == Some(false) => {}
            None => return Link::unread(part, ask, home, &mount::EXT4_DATA),
        }
        let journalled = |flag: &Attribute| matches!(flag, Attribute::JournalData);
        match ask.value(of, &target::FLAGS) {
            Some(flags) if flags.iter().any(journalled) => {
                return Link::new(
                    part,
                    Truth::False,
                    "the attribute +j turns direct I/O into buffered I/O",
                );
            }
            Some(_) => {}
            None => return Link::unread(part, ask, of, &target::FLAGS),
        }
        let features = ask.value(home, &mount::EXT4_FEATURES).unwrap_or_default();
        if features.iter().any(|feature| feature == "encrypt") {
            let says = "files may be encrypted, which can turn direct I/O into buffered I/O";
            return Link::new(part, Truth::Unknown, says);
        }
        Link::new(part, Truth::True, "ext4 passes direct I/O on")
    }
}
mod device;

use super::ask::Ask;
use crate::facts::catalog::mount;
use crate::facts::catalog::target::PageWrites;
use crate::facts::{FactSet, FactValue, Key, Reading, Scope, Source, Subject, Why};
use crate::truth::Truth;
use link::{Link, LinkPlace};

/// The file system that never overwrites a page, as mountinfo calls it.
const ZFS: &str = "zfs";

/// What becomes of a page.
pub enum PageFate {
    /// The file system never overwrites one.
    Whole,
    /// What the file system does is unknown: in words, and as a reading.
    Unread(&'static str, Reading<PageWrites>),
    /// It is overwritten, by way of these links.
    Chain(Chain),
}

/// The links that a page passes, in order.
pub struct Chain {
    links: Vec<Link>,
}

impl Chain {
    /// Whether every link holds.
    pub fn holds(&self) -> Truth {
        Truth::every(self.links.iter().map(|link| link.holds))
    }

    /// The first link that is broken, or else the first that is unknown.
    fn weakest(&self) -> Option<&Link> {
        self.links
            .iter()
            .filter(|link| link.holds != Truth::True)
            .min_by_key(|link| link.holds)
    }
}

/// What becomes of the pages of a server on a target.
pub fn judge(ask: &mut Ask, of: &Subject, cluster: &Subject) -> PageFate {
    let unknown = "it is unknown what the file system does with pages";
    let Some(home) = ask.facts.resolve(of, Scope::Mount) else {
        return PageFate::Unread(
            unknown,
            Reading::unknown(Why::Absent, "its file system was not found"),
        );
    };
    let Some(fstype) = ask.need(&home, &mount::FSTYPE) else {
        return PageFate::Unread(unknown, unread(ask.facts, &home, &mount::FSTYPE));
    };
    let (page, mut links) = server::links(ask, cluster);
    if fstype == ZFS {
        return on_zfs(ask, &home, page);
    }
    links.push(server::kernel(ask));
    links.extend(file_system::links(ask, of, &home, &fstype, page));
    links.extend(device::links(ask, of, &home, page));
    PageFate::Chain(Chain { links })
}

/// ZFS writes a record whole, and elsewhere.
fn on_zfs(ask: &mut Ask, home: &Subject, page: Option<u64>) -> PageFate {
    let Some(record) = ask.need(home, &mount::ZFS_RECORD) else {
        let says = "the record size of ZFS is unknown";
        return PageFate::Unread(says, unread(ask.facts, home, &mount::ZFS_RECORD));
    };
    match link::fits(page, record) {
        Truth::True => PageFate::Whole,
        Truth::Unknown => {
            let detail = "the size of a page is not known";
            PageFate::Unread(
                "the size of a page is unknown",
                Reading::unknown(Why::Absent, detail),
            )
        }
        Truth::False => {
            let says = format!(
                "ZFS has records of {}, smaller than a page",
                link::size(record)
            );
            PageFate::Chain(Chain {
                links: vec![Link::new(LinkPlace::FileSystem, Truth::False, says)],
            })
        }
    }
}

/// The unknown reading of a fact that decides.
fn unread<T: FactValue>(facts: &FactSet, of: &Subject, key: &Key<T>) -> Reading<PageWrites> {
    facts.get(of, key).then(|_, _| Reading::not_collected())
}

/// The conclusions about the pages on a target.
pub struct PageConclusion {
    pub writes: Reading<PageWrites>,
    /// The first link that does not hold.
    pub link: Reading<String>,
    pub links: Reading<Vec<String>>,
}

/// The conclusions about a target on which pages can lie, with these servers; the worst counts.
pub fn conclude(facts: &FactSet, of: &Subject, clusters: &[Subject]) -> PageConclusion {
    let all = clusters.iter().map(|cluster| {
        let mut ask = Ask::new(facts);
        let page = judge(&mut ask, of, cluster);
        (page, ask)
    });
    let Some((page, ask)) = all.min_by_key(|(page, _)| rank(page)) else {
        let source = Source::Derived {
            of: Vec::new(),
            assumed: false,
        };
        return PageConclusion::none(Reading::known(PageWrites::Unknown, source));
    };
    let source = ask.asked.source();
    let chain = match page {
        PageFate::Whole => return PageConclusion::none(Reading::known(PageWrites::Whole, source)),
        PageFate::Unread(_, reading) => return PageConclusion::none(reading),
        PageFate::Chain(chain) => chain,
    };
    let writes = match chain.holds() {
        Truth::True => PageWrites::Documented,
        Truth::Unknown => PageWrites::Unknown,
        Truth::False => PageWrites::Broken,
    };
    let link = match chain.weakest() {
        Some(link) => Reading::known(link.told(), source.clone()),
        None => Reading::unknown(Why::Absent, "every link holds"),
    };
    let links = chain.links.iter().map(Link::listed).collect();
    PageConclusion {
        writes: Reading::known(writes, source.clone()),
        link,
        links: Reading::known(links, source),
    }
}

impl PageConclusion {
    /// The conclusions about a target on which no pages lie.
    pub fn elsewhere() -> Self {
        Self::none(Reading::unknown(Why::Absent, "no pages lie here"))
    }

    /// The conclusions where there are no links.
    fn none(writes: Reading<PageWrites>) -> Self {
        let none = "no page is written by way of links here";
        Self {
            writes,
            link: Reading::unknown(Why::Absent, none),
            links: Reading::unknown(Why::Absent, none),
        }
    }
}

/// How bad it is, the worst first.
fn rank(page: &PageFate) -> u8 {
    match page {
        PageFate::Chain(chain) => match chain.holds() {
            Truth::False => 0,
            Truth::Unknown => 1,
            Truth::True => 3,
        },
        PageFate::Unread(..) => 2,
        PageFate::Whole => 4,
    }
}
