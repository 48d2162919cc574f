# A MegaRAID controller: its driver answers flushes itself, and the controller's tool is missing.
ext4 "$(card megaraid_sas LAB-raid)"
#= standing("unproven")
#= device("sda"; "device.driver") == "megaraid_sas"
