//! Samples of newer controllers. Those of storcli2 follow scality/raidmgmt (testdata) and
//! project-machine/disko (mpi3mr). Those of arcconf with SmartRAID follow
//! glensc/nagios-plugin-check_raid (t/data/arcconf) and project-machine/disko (smartpqi).
//! [`ARCCONF_TWO`] has two volumes of an older controller.

pub const STORCLI2_ALL: &str = r#"{
"Controllers":[
{
	"Command Status" : {
		"CLI Version" : "008.0005.0000.0010 Feb 22, 2023",
		"Controller" : "0",
		"Status" : "Success",
		"Description" : "None"
	},
	"Response Data" : {
		"Basics" : {
			"Product Name" : "MegaRAID 9660-16i Tri-Mode Storage Adapter",
			"Board Tracer Number" : "SPE4900042                      ",
			"SAS Address" : "0x500062b220ab0040",
			"Serial Number" : "SPE4900042"
		},
		"Version" : { "Firmware Version" : "8.12.1.0-00000-00003", "Driver Name" : "mpi3mr" },
		"HostInterface" : { "Max PCIe Port Width" : 8, "PCI Address" : "00:02:00:0" },
		"Status" : { "Controller Status" : "Optimal", "Controller Personality" : "RAID" },
		"Supported Controller operations" : { "Support Energy Pack" : "Yes" },
		"Supported VD operations" : { "Support Changing Write Policy" : "Yes" },
		"HwCfg" : { "DDR Memory Size(MiB)" : 4096, "Energy Pack" : "Present", "Upgrade Key" : "Absent" },
		"Properties" : { "Energy Pack Warning" : "No", "Data Loss Warning" : "Yes" },
		"Drive Groups" : 1,
		"TOPOLOGY" : [
			{ "DG" : 0, "Span" : "-", "Row" : "-", "Type" : "RAID1", "State" : "-", "Status" : "-", "PDC" : "dsbl" },
			{ "DG" : 0, "Span" : 0, "Row" : 0, "Type" : "DRIVE", "State" : "Conf", "Status" : "Online", "PDC" : "dsbl" }
		],
		"Virtual Drives" : 1,
		"VD LIST" : [
			{ "DG/VD" : "0/1", "TYPE" : "RAID1", "State" : "Optl", "CurrentCache" : "NR,WB", "DefaultCache" : "NR,WB", "Name" : "data" }
		],
		"Energy Pack Info" : [
			{ "Type" : "Supercap", "SubType" : "FBU345", "Voltage(mV)" : 9184, "Temperature(C)" : 38, "Status" : "Optimal" }
		]
	}
}
]
}
"#;

pub const STORCLI2_VOLUMES: &str = r#"{
"Controllers":[
{
	"Command Status" : { "Controller" : "0", "Status" : "Success", "Description" : "None" },
	"Response Data" : {
		"Virtual Drives" : [
			{
				"VD Info" : { "DG/VD" : "0/1", "TYPE" : "RAID1", "State" : "Optl", "CurrentCache" : "NR,WB", "DefaultCache" : "NR,WB" },
				"PDs" : [ { "EID:Slt" : "306:0", "PID" : 293, "State" : "Conf", "Status" : "Online", "DG" : 0 } ],
				"VD Properties" : {
					"Number of Drives" : 2,
					"Drive Write Cache Policy" : "Disabled",
					"SCSI NAA Id" : "600062b220ab004069fa000000ce7e62",
					"OS Drive Name" : "/dev/sda",
					"Serial Number" : "00627ece000000fa694000ab20b26200"
				}
			}
		]
	}
}
]
}
"#;

pub const SMARTRAID: &str = "\
Controllers found: 1
----------------------------------------------------------------------
Controller information
----------------------------------------------------------------------
   Controller Status                          : Optimal
   Controller Mode                            : RAID (Hide RAW)
   Controller Model                           : Adaptec SmartRAID 3154-16i
   Controller Serial Number                   : 1A17G300042
   Controller World Wide Name                 : 50000D1F04800042
   PCI Address (Domain:Bus:Device:Function)   : 0:2:0:0
   --------------------------------------------------------
   Power Settings
   --------------------------------------------------------
   Survival Mode                              : Enabled
   --------------------------------------------------------
   Cache Properties
   --------------------------------------------------------
   Cache Status                               : Ok
   Cache memory                               : 3856 MB
   Read Cache Percentage                      : 10 percent
   Write Cache Percentage                     : 90 percent
   No-Battery Write Cache                     : Disabled
   Write Cache Bypass Threshold Size          : 1040 KB
   --------------------------------------------------------
   Green Backup Information
   --------------------------------------------------------
   Backup Power Status                        : Ok
   Battery/Capacitor Pack Count               : 1
   Hardware Error                             : No Error
   --------------------------------------------------------
   Physical Drive Write Cache Policy Information
   --------------------------------------------------------
   Configured Drives                          : Disabled
   Unconfigured Drives                        : Default
   HBA Drives                                 : Default
   --------------------------------------------------------
   maxCache Properties
   --------------------------------------------------------
   maxCache Version                           : 4
   maxCache RAID5 WriteBack Enabled           : Enabled

----------------------------------------------------------------------
Array Information
----------------------------------------------------------------------
Array Number 0
   Name                                       : A
   Status                                     : Ok
   --------------------------------------------------------
   Array Physical Device Information
   --------------------------------------------------------
   Device 0                                   : Present (228936MB, SATA, SSD, Connector:0, Device:0) BTYF000000H9240AGN
   Device 1                                   : Present (228936MB, SATA, SSD, Connector:0, Device:1) BTYF000000HA240AGN


