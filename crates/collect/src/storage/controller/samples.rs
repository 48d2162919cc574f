//! Sample output of the tools, written for these tests after public reports: storcli after
//! prometheus-community/node-exporter-textfile-collector-scripts (mock/fixtures), MegaCli, hpacucli
//! and arcconf after glensc/nagios-plugin-check_raid (t/data), tables of storcli after
//! thomas-krenn/check_lsi_raid, ssacli after HPE's user guide.

mod newer_controllers;

pub use newer_controllers::*;

pub const STORCLI_ALL: &str = r#"{
"Controllers":[
{
    "Command Status" : {
        "CLI Version" : "007.1500.0000.0000 Nov 12, 2020",
        "Operating system" : "Linux 6.1.0-28-amd64",
        "Controller" : 0,
        "Status" : "Success",
        "Description" : "None"
    },
    "Response Data" : {
        "Basics" : {
            "Controller" : 0,
            "Model" : "MegaRAID 9361-8i",
            "Serial Number" : "SK74512345",
            "SAS Address" : "500605b00d1234a0",
            "PCI Address" : "00:02:00:00"
        },
        "Version" : { "Firmware Version" : "4.680.00-8290", "Driver Name" : "megaraid_sas" },
        "Status" : { "Controller Status" : "Optimal", "BBU Status" : 0, "SSC Policy is WB" : "No" },
        "Supported Adapter Operations" : { "BBU" : "Yes", "Support JBOD" : "Yes" },
        "Supported VD Operations" : { "Write Policy" : "Yes", "Disk Cache Policy" : "Yes" },
        "HwCfg" : { "BBU" : "Present", "On Board Memory Size" : "1024MB", "CacheVault Flash Size" : "7.500 GB" },
        "Defaults" : { "Write Policy" : "WB", "Cache When BBU Bad" : "Off" },
        "Drive Groups" : 1,
        "TOPOLOGY" : [
            { "DG" : 0, "Arr" : "-", "Row" : "-", "Type" : "RAID1", "State" : "Optl", "PDC" : "dsbl" },
            { "DG" : 0, "Arr" : 0, "Row" : 0, "Type" : "DRIVE", "State" : "Onln", "PDC" : "dsbl" }
        ],
        "Virtual Drives" : 1,
        "VD LIST" : [
            { "DG/VD" : "0/0", "TYPE" : "RAID1", "State" : "Optl", "Access" : "RW", "Cache" : "RWBD", "Size" : "893.137 GB", "Name" : "data" }
        ],
        "PD LIST" : [
            { "EID:Slt" : "252:0", "DID" : 8, "State" : "Onln", "DG" : 0, "Intf" : "SATA", "Med" : "SSD", "Model" : "SAMSUNG MZ7LH960" }
        ],
        "Cachevault_Info" : [ { "Model" : "CVPM02", "State" : "Optimal", "Temp" : "27C", "MfgDate" : "2018/03/12" } ]
    }
}
]
}
"#;

pub const STORCLI_VOLUMES: &str = r#"{
"Controllers":[
{
    "Command Status" : { "Controller" : 0, "Status" : "Success", "Description" : "None" },
    "Response Data" : {
        "/c0/v0" : [
            { "DG/VD" : "0/0", "TYPE" : "RAID1", "State" : "Optl", "Access" : "RW", "Cache" : "RWBD" }
        ],
        "PDs for VD 0" : [ { "EID:Slt" : "252:0", "Model" : "SAMSUNG MZ7LH960" } ],
        "VD0 Properties" : {
            "Strip Size" : "256 KB",
            "Write Cache(initial setting)" : "WriteBack",
            "Disk Cache Policy" : "Disabled",
            "OS Drive Name" : "/dev/sda",
            "SCSI NAA Id" : "600605b00d1234a02b3c4d5e6f708192"
        }
    }
}
]
}
"#;

pub const STORCLI_FLASH: &str = "\
CLI Version = 007.1500.0000.0000 Nov 12, 2020
Controller = 0
Status = Success

Cachevault_Info :
===============

--------------------
Property    Value
--------------------
Type        CVPM02
Temperature 27 C
State       Optimal
--------------------

Firmware_Status :
===============

---------------------------------------
Property                         Value
---------------------------------------
Replacement required             No
No space to cache offload        No
Module microcode update required No
---------------------------------------
";

pub const STORCLI_BATTERY: &str = "\
Controller = 0
Status = Success

BBU_Info :
========

----------------------
Property      Value
----------------------
Type          BBU
Voltage       3921 mV
Temperature   31 C
Battery State Optimal
----------------------

BBU_Firmware_Status :
===================

-------------------------------------------------
Property                                   Value
-------------------------------------------------
Charging Status                            None
Voltage                                    OK
Temperature                                OK
Learn Cycle Requested                      No
Learn Cycle Active                         No
Learn Cycle Status                         OK
Learn Cycle Timeout                        No
I2C Errors Detected                        No
Battery Pack Missing                       No
Replacement required                       No
Remaining Capacity Low                     No
Periodic Learn Required                    No
No space to cache offload                  No
Pack is about to fail & should be replaced No
Cache Offload premium feature required     No
-------------------------------------------------
";

