# Swap on another partition of the disk.
a=$(disk cache-a)
partition "$a" ',100M,S' ',,L'
mkswap -q "${a}1"
swapon "${a}1"
ext4 "${a}2"
#= standing("durable")
#= device("sda1"; "device.swap") == true
