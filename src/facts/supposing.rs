//! The consequences of assuming a fact for others that are read from the same thing; each fact declares its own.
//!
//! [`crate::pipeline::assume`] assumes and refuses. An unknown fact can always be stated, whatever is declared here,
//! because nothing was read that could contradict it.

/// The consequences of assuming a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supposing {
    /// Nothing else is read from the thing: it is assumed alone, and its consequences are concluded again.
    Alone,
    /// Other facts that are read from the thing follow.
    Carries(Propagation),
    /// It is one of several views of a thing: the known ones of these facts are assumed with it.
    With(&'static [&'static str]),
    /// It shows the same as these facts, which are assumed in its place where one of them is known.
    Instead(&'static [&'static str]),
    /// It identifies the thing, or depends on too much: another value would be another thing.
    Never,
    /// Judgement concludes it.
    Judged,
}

/// How other facts that are read from the same thing follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// Collectors conclude all of it from the fact.
    Collected,
    Mount,
    /// Options of a superblock, which every mount of it and the file system's own files show.
    Superblock,
    /// Options of a line of the next boot; those of the root may stand on the kernel command line.
    Line,
    /// The same on the kernel command line.
    RootFlags,
    /// A disk's own cache, of which the disk, its driver and its queue have a view.
    DiskCache,
    /// The battery of a controller and its policies, by which it chooses its write mode.
    Battery,
    /// The I/O scheduler of a queue; BFQ turns throttling off.
    Scheduler,
    /// The release of a server, which decides its defaults.
    Release,
}

impl Supposing {
    /// A warning before it is assumed; `None` where it is assumed like any other.
    pub fn words(self) -> Option<String> {
        match self {
            Self::Alone => None,
            Self::Carries(_) => Some("what else is read from the same thing follows".to_owned()),
            Self::With(others) => Some(format!("together with {}, where known", others.join(", "))),
            Self::Instead(leads) => Some(format!("{} instead, where known", leads.join(" or "))),
            Self::Never => Some("where nothing is known of it".to_owned()),
            Self::Judged => Some("never, as walwise concludes it; assume what it follows from".to_owned()),
        }
    }

    /// Whether judgement concludes the fact.
    pub fn is_judged(self) -> bool {
        matches!(self, Self::Judged)
    }
}
