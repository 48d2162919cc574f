# The lines of options of ext4 in tests/lab/guest/option-lines, tried on this kernel.
device=$(disk cache-a)
mke2fs -q -F -E nodiscard -t ext4 "$device"
sed -n 's/^ext4 //p' /option-lines | tried ext4 "$device"
put "$device" ext4
#= taken > 40 and taken_but_called_refused == []
#= refused > 20 and refused_but_called_taken == []
#= undecided_lines == []
