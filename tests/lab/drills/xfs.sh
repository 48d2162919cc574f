# XFS as mkfs.xfs makes it.
make() { mkfs.xfs -q -f -K "$disk"; }
open() { mount -t xfs "$disk" "$at"; }
