//! Notes about mounts, present and at the next boot.

use super::notes;
use crate::facts::Why;

notes! {
    /// Notes about the mount table.
    pub enum MountNote {
        NoTable { file: &'static str, reason: String } = "{file}: {reason}; no mount is known";
        MalformedLine { file: &'static str, line: u32, complaint: &'static str }
            = "{file}:{line}: {complaint}; the line was left out";
        /// More mounts than have facts.
        BeyondBound { left_out: usize, bound: usize }
            = "mounts beyond the bound of {bound}: {left_out}; what lies on them is unknown";
        /// A space within a field, where it ends the field.
        BareSpace { file: &'static str, line: u32 }
            = "{file}:{line}: a space that is not escaped; the text after it was read as further options";
    }
}

notes! {
    /// Notes about lines and units that mount at boot.
    pub enum BootNote {
        /// A source of boot mounts could not be read, so a mount without any line may be mounted nevertheless.
        Gap { detail: String, why: Why } = "{detail} ({why}): it is unknown what it mounts at boot";
        /// A line with too many fields.
        ExcessNumbers { file: &'static str, line: u32 }
            = "{file}:{line}: more than two numbers follow the options, as after a space that is not escaped; systemd leaves \
               that out, mount(8) the whole line";
        /// A line that mounts nothing.
        NoMountLine { file: &'static str, line: u32 }
            = "{file}:{line}: not a device, an absolute mount point and a type; the line was left out";
        /// A unit that mounts nothing.
        NoMountPoint { unit: String } = "{unit}: no mount point in it; the unit was left out";
        /// A unit that systemd does not load.
        OtherName { unit: String }
            = "{unit}: its name is not that of its mount point, so systemd refuses it; the unit was left out";
    }
}
