# Data on ext4 as it should be, and the WAL on another disk's ext4 that is told not to flush.
#disks 2
wal_apart noatime,nobarrier
