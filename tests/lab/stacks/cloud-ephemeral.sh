# A cloud's local disk that says so by its model: what is on it goes with the machine.
ext4 "$(disk google)"
#= device("sda"; "device.model") | test("EphemeralDisk")
#= standing("at-risk")
#= device("sda"; "device.ephemeral") == true
