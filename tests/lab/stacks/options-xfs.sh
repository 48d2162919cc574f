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
