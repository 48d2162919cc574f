//! The transports of disks, and the properties of a transport that several modules need. Other questions are answered
//! where they arise.

use crate::facts::choice;

choice! {
    /// How a disk is attached.
    pub enum Transport {
        Nvme = "nvme", Scsi = "scsi", Sata = "sata", Sas = "sas", Usb = "usb", Virtio = "virtio",
        VirtioScsi = "virtio-scsi", Xen = "xen", Vmware = "vmware", Hyperv = "hyperv", Mmc = "mmc", Pmem = "pmem",
        Network = "network", Megaraid = "megaraid", Raid = "raid", Other = "other",
    }
}

impl Transport {
    /// Whether it lies on another machine.
    pub fn is_network(self) -> bool {
        matches!(self, Self::Network)
    }

    /// Whether it is memory that the kernel calls persistent.
    pub fn is_pmem(self) -> bool {
        matches!(self, Self::Pmem)
    }

    /// Whether it is a volume of a RAID controller, or looks like one.
    pub fn is_raid(self) -> bool {
        matches!(self, Self::Megaraid | Self::Raid)
    }

    /// Whether a bridge stands before the disk that may answer for it.
    pub fn is_usb(self) -> bool {
        matches!(self, Self::Usb)
    }

    /// Whether it speaks NVMe, in this machine or over a fabric.
    pub fn is_nvme(self) -> bool {
        matches!(self, Self::Nvme)
    }

    /// Whether it hangs on a SAS adapter, which may be a RAID controller.
    pub fn is_sas(self) -> bool {
        matches!(self, Self::Sas)
    }

    /// Whether it is attached as plain disks are.
    pub fn is_sata_or_sas(self) -> bool {
        matches!(self, Self::Sata | Self::Sas)
    }

    /// Whether its word says how a disk is attached.
    pub fn is_named(self) -> bool {
        !matches!(self, Self::Other)
    }
}

choice! {
    /// What carries a disk on the network; the first three are NVMe over fabrics.
    pub enum Fabric {
        Tcp = "tcp", Rdma = "rdma", Fc = "fc", Iscsi = "iscsi", FibreChannel = "fibre channel", Nbd = "nbd", Rbd = "rbd",
    }
}
