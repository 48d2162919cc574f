# An SD card.
modprobe mmc_block
ext4 "$(card sdhci_pci -)"
#= leaves == ["mmcblk0"]
#= standing("unproven")
