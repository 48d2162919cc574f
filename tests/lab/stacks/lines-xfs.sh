# The lines of options of XFS in tests/lab/guest/option-lines, tried on this kernel.
device=$(disk cache-a)
mkfs.xfs -q -f -K "$device"
sed -n 's/^xfs //p' /option-lines | tried xfs "$device"
put "$device" xfs
#= taken > 40 and taken_but_called_refused == []
#= refused > 20 and refused_but_called_taken == []
#= undecided_lines == []
