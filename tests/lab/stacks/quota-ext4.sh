# A user's quota on ext4: a probe keeps to it and says so. The kernels of many clouds know no quotas; Debian's do.
device=$(disk cache-a)
modprobe quota_v2
mke2fs -q -F -E nodiscard -t ext4 -O quota "$device"
put "$device" ext4 -o usrquota
meets_quota
#= standing("durable")
