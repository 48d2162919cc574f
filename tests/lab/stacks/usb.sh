# A USB disk.
modprobe xhci_pci
ext4 "$(card usb_storage -)"
#= leaves == ["sda"]
#= standing("unproven")
#= device("sda"; "device.transport") == "usb"
