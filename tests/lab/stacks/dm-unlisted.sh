# A mapping of which walwise knows nothing: it may do with a flush what it likes.
a=$(disk cache-a)
dmsetup create slow --table "0 $(cat "/sys/class/block/${a##*/}/size") delay $a 0 0"
ext4 /dev/mapper/slow
#= standing("unproven")
#= evidence("device dm-0"; "cannot inspect")
#= leaves == ["sda"]
