# A directory of an ext4 that is mounted by itself.
ext4 "$(disk cache-a)"
mkdir /lab/whole
mount --move "/lab/$stack" /lab/whole
mkdir /lab/whole/pg
mount --bind /lab/whole/pg "/lab/$stack"
#= standing("durable")
#= leaves == ["sda"]
#= any(.stacks[0].layers[]; .says | test("directory /pg"))
