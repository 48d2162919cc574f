# Stacks of the lab: mount options, each and in lines, tried on the kernel of the guest. A line `### NAME` begins one, as tests/lab/sections reads them.

### lines-btrfs
# The lines of options of btrfs in tests/lab/guest/option-lines, tried on this kernel.
device=$(disk cache-a)
mkfs.btrfs -q -f -K "$device"
sed -n 's/^btrfs //p' /option-lines | tried btrfs "$device"
put "$device" btrfs
#= taken > 40 and taken_but_called_refused == []
#= refused > 15 and refused_but_called_taken == []
#= undecided_lines == []

### lines-ext4
# The lines of options of ext4 in tests/lab/guest/option-lines, tried on this kernel.
device=$(disk cache-a)
mke2fs -q -F -E nodiscard -t ext4 "$device"
sed -n 's/^ext4 //p' /option-lines | tried ext4 "$device"
put "$device" ext4
#= taken > 40 and taken_but_called_refused == []
#= refused > 20 and refused_but_called_taken == []
#= undecided_lines == []

### lines-xfs
# The lines of options of XFS in tests/lab/guest/option-lines, tried on this kernel.
device=$(disk cache-a)
mkfs.xfs -q -f -K "$device"
sed -n 's/^xfs //p' /option-lines | tried xfs "$device"
put "$device" xfs
#= taken > 40 and taken_but_called_refused == []
#= refused > 20 and refused_but_called_taken == []
#= undecided_lines == []

### options-btrfs
# Every option of btrfs in the table of validity, and some of other file systems, tried on this kernel.
device=$(disk cache-a)
mkfs.btrfs -q -f -K "$device"
tried btrfs "$device" <<'END'
acl
autodefrag
barrier
check_int
check_int_data
clear_cache
commit=30
compress
compress-force
compress-force=lzo
compress-force=zlib
compress-force=zstd
compress=lzo
compress=no
compress=none
compress=zlib
compress=zlib:1
compress=zlib:2
compress=zlib:3
compress=zlib:4
compress=zlib:5
compress=zlib:6
compress=zlib:7
compress=zlib:8
compress=zlib:9
compress=zstd
compress=zstd:1
compress=zstd:10
compress=zstd:11
compress=zstd:12
compress=zstd:13
compress=zstd:14
compress=zstd:15
compress=zstd:16
compress=zstd:17
compress=zstd:18
compress=zstd:19
compress=zstd:2
compress=zstd:20
compress=zstd:21
compress=zstd:22
compress=zstd:3
compress=zstd:4
compress=zstd:5
compress=zstd:6
compress=zstd:7
compress=zstd:8
compress=zstd:9
datacow
datasum
degraded
discard
discard=async
discard=sync
enospc_debug
fatal_errors=bug
flushoncommit
inode_cache
max_inline=2048
metadata_ratio=4
noacl
noautodefrag
nobarrier
nodatacow
nodatasum
nodiscard
noenospc_debug
noflushoncommit
noinode_cache
nologreplay
ro,nologreplay
norecovery
ro,norecovery
nospace_cache
nossd
nossd_spread
notreelog
recovery
ref_verify
rescan_uuid_tree
rescue=all
ro,rescue=all
rescue=ibadroots
ro,rescue=ibadroots
rescue=idatacsums
ro,rescue=idatacsums
rescue=ignorebadroots
ro,rescue=ignorebadroots
rescue=ignoredatacsums
ro,rescue=ignoredatacsums
rescue=ignoremetacsums
ro,rescue=ignoremetacsums
rescue=ignoresuperflags
ro,rescue=ignoresuperflags
rescue=imetacsums
ro,rescue=imetacsums
rescue=isuperflags
ro,rescue=isuperflags
rescue=nologreplay
ro,rescue=nologreplay
rescue=usebackuproot
skip_balance
space_cache
space_cache=v1
space_cache=v2
ssd
ssd_spread
subvol=/
subvolid=5
thread_pool=4
treelog
usebackuproot
user_subvol_rm_allowed
check=none
debug
grpquota
jqfmt=vfsv1
no_prefetch_block_bitmaps
nojournal_checksum
oldalloc
sysvgroups
dax
grpquota
logbufs=8
noquota
swalloc
compress=zlib:0
compress=zstd:0
compress-force=no
compress-force=none
compress-force=zlib:0
compress-force=zlib:1
compress-force=zlib:2
compress-force=zlib:3
compress-force=zlib:4
compress-force=zlib:5
compress-force=zlib:6
compress-force=zlib:7
compress-force=zlib:8
compress-force=zlib:9
compress-force=zstd:0
compress-force=zstd:1
compress-force=zstd:2
compress-force=zstd:20
compress-force=zstd:21
compress-force=zstd:22
compress-force=zstd:3
compress-force=zstd:4
compress-force=zstd:5
compress-force=zstd:6
compress-force=zstd:7
compress-force=zstd:8
compress-force=zstd:9
compress-force=zstd:10
compress-force=zstd:11
compress-force=zstd:12
compress-force=zstd:13
compress-force=zstd:14
compress-force=zstd:15
compress-force=zstd:16
compress-force=zstd:17
compress-force=zstd:18
compress-force=zstd:19
END
put "$device" btrfs
#= taken > 40 and taken_but_called_refused == []
#= refused > 20 and refused_but_called_taken == []