----------------------------------------------------------------------
Logical device information
----------------------------------------------------------------------
Logical Device number 0
   Logical Device name                        : data
   Disk Name                                  : /dev/sda (Disk0) (Bus: 1, Target: 0, Lun: 0)
   Array                                      : 0
   RAID level                                 : 1
   Status of Logical Device                   : Optimal
   Device Type                                : Data
   Caching                                    : Enabled
   Mount Points                               : Not Mounted
   LD Acceleration Method                     : Controller Cache
   Volume Unique Identifier                   : 600508B1001C50CDC910104454AF0042
   --------------------------------------------------------
   Consistency Check Information
   --------------------------------------------------------
   Consistency Check Status                   : Not Applicable
   --------------------------------------------------------
   Array Physical Device Information
   --------------------------------------------------------
   Device ID                                  : Availability (SizeMB, Protocol, Type, Connector ID, Location) Serial Number
   --------------------------------------------------------
   Device 0                                   : Present (228936MB, SATA, SSD, Connector:0, Device:0) BTYF000000H9240AGN
   Device 1                                   : Present (228936MB, SATA, SSD, Connector:0, Device:1) BTYF000000HA240AGN


----------------------------------------------------------------------
Physical Device information
----------------------------------------------------------------------
   Channel #0:
      Device #0
         Device is a Hard drive
         State                                : Online
         Reported Channel,Device(T:L)         : 0,0(0:0)
         Reported Location                    : Enclosure Direct Attached, Slot 0(Connector 0:CN0)
         Serial number                        : BTYF000000H9240AGN
         World-wide name                      : 30000D1F04800042
         Write Cache                          : Disabled (write-through)
         Drive Unique ID                      : 1B8F7E4BCC858DAE8029D94522BC0042
      ----------------------------------------------------------------
      Device Phy Information
      ----------------------------------------------------------------
         Phy #0
            Maximum Link Rate                 : 6 Gbps
      ----------------------------------------------------------------
      Device Error Counters
      ----------------------------------------------------------------
         Hard Write Errors                    : 0
      Device #1
         Device is a Hard drive
         State                                : Online
         Reported Channel,Device(T:L)         : 0,1(1:0)
         Reported Location                    : Enclosure Direct Attached, Slot 1(Connector 0:CN0)
         Serial number                        : BTYF000000HA240AGN
         World-wide name                      : 30000D1F04800043
         Write Cache                          : Disabled (write-through)
         Drive Unique ID                      : 4CD654A0C8B9283E8D23B074E1B80042
   Channel #2:
      Device #4
         Device is an Enclosure Services Device
         Type                                 : SES2


----------------------------------------------------------------------
maxCache information
----------------------------------------------------------------------
   No maxCache Array found


Command completed successfully.
";

/// The caches of disks 0 and 1 (volume 0) are off; those of disks 2 and 3 (volume 1) and of the
/// unused disk 4 are on.
pub const ARCCONF_TWO: &str = "\
Controllers found: 1
----------------------------------------------------------------------
Controller information
----------------------------------------------------------------------
   Controller Status                        : Optimal
   Controller Model                         : Adaptec 6405
   Controller Serial Number                 : 2B1511E0042
   --------------------------------------------------------
   Controller ZMM Information
   --------------------------------------------------------
   Status                                   : ZMM Optimal

----------------------------------------------------------------------
Logical device information
----------------------------------------------------------------------
Logical device number 0
   Logical device name                      : data
   RAID level                               : 1
   Write-cache mode                         : Enabled (write-back)
   Write-cache setting                      : Enabled (write-back) when protected by battery/ZMM
   --------------------------------------------------------
   Logical device segment information
   --------------------------------------------------------
   Segment 0                                : Present (Controller:1,Connector:0,Device:0)             Z1P35CR0
   Segment 1                                : Present (Controller:1,Connector:0,Device:1)             Z1P34951

Logical device number 1
   Logical device name                      : scratch
   RAID level                               : 1
   Write-cache mode                         : Enabled (write-back)
   Write-cache setting                      : Enabled (write-back) when protected by battery/ZMM
   --------------------------------------------------------
   Logical device segment information
   --------------------------------------------------------
   Segment 0                                : Present (Controller:1,Connector:0,Device:2)             Z1P34AC2
   Segment 1                                : Present (Controller:1,Connector:0,Device:3)             Z1P34JK3


----------------------------------------------------------------------
Physical Device information
----------------------------------------------------------------------
      Device #0
         Device is a Hard drive
         State                              : Online
         Reported Channel,Device(T:L)       : 0,0(0:0)
         Reported Location                  : Connector 0, Device 0
         Serial number                      : Z1P35CR0
         Write Cache                        : Disabled (write-through)
      Device #1
         Device is a Hard drive
         State                              : Online
         Reported Channel,Device(T:L)       : 0,1(1:0)
         Reported Location                  : Connector 0, Device 1
         Serial number                      : *******
         Write Cache                        : Disabled (write-through)
      Device #2
         Device is a Hard drive
         State                              : Online
         Reported Channel,Device(T:L)       : 0,2(2:0)
         Reported Location                  : Connector 0, Device 2
         Serial number                      : Z1P34AC2
         Write Cache                        : Enabled (write-back)
      Device #3
         Device is a Hard drive
         State                              : Online
         Reported Channel,Device(T:L)       : 0,3(3:0)
         Reported Location                  : Connector 0, Device 3
         Serial number                      : *******
         Write Cache                        : Enabled (write-back)
      Device #4
         Device is a Hard drive
         State                              : Ready
         Reported Channel,Device(T:L)       : 0,4(4:0)
         Reported Location                  : Connector 0, Device 4
         Serial number                      : Z1P34JK4
         Write Cache                        : Enabled (write-back)


Command completed successfully.
";
