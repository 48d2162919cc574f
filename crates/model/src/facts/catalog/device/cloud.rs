//! The clouds' services that a disk can be.

use crate::facts::choice;

choice! {
    /// Which cloud service a disk is.
    pub enum Cloud {
        AmazonEbs = "Amazon Elastic Block Store",
        AmazonInstanceStore = "Amazon EC2 instance store",
        GooglePersistentDisk = "Google persistent disk",
        GoogleLocalSsd = "Google local SSD",
        AzureManagedDisk = "Azure managed disk",
        AzureLocalDisk = "Azure local disk",
        AlibabaBlockStorage = "Alibaba Elastic Block Storage",
        OracleBlockVolume = "Oracle block volume",
    }
}