### options-ext4
# Every option of ext4 in the table of validity, and some of other file systems, tried on this kernel.
device=$(disk cache-a)
mke2fs -q -F -E nodiscard -t ext4 "$device"
tried ext4 "$device" <<'END'
acl
auto_da_alloc
auto_da_alloc=1
barrier
barrier=0
barrier=1
bh
block_validity
bsddf
bsdgroups
check=none
commit=1
data=writeback
data=journal
data=ordered
data_err=abort
dax
dax=always
dax=inode
dax=never
debug
delalloc
dioread_lock
dioread_nolock
discard
errors=remount-ro
fast_commit
grpid
grpjquota=aquota.user
jqfmt=vfsv1,grpjquota=aquota.user
grpquota
i_version
init_itable
init_itable=1
inlinecrypt
inode_readahead_blks=32
journal_async_commit
data=writeback,journal_async_commit
journal_checksum
journal_ioprio=3
jqfmt=vfsv1
max_batch_time=1
max_dir_size_kb=1
mb_optimize_scan=1
mblk_io_submit
min_batch_time=1
minixdf
no_fc
no_mbcache
no_prefetch_block_bitmaps
noacl
noauto_da_alloc
nobarrier
nobh
noblock_validity
nocheck
nodelalloc
nodioread_nolock
nodiscard
nogrpid
noinit_itable
nojournal_checksum
noload
nombcache
nomblk_io_submit
noquota
norecovery
noreservation
nouid32
nouser_xattr
nowarn_on_error
oldalloc
orlov
prefetch_block_bitmaps
prjquota
quota
reservation
resgid=1
resuid=1
stripe=1
sysvgroups
user_xattr
usrjquota=aquota.user
jqfmt=vfsv1,usrjquota=aquota.user
usrquota
warn_on_error
allocsize=64m
irixsgid
nodelaylog
qnoenforce
commit=30
compress=zlib
compress=zlib:9
compress=zstd:2
datasum
metadata_ratio=4
nossd
rescue=ignorebadroots
ssd_spread
barrier=00
barrier=0x0
END
put "$device" ext4
#= taken > 40 and taken_but_called_refused == []
#= refused > 20 and refused_but_called_taken == []

### options-xfs
# Every option of XFS in the table of validity, and some of other file systems, tried on this kernel.
device=$(disk cache-a)
mkfs.xfs -q -f -K "$device"
tried xfs "$device" <<'END'
allocsize=64m
attr2
barrier
bsdgroups
dax
dax=always
dax=inode
dax=never
delaylog
discard
filestreams
gqnoenforce
gquota
grpid
grpquota
ikeep
inode32
inode64
irixsgid
largeio
lifetime
logbsize=256k
logbufs=4
logbufs=8
max_atomic_write=0
max_atomic_write=16k
noalign
noattr2
nobarrier
nodelaylog
nodiscard
nogrpid
noikeep
nolargeio
nolifetime
noquota
norecovery
ro,norecovery
nouuid
osyncisdsync
osyncisosync
pqnoenforce
pquota
prjquota
qnoenforce
quota
swalloc
sysvgroups
uqnoenforce
uquota
usrquota
wsync
check=none
errors=remount-ro
journal_async_commit
minixdf
nodelalloc
nouser_xattr
commit=30
compress=zlib
compress=zlib:9
compress=zstd:2
datasum
metadata_ratio=4
nospace_cache
rescue=idatacsums
ssd
END
put "$device" xfs
#= taken > 40 and taken_but_called_refused == []
#= refused > 20 and refused_but_called_taken == []
