# A disk on the network (nbd): what its server does after a flush cannot be seen from here.
modprobe nbd nbds_max=1
nbdkit -U /run/nbd.sock --filter=exitlast memory 256M
until_true "the server listens" test -S /run/nbd.sock
nbd-client -unix /run/nbd.sock /dev/nbd0
ext4 "$(fresh /dev/nbd0)"
#= leaves == ["nbd0"]
#= standing("unproven")
#= device("nbd0"; "device.fabric") == "nbd"
