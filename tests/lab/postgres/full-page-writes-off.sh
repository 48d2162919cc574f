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
