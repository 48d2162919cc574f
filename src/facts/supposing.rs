//! What supposing a fact comes to, by what else is read from the same thing; every fact has one, where it is declared.
//!
//! Who supposes and who refuses is in [`crate::pipeline::assume`]. The surprise: what is not known can be stated whatever stands
//! here, as then nothing was read from the thing that could be left as it was.

/// What supposing a fact comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supposing {
    /// Nothing else is read from the thing: it is supposed alone, and what is concluded from it is concluded anew.
    Alone,
    /// What else is read from the thing follows.
    Carries(Cause),
    /// It is one of several views of a thing: those of these facts that are known are supposed with it.
    With(&'static [&'static str]),
    /// It shows what these facts say, which are supposed in its place where one of them is known.
    Instead(&'static [&'static str]),
    /// It tells which thing this is, or follows from too many: another value would be another thing.
    Never,
    /// Judgement concludes it.
    Judged,
}

/// How what is read from the same thing follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Collectors conclude all of it from the fact.
    Collected,
    /// Options of one mount.
    Mount,
    /// Options of a superblock, which every mount of it and the file system's own files show.
    Superblock,
    /// Options of a line of the next boot; those of the root may stand on the kernel command line.
    Line,
    /// The same on the kernel command line.
    RootFlags,
    /// A disk's own cache, of which the disk, its driver and its queue speak.
    DiskCache,
    /// The battery of a controller and its policies, by which it chooses how it writes.
    Battery,
    /// The I/O scheduler of a queue, one of which turns throttling off.
    Scheduler,
    /// The release of a server, by which it takes what nothing sets.
    Release,
}

impl Supposing {
    /// What there is to know before it is assumed; nothing where it is assumed like any other.
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
        match self {
            Self::Judged => true,
            Self::Alone | Self::Carries(_) | Self::With(_) | Self::Instead(_) | Self::Never => false,
        }
    }
}
