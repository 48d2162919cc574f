# Configurations of tests/lab/drill-postgres. A line `### NAME` begins one, as tests/lab/sections reads them.

### btrfs-nobarrier
# btrfs told not to flush, over a disk that forgets.
make() { mkfs.btrfs -q -f -K /dev/vda; }
open() { mount -t btrfs -o noatime,nobarrier /dev/vda /drill; }
prepare() { mkdir -p $MAIN && chattr +C $MAIN; }

### btrfs
# btrfs as walwise advises it: the cluster in a directory that overwrites in place.
make() { mkfs.btrfs -q -f -K /dev/vda; }
open() { mount -t btrfs -o noatime /dev/vda /drill; }
prepare() { mkdir -p $MAIN && chattr +C $MAIN; }

### ext4-nobarrier
# ext4 told not to flush, over a disk that forgets.
make() { mkfs.ext4 -q -F -E nodiscard -m 1 /dev/vda; }
open() { mount -t ext4 -o noatime,nobarrier /dev/vda /drill; }

### ext4
# ext4 as walwise advises it.
make() { mkfs.ext4 -q -F -E nodiscard -m 1 /dev/vda; }
open() { mount -t ext4 -o noatime /dev/vda /drill; }

### fsync-off
# ext4 as walwise advises it, and fsync off.
make() { mkfs.ext4 -q -F -E nodiscard -m 1 /dev/vda; }
open() { mount -t ext4 -o noatime /dev/vda /drill; }
settings() { echo "fsync = off"; }

### full-page-writes-off
# ext4 as walwise advises it, the WAL on a disk of its own, and full_page_writes off. Pages are written out soon, and the WAL's
# flushes leave them in the cache of the data's disk until the next checkpoint, so that a cut finds some to tear.
#disks 2
wal_apart noatime
settings() {
    cat <<'SETTINGS'
full_page_writes = off
shared_buffers = 256kB
backend_flush_after = 8kB
bgwriter_flush_after = 8kB
SETTINGS
}

### override
# ext4 as it should be, over a disk of which somebody told the kernel that it has no cache.
make() { mkfs.ext4 -q -F -E nodiscard -m 1 /dev/vda; }
open() {
    echo "write through" >/sys/block/vda/queue/write_cache
    mount -t ext4 -o noatime /dev/vda /drill
}

### plan
# The plan that walwise prints for an empty disk, word for word: its script, edited as it asks to be, with its line of fstab;
# then the settings that it prints for the cluster there.
make() {
    walwise check /dev/vda --format script >/tmp/plan || [ $? -le 5 ] || return 1
    sed -e 's/^I_HAVE_READ_THIS=no /I_HAVE_READ_THIS=yes /' -e 's/^I_COMPARED_THE_DISK=no /I_COMPARED_THE_DISK=yes /' \
        -e 's|^MOUNTPOINT= |MOUNTPOINT=/drill |' -e "s|^DATABASE= |DATABASE=${MAIN#/drill/} |" -e "s|^OWNER= |OWNER=postgres |" \
        -e 's/^ADD_TO_FSTAB=no /ADD_TO_FSTAB=yes /' /tmp/plan >/tmp/edited
    : >/etc/fstab
    sh /tmp/edited >/tmp/next || return 1
    cat /tmp/next
    umount /drill
    grep -v '^#' /tmp/plan | grep -E '^(mkfs|mount)' >>/tmp/told
    cat /etc/fstab >>/tmp/told
    sed 's/^/plan: /' /tmp/told >/dev/ttyS0
}
# The second boot has the fstab that the first one wrote.
open() {
    [ "$(word step)" = write ] || word fstab | tr '|' ' ' >/etc/fstab
    mount /drill
}
# The script makes the directory.
prepare() { [ "$(stat -c %U:%a $MAIN)" = postgres:700 ]; }
# The command that the script names at its end, as lines of postgresql.conf: the server is not running yet.
settings() {
    asks=$(sed -n 's/^ *\(walwise check .*\)$/\1/p' /tmp/next)
    [ -n "$asks" ] || return 1
    sh -c "$asks --format conf" >/tmp/settings 2>>/tmp/log || [ $? -le 5 ] || return 1
    sed 's/^/plan: /' /tmp/settings >/dev/ttyS0
    cat /tmp/settings
}

### synchronous-commit-off
# ext4 as walwise advises it, and synchronous_commit off.
make() { mkfs.ext4 -q -F -E nodiscard -m 1 /dev/vda; }
open() { mount -t ext4 -o noatime /dev/vda /drill; }
settings() { echo "synchronous_commit = off"; }

### wal-nobarrier
# Data on ext4 as it should be, and the WAL on another disk's ext4 that is told not to flush.
#disks 2
wal_apart noatime,nobarrier

### xfs
# XFS as walwise advises it.
make() { mkfs.xfs -q -f -K /dev/vda; }
open() { mount -t xfs -o noatime /dev/vda /drill; }
