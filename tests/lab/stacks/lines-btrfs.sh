# The lines of options of btrfs in tests/lab/guest/option-lines, tried on this kernel.
device=$(disk cache-a)
mkfs.btrfs -q -f -K "$device"
sed -n 's/^btrfs //p' /option-lines | tried btrfs "$device"
put "$device" btrfs
#= taken > 40 and taken_but_called_refused == []
#= refused > 15 and refused_but_called_taken == []
#= undecided_lines == []
