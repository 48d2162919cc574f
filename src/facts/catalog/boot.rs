//! The mounts of the next boot: lines of fstab, mount units, and the kernel's root flags.

facts! {
    /// Where it will be mounted.
    POINT: String = Boot "boot.point" ValueKind::Text;
    /// What will be mounted.
    SOURCE: String = Boot "boot.source" ValueKind::Text;
    /// As which file system type.
    FSTYPE: String = Boot "boot.fstype" ValueKind::Text;
    /// The type as it is written; what is mounted there now tells what `auto` or several types come to.
    WRITTEN_TYPE: String = Boot "boot.written_type" ValueKind::Text;
    /// The fifth and the sixth field of an fstab line as far as they are written, for dump(8) and for the order of checks (fstab(5)).
    DUMP_AND_PASS: String = Boot "boot.dump_and_pass" ValueKind::Text;
    /// Whether all of it was kept when it was read, so that it can be written anew; what may be a password is not kept.
    WHOLE: bool = Boot "boot.whole" ValueKind::Bool;
    /// Options written there; those outside a list of known ones are dropped when read, because they can hold passwords.
    OPTIONS: Vec<String> = Boot "boot.options" ValueKind::List;
    /// The file and line that say so.
    WHERE: String = Boot "boot.where" ValueKind::Text;
    /// Whether it is mounted without being asked (no `noauto`).
    AUTO: bool = Boot "boot.auto" ValueKind::Bool;
    /// Whether the block device it names is `there` now, by /dev and the links that udev keeps under /dev/disk; `other` where something else
    /// is there, such as /dev/null, and `none` where it names none.
    DEVICE: NamedDevice = Boot "boot.device";
    /// The type of the file system that is mounted from its device now, where it is written as another one.
    TYPE_THERE: String = Boot "boot.type_there" ValueKind::Text, concluded;
    /// The line that mounts the same file system before this one for certain, at another place.
    FIRST: String = Boot "boot.first" ValueKind::Text, concluded;
    /// Options of the file system written there that do nothing, as it has those of the line that mounts it first.
    OVERRULED: Vec<String> = Boot "boot.overruled_options" ValueKind::List, concluded;
    /// Options of the file system that hold for this line too, as the line that mounts it first has them and this one does not.
    SET_BY_FIRST: Vec<String> = Boot "boot.options_of_first" ValueKind::List, concluded;
    /// Lines that mount the same file system with other options of it, of which nothing says whether they come before or after.
    UNORDERED: Vec<String> = Boot "boot.unordered_with" ValueKind::List, concluded;
    /// Options written there without those that a later one of the line takes back, and those that do nothing because another line
    /// mounts the same file system first.
    IN_EFFECT: Vec<String> = Boot "boot.options_in_effect" ValueKind::List, judged;
    /// Its file system type, where this kernel is known to have no such file system; otherwise nothing.
    REFUSED_TYPE: Vec<String> = Boot "boot.refused_type" ValueKind::List, judged;
    /// Options that this kernel refuses: the mount will fail.
    REFUSED: Vec<String> = Boot "boot.refused_options" ValueKind::List, judged;
    /// Options that this kernel accepts and ignores.
    NO_EFFECT: Vec<String> = Boot "boot.ineffective_options" ValueKind::List, judged;
    /// Options that this kernel takes with a warning.
    DEPRECATED: Vec<String> = Boot "boot.deprecated_options" ValueKind::List, judged;
    /// Options that only say what is the default anyway.
    DEFAULT_ANYWAY: Vec<String> = Boot "boot.default_options" ValueKind::List, judged;
    /// Whether every file that says what the next boot mounts was read.
    READ: bool = Host "boot.read" ValueKind::Bool;
    /// What the next boot swaps to: the devices and files of fstab, and swap units by name.
    SWAPS: Vec<String> = Host "boot.swaps" ValueKind::List;
    /// Those of them that are not there.
    SWAPS_MISSING: Vec<String> = Host "boot.swaps_missing" ValueKind::List;
    /// Those of them that are there and no swap: a directory, a character device, or a device whose file system is mounted.
    SWAPS_UNFIT: Vec<String> = Host "boot.swaps_unfit" ValueKind::List;
    /// Those of them of which it is not known whether they will be there as swap: what is no active swap now, and what has options that are
    /// not known.
    SWAPS_UNSEEN: Vec<String> = Host "boot.swaps_unseen" ValueKind::List;
    /// Names of the encrypted devices that the next boot unlocks, from crypttab(5).
    UNLOCKED: Vec<String> = Host "boot.unlocked" ValueKind::List;
    /// Those of them without which the boot goes on (nofail).
    UNLOCKED_OPTIONAL: Vec<String> = Host "boot.unlocked_optional" ValueKind::List;
    /// Those of them whose device is not there, or is no block device.
    UNLOCKED_MISSING: Vec<String> = Host "boot.unlocked_missing" ValueKind::List;
    /// Those of them of whose device, key or options not all is known, or that are not unlocked now.
    UNLOCKED_UNSEEN: Vec<String> = Host "boot.unlocked_unseen" ValueKind::List;
    /// Those of them that have no header, by their line or as they are unlocked now, and whose line does not name both cipher and hash, so that
    /// cryptsetup's defaults decide.
    UNLOCKED_BY_DEFAULTS: Vec<String> = Host "boot.unlocked_by_defaults" ValueKind::List;
    /// Parameters of the kernel's command line by which something is mounted, unlocked or swapped to and that are not looked at, or
    /// that wait for what is not there now (kernel-command-line(7), dracut.cmdline(7)).
    PARAMETERS_UNREAD: Vec<String> = Host "boot.parameters_unread" ValueKind::List;
    /// Options of which it cannot be said what this kernel does.
    UNDECIDED: Vec<String> = Boot "boot.undecided_options" ValueKind::List, judged;
}

choice! {
    /// Whether the device that a line names is there.
    pub enum NamedDevice { There = "there", Missing = "missing", Other = "other", None = "none" }
}

use crate::facts::choice;
