//! Statements of a RAID controller's own tool about the volume behind a disk.

facts! {
    /// The controller's own tool that answered: `storcli`, `perccli`, `storcli2`, `perccli2`, `MegaCli`, `ssacli`, `hpssacli`, `hpacucli`, `arcconf`.
    TOOL: String = Device "controller.tool" ValueKind::Text, identifies;
    /// Which of the controller's volumes the disk is, in the words of its tool; `none` where the controller only passes the disk on, so that its battery protects nothing.
    VOLUME: String = Device "controller.volume" ValueKind::Text, identifies;
    /// Controller model, from its tool.
    MODEL: String = Device "controller.model" ValueKind::Text, identifies;
    /// Battery or flash module behind the controller's cache, now.
    BATTERY: Battery = Device "controller.battery", prices, of_cache;
    /// Cache policy that was set.
    POLICY: Policy = Device "controller.policy", prices, of_cache;
    /// Cache policy in force now.
    POLICY_IN_FORCE: WriteMode = Device "controller.policy_in_force", prices, of_cache;
    /// What the cache does when the battery fails: falls back to `write through`, or `stays` write-back.
    ON_BATTERY_FAILURE: OnFailure = Device "controller.on_battery_failure", prices, of_cache;
    /// Why the cache does not work as it is set to, in the words of ssacli or arcconf (`Cache Status Details`).
    CACHE_DETAIL: String = Device "controller.cache_detail" ValueKind::Text, drifting;
    /// Write caches of the member disks: `off`, `on`, or the `disk default`, which is not known.
    DISK_CACHE: DiskCache = Device "controller.disk_cache", prices, of_cache;
}

choice! {
    /// State of a battery or flash module.
    pub enum Battery {
        Healthy = "healthy",
        Charging = "charging",
        /// A learn cycle runs: the battery is discharged and charged anew, and most controllers write through meanwhile.
        Learning = "learning",
        Degraded = "degraded",
        Failed = "failed",
        Absent = "absent",
        Unreadable = "unreadable",
    }
}

choice! {
    /// How a controller's cache is set to write.
    pub enum Policy { WriteBack = "write back", WriteThrough = "write through", AlwaysWriteBack = "always write back" }
}

choice! {
    /// How it writes now.
    pub enum WriteMode { WriteBack = "write back", WriteThrough = "write through" }
}

choice! {
    /// What it does when the battery fails.
    pub enum OnFailure { WriteThrough = "write through", Stays = "stays" }
}

choice! {
    /// Write caches of the member disks.
    pub enum DiskCache { Off = "off", On = "on", DiskDefault = "disk default" }
}

use crate::facts::choice;
