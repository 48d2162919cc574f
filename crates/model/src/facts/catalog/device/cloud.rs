use crate::facts::choice;

choice! {
    pub enum CloudDiskService {
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
