//! What a RAID controller's own tool says of the volume that a disk really is.

facts! {
    /// The controller's own tool that answered: `storcli`, `perccli`, `MegaCli`, `ssacli`, `hpssacli`, `hpacucli`, `arcconf`.
    TOOL: String = Device "controller.tool" Kind::Text;
    /// Which of the controller's volumes the disk is, in the words of its tool; `none` where the controller only passes the disk on, so that its battery protects nothing.
    VOLUME: String = Device "controller.volume" Kind::Text;
    /// Controller model, from its tool.
    MODEL: String = Device "controller.model" Kind::Text;
    /// Battery or flash module behind the controller's cache, now.
    BATTERY: String = Device "controller.battery"
        Kind::Choice(&["healthy", "charging", "learning", "degraded", "failed", "absent", "unreadable"]), prices;
    /// Cache policy that was set.
    POLICY: String = Device "controller.policy"
        Kind::Choice(&["write back", "write through", "always write back"]), prices;
    /// Cache policy in force now.
    POLICY_IN_FORCE: String = Device "controller.policy_in_force" Kind::Choice(&["write back", "write through"]), prices;
    /// What the cache does when the battery fails: falls back to `write through`, or `stays` write-back.
    ON_BATTERY_FAILURE: String = Device "controller.on_battery_failure" Kind::Choice(&["write through", "stays"]), prices;
    /// Write caches of the member disks: `off`, `on`, or the `disk default`, which is not known.
    DISK_CACHE: String = Device "controller.disk_cache" Kind::Choice(&["off", "on", "disk default"]), prices;
}
