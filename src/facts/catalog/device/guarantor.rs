//! On whose word a disk is taken that nobody can see into.

use crate::facts::choice;

choice! {
    /// Who alone knows whether a disk keeps what it acknowledged.
    pub enum Guarantor {
        /// A drive in this machine.
        Drive = "drive",
        /// Another machine that shows a disk on the network, and whose caches it does not show.
        Array = "array",
        /// A cluster that acknowledges a write once it is stored on several machines; Ceph is the one known.
        StorageCluster = "storage cluster",
        /// The hypervisor of this guest.
        Hypervisor = "hypervisor",
        /// The provider of a cloud.
        Provider = "provider",
    }
}

impl Guarantor {
    /// Whether it acknowledges a write only once that is stored, so that there is no cache to write out.
    pub fn is_cluster(self) -> bool {
        matches!(self, Self::StorageCluster)
    }

    /// The guarantor of one disk or of several in a sentence: `the provider`, `the drives`.
    pub fn phrase(self, several: bool) -> &'static str {
        match self {
            Self::Drive if several => "the drives",
            Self::Drive => "the drive",
            Self::Array => "the array",
            Self::StorageCluster => "the Ceph cluster",
            Self::Hypervisor => "the hypervisor",
            Self::Provider => "the provider",
        }
    }
}
