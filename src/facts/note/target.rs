//! Notes about the requested target, and why it cannot be one.

use super::notes;

notes! {
    /// Notes about a path that was named as the target.
    pub enum TargetNote {
        /// A file, where a directory belongs.
        File { path: String } = "{path} is a file: name its directory";
        /// Neither a directory nor a device.
        NoPlace { path: String } = "{path} is neither a block device nor a directory: no database can be on it";
        /// It is not there; another may have been meant, or it may be to be made.
        Absence { path: String, meant: Option<String>, new: bool }
            = "{path} does not exist{meant}{new}",
            meant = meant.as_ref().map(|meant| format!("; did you mean {meant}?")).unwrap_or_default(),
            new = if *new { "; add --new for a directory that does not exist yet" } else { "" };
        /// The same where it may be made, and nothing that it could be made in is there.
        NoParent { path: String } = "{path} does not exist, nor does any directory above it";
        /// A link that leads nowhere.
        DeadLink { path: String, to: String } = "{path} is a link to {to}, which does not exist";
        /// Something else than a directory on the way.
        FileAbove { path: String, parent: String } = "{path} cannot become a directory: {parent} is a file";
        /// The name of a device that is none.
        NoDevice { path: String } = "{path}: there is no such device";
        /// A device that could not be looked at.
        StrangeDevice { path: String, reason: String } = "{path}: nothing is known of such a device: {reason}";
        /// A device that the kernel does not list.
        NoKernelDevice { path: String }
            = "{path} is a block device that /sys/dev/block does not list: nothing is known of it";
        /// A path that could not be examined, and is used as named.
        PathAsNamed { path: String, reason: String }
            = "{path}: {reason}: it is taken for a directory, as it is written";
        /// A path that could not be examined.
        Refusal { path: String, reason: String } = "{path}: {reason}";
        /// A device that is mounted.
        MountPoint { path: String, point: String } = "{path} is mounted on {point}: the target is that directory";
    }
}
