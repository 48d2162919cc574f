# DRBD that calls a commit done before its peer has it (protocol A); here the peer is a second device of the same machine.
a=$(disk cache-a) b=$(disk cache-b)
ip link set lo up
modprobe drbd
minor=0
for lower in "$a" "$b"; do
    drbdmeta --force "$minor" v08 "$lower" internal create-md
    drbdsetup new-resource "r$minor"
    drbdsetup new-minor "r$minor" "$minor" 0
    drbdsetup attach "$minor" "$lower" "$lower" internal
    minor=$((minor + 1))
done
drbdsetup connect r0 ipv4:127.0.0.1:7788 ipv4:127.0.0.1:7789 --protocol=A
drbdsetup connect r1 ipv4:127.0.0.1:7789 ipv4:127.0.0.1:7788 --protocol=A
drbdsetup primary 0 --force
until_true "they have found each other" grep -q "^ 0: cs:[SC].* ro:Primary/Secondary" /proc/drbd
ext4 /dev/drbd0
#= leaves == ["sda"]
#= standing("unproven")
#= evidence("device drbd0"; "protocol A")
#= device("drbd0"; "drbd.protocol") == "A"
