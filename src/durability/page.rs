//! Whether a page that a server overwrites is written whole or not at all when the power fails.
//!
//! A file system that never overwrites anything decides that alone. On any other a page passes a chain: server, kernel, file
//! system, partition, logical volume, device. It is written whole only if every link passes it on in one piece, at a
//! place where the device promises that. One provider documents such a chain: Amazon, *torn write prevention* in the EC2
//! User Guide (EBS on Nitro, ext4 with bigalloc clusters of a page, O_DIRECT, aligned offsets). Each kind of link has a file;
//! what follows for a commit is decided in [`super::database`].

mod link;
mod server;
mod file_system;
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
        self.links.iter().filter(|link| link.holds != Truth::True).min_by_key(|link| link.holds)
    }
}

/// What becomes of the pages of a server on a target.
pub fn judge(ask: &mut Ask, of: &Subject, cluster: &Subject) -> PageFate {
    let unknown = "it is unknown what the file system does with pages";
    let Some(home) = ask.facts.resolve(of, Scope::Mount) else {
        return PageFate::Unread(unknown, Reading::unknown(Why::Absent, "its file system was not found"));
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
            PageFate::Unread("the size of a page is unknown", Reading::unknown(Why::Absent, detail))
        }
        Truth::False => {
            let says = format!("ZFS has records of {}, smaller than a page", link::size(record));
            PageFate::Chain(Chain { links: vec![Link::new(LinkPlace::FileSystem, Truth::False, says)] })
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
        let source = Source::Derived { of: Vec::new(), assumed: false };
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
        Self { writes, link: Reading::unknown(Why::Absent, none), links: Reading::unknown(Why::Absent, none) }
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
