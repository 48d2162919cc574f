//! Settings of MySQL and MariaDB that are choices, with every word that any version of either accepts. Numbers and
//! other spellings are left to the readers.

use crate::facts::choice;

choice! {
    /// How InnoDB opens and flushes its files, in the order of the numbers that stand for them.
    pub enum FlushMethod {
        Fsync = "fsync",
        Dsync = "O_DSYNC",
        Littlesync = "littlesync",
        Nosync = "nosync",
        Direct = "O_DIRECT",
        DirectNoFsync = "O_DIRECT_NO_FSYNC",
    }
}

choice! {
    /// Whether InnoDB writes pages twice.
    pub enum Doublewrite { On = "on", Off = "off", DetectOnly = "detect_only", Fast = "fast" }
}

choice! {
    /// How pages are made to tell that they are damaged.
    pub enum PageChecksum {
        Crc32 = "crc32",
        StrictCrc32 = "strict_crc32",
        Innodb = "innodb",
        StrictInnodb = "strict_innodb",
        None = "none",
        StrictNone = "strict_none",
        FullCrc32 = "full_crc32",
        StrictFullCrc32 = "strict_full_crc32",
    }
}
