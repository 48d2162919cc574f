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
        match self {
            Self::Network => true,
            Self::Nvme
            | Self::Scsi
            | Self::Sata
            | Self::Sas
            | Self::Usb
            | Self::Virtio
            | Self::VirtioScsi
            | Self::Xen
            | Self::Vmware
            | Self::Hyperv
            | Self::Mmc
            | Self::Pmem
            | Self::Megaraid
            | Self::Raid
            | Self::Other => false,
        }
    }

    /// Whether it is memory that the kernel calls persistent.
    pub fn is_pmem(self) -> bool {
        match self {
            Self::Pmem => true,
            Self::Nvme
            | Self::Scsi
            | Self::Sata
            | Self::Sas
            | Self::Usb
            | Self::Virtio
            | Self::VirtioScsi
            | Self::Xen
            | Self::Vmware
            | Self::Hyperv
            | Self::Mmc
            | Self::Network
            | Self::Megaraid
            | Self::Raid
            | Self::Other => false,
        }
    }

    /// Whether it is a volume of a RAID controller, or looks like one.
    pub fn is_raid(self) -> bool {
        match self {
            Self::Megaraid | Self::Raid => true,
            Self::Nvme
            | Self::Scsi
            | Self::Sata
            | Self::Sas
            | Self::Usb
            | Self::Virtio
            | Self::VirtioScsi
            | Self::Xen
            | Self::Vmware
            | Self::Hyperv
            | Self::Mmc
            | Self::Pmem
            | Self::Network
            | Self::Other => false,
        }
    }

    /// Whether a bridge stands before the disk that may answer for it.
    pub fn is_usb(self) -> bool {
        match self {
            Self::Usb => true,
            Self::Nvme
            | Self::Scsi
            | Self::Sata
            | Self::Sas
            | Self::Virtio
            | Self::VirtioScsi
            | Self::Xen
            | Self::Vmware
            | Self::Hyperv
            | Self::Mmc
            | Self::Pmem
            | Self::Network
            | Self::Megaraid
            | Self::Raid
            | Self::Other => false,
        }
    }

    /// Whether it speaks NVMe, in this machine or over a fabric.
    pub fn is_nvme(self) -> bool {
        match self {
            Self::Nvme => true,
            Self::Scsi
            | Self::Sata
            | Self::Sas
            | Self::Usb
            | Self::Virtio
            | Self::VirtioScsi
            | Self::Xen
            | Self::Vmware
            | Self::Hyperv
            | Self::Mmc
            | Self::Pmem
            | Self::Network
            | Self::Megaraid
            | Self::Raid
            | Self::Other => false,
        }
    }

    /// Whether it hangs on a SAS adapter, which may be a RAID controller.
    pub fn is_sas(self) -> bool {
        match self {
            Self::Sas => true,
            Self::Nvme
            | Self::Scsi
            | Self::Sata
            | Self::Usb
            | Self::Virtio
            | Self::VirtioScsi
            | Self::Xen
            | Self::Vmware
            | Self::Hyperv
            | Self::Mmc
            | Self::Pmem
            | Self::Network
            | Self::Megaraid
            | Self::Raid
            | Self::Other => false,
        }
    }

    /// Whether it is attached as plain disks are.
    pub fn is_sata_or_sas(self) -> bool {
        match self {
            Self::Sata | Self::Sas => true,
            Self::Nvme
            | Self::Scsi
            | Self::Usb
            | Self::Virtio
            | Self::VirtioScsi
            | Self::Xen
            | Self::Vmware
            | Self::Hyperv
            | Self::Mmc
            | Self::Pmem
            | Self::Network
            | Self::Megaraid
            | Self::Raid
            | Self::Other => false,
        }
    }

    /// Whether its word says how a disk is attached.
    pub fn is_named(self) -> bool {
        match self {
            Self::Nvme
            | Self::Scsi
            | Self::Sata
            | Self::Sas
            | Self::Usb
            | Self::Virtio
            | Self::VirtioScsi
            | Self::Xen
            | Self::Vmware
            | Self::Hyperv
            | Self::Mmc
            | Self::Pmem
            | Self::Network
            | Self::Megaraid
            | Self::Raid => true,
            Self::Other => false,
        }
    }
}

choice! {
    /// What carries a disk on the network; the first three are NVMe over fabrics.
    pub enum Fabric {
        Tcp = "tcp", Rdma = "rdma", Fc = "fc", Iscsi = "iscsi", FibreChannel = "fibre channel", Nbd = "nbd", Rbd = "rbd",
    }
}
