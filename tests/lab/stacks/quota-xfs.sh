# A user's quota on XFS: a probe keeps to it and says so.
device=$(disk cache-a)
mkfs.xfs -q -f -K "$device"
put "$device" xfs -o uquota
meets_quota
#= standing("durable")
