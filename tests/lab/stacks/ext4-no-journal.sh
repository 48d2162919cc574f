# ext4 without a journal: flushes arrive, but after a crash whole directories may be gone.
a=$(disk cache-a)
mke2fs -q -F -t ext4 -O ^has_journal "$a"
put "$a" ext4
#= standing("at-risk")
#= applies("ext4.no-journal")