pub const MEGACLI_VOLUMES: &str = "
Adapter 0 -- Virtual Drive Information:
Virtual Drive: 0 (Target Id: 0)
Name                :data
RAID Level          : Primary-1, Secondary-0, RAID Level Qualifier-0
Size                : 837.258 GB
State               : Optimal
Default Cache Policy: WriteBack, ReadAdaptive, Direct, No Write Cache if Bad BBU
Current Cache Policy: WriteBack, ReadAdaptive, Direct, No Write Cache if Bad BBU
Default Access Policy: Read/Write
Disk Cache Policy   : Disabled
Encryption Type     : None


Exit Code: 0x00
";

pub const MEGACLI_BATTERY: &str = "
BBU status for Adapter: 0

BatteryType: iBBU08
Voltage: 4073 mV
Current: 0 mA
Temperature: 34 C
Battery State: Optimal

BBU Firmware Status:

  Charging Status              : None
  Voltage                                 : OK
  Temperature                             : OK
  Learn Cycle Requested	                  : No
  Learn Cycle Active                      : No
  Learn Cycle Status                      : OK
  Learn Cycle Timeout                     : No
  I2c Errors Detected                     : No
  Battery Pack Missing                    : No
  Battery Replacement required            : No
  Remaining Capacity Low                  : No
  Periodic Learn Required                 : No
  No space to cache offload               : No
  Pack is about to fail & should be replaced : No
  Cache Offload premium feature required  : No

BBU GasGauge Status: 0x0280
  Relative State of Charge: 98 %

Exit Code: 0x00
";

pub const SSACLI_DETAIL: &str = "
Smart Array P440ar in Slot 0 (Embedded)
   Bus Interface: PCI
   Slot: 0
   Serial Number: PDNLH0BRH8W123
   Cache Serial Number: PDNLH0BRH8W456
   Controller Status: OK
   Firmware Version: 4.52
   Cache Board Present: True
   Cache Status: OK
   Cache Ratio: 10% Read / 90% Write
   Drive Write Cache: Disabled
   Total Cache Size: 2.0 GB
   No-Battery Write Cache: Disabled
   Cache Backup Power Source: Batteries
   Battery/Capacitor Count: 1
   Battery/Capacitor Status: OK
   Controller Mode: RAID
   Driver Name: hpsa
   PCI Address (Domain:Bus:Device.Function): 0000:02:00.0
   Host Serial Number: CZJ64012AB
";

pub const SSACLI_VOLUMES: &str = "
Smart Array P440ar in Slot 0 (Embedded)

   Array A

      Logical Drive: 1
         Size: 279.4 GB
         Fault Tolerance: 1
         Strip Size: 256 KB
         Status: OK
         Caching:  Enabled
         Unique Identifier: 600508B1001C7A6BAEB3D4DCF5A40001
         Disk Name: /dev/sda
         Mount Points: / 18.6 GB Partition Number 2
         Logical Drive Label: 0D6AA1D6PDNLH0BRH8W123D1C9
         Mirror Group 1:
            physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SAS, 300 GB, OK)
         Drive Type: Data
         LD Acceleration Method: Controller Cache
";

pub const ARCCONF: &str = "\
Controllers found: 1
----------------------------------------------------------------------
Controller information
----------------------------------------------------------------------
   Controller Status                        : Optimal
   Controller Model                         : Adaptec ASR8405
   Controller Serial Number                 : 5A4321B0C9D
   Physical Slot                            : 2
   Installed memory                         : 1024 MB
   --------------------------------------------------------
   Controller Version Information
   --------------------------------------------------------
   Firmware                                 : 7.11-0 (33173)
   --------------------------------------------------------
   Controller Cache Backup Unit Information
   --------------------------------------------------------
   Overall Backup Unit Status               : Ready
   Non-Volatile Storage Status              : Ready
   Supercap Status                          : Ready
   Health                                   : 100 percent

----------------------------------------------------------------------
Logical device information
----------------------------------------------------------------------
Logical Device number 0
   Logical Device name                      : data
   RAID level                               : 1
   Status of Logical Device                 : Optimal
   Write-cache setting                      : Enabled (write-back) when protected by battery/ZMM
   Write-cache status                       : On
   Protected by Hot-Spare                   : No
   --------------------------------------------------------
   Logical Device segment information
   --------------------------------------------------------
   Segment 0                                : Present (953869MB, SATA, HDD, Connector:0, Device:0)             Z1P35ABC
   Segment 1                                : Present (953869MB, SATA, HDD, Connector:0, Device:1)             Z1P35DEF


----------------------------------------------------------------------
Physical Device information
----------------------------------------------------------------------
      Device #0
         Device is a Hard drive
         State                              : Online
         Serial number                      : Z1P35ABC
         World-wide name                    : 5000C5000707AA3C
         Write Cache                        : Disabled (write-through)
      Device #1
         Device is a Hard drive
         State                              : Online
         Serial number                      : Z1P35DEF
         World-wide name                    : 5000C5000707C13C
         Write Cache                        : Disabled (write-through)
      Device #2
         Device is an Enclosure services device
         Type                               : SES2


Command completed successfully.
";
