# A directory of an ext4 that is mounted by itself.
ext4 "$(disk cache-a)"
mkdir /lab/under
mount --move "/lab/$stack" /lab/under
mkdir /lab/under/pg
mount --bind /lab/under/pg "/lab/$stack"
#= standing("durable")
#= leaves == ["sda"]
#= any(.stacks[0].layers[]; .says | test("directory /pg"))
