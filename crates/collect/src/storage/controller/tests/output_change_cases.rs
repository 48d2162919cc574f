use super::super::samples::*;
use super::controller_host::ControllerHost;

const ENCLOSURE: &str = "         Device is an Enclosure services device\n";

macro_rules! other_disk {
    ($state:literal) => {
        concat!(
            "         Device is a Hard drive\n         State : ",
            $state,
            "\n         Write Cache : Enabled (write-back)\n"
        )
    };
}

/// The heading after the sections in which arcconf may print the common disk cache policy.
const VERSION: &str = "Controller Version Information";

/// Lines that arcconf prints for newer backup units; older units have a single line.
const BACKUP_UNIT: &str = "   Overall Backup Unit Status               : Ready
   Non-Volatile Storage Status              : Ready
   Supercap Status                          : Ready";

/// Changes to the answers of a healthy host: the old string, the new one, the index of the affected
/// fact, and its expected value.
pub fn output_changes() -> Vec<(
    ControllerHost,
    &'static str,
    &'static str,
    usize,
    &'static str,
)> {
    let (storcli, megacli, ssacli, arcconf) = (
        ControllerHost::storcli(),
        ControllerHost::megacli(),
        ControllerHost::ssacli(),
        ControllerHost::arcconf(),
    );
    let flash = ControllerHost::storcli_tables("/c0/cv show status nolog", STORCLI_FLASH);
    let table = ControllerHost::storcli_tables("/c0/bbu show status nolog", STORCLI_BATTERY);
    let mut rows = Vec::new();
    let mut add = |machine: &ControllerHost,
                   list: &[(&'static str, &'static str, usize, &'static str)]| {
        rows.extend(
            list.iter()
                .map(|&(old, new, fact, word)| (machine.clone(), old, new, fact, word)),
        );
    };
    add(
        &storcli,
        &[
            (
                "\"State\" : \"Optimal\"",
                "\"State\" : \"Failed\"",
                0,
                "failed",
            ),
            (
                "\"State\" : \"Optimal\"",
                "\"State\" : \"Degraded(Needs Attention)\"",
                0,
                "degraded",
            ),
            (
                "\"State\" : \"Optimal\"",
                "\"State\" : \"Charging\"",
                0,
                "charging",
            ),
            (
                "\"State\" : \"Optimal\"",
                "\"State\" : \"Learning\"",
                0,
                "learning",
            ),
            (
                "\"State\" : \"Optimal\"",
                "\"State\" : \"Missing\"",
                0,
                "absent",
            ),
            (
                "\"State\" : \"Optimal\"",
                "\"State\" : \"Unknown\"",
                0,
                "unreadable",
            ),
            (
                "\"State\" : \"Optimal\"",
                "\"State\" : \"Splendid\"",
                0,
                "?",
            ),
            ("\"BBU Status\" : 0", "\"BBU Status\" : 4096", 0, "healthy"),
            (
                "\"BBU Status\" : 0",
                "\"BBU Status\" : 8192",
                0,
                "unreadable",
            ),
            ("\"BBU Status\" : 0", "\"BBU Status\" : 8", 0, "charging"),
            ("\"BBU Status\" : 0", "\"BBU Status\" : \"NA\"", 0, "?"),
            ("\"BBU Status\" : 0", "\"BBU Status\" : 1024", 0, "degraded"),
            ("\"BBU\" : \"Present\"", "\"BBU\" : \"Faulty\"", 0, "failed"),
            // The battery is absent, but its module is listed.
            ("\"BBU\" : \"Present\"", "\"BBU\" : \"Absent\"", 0, "?"),
            ("RWBD", "NRWTD", 2, "write through"),
            ("RWBD", "NRWTD", 1, "write back"),
            ("RWBD", "RAWBD", 1, "always write back"),
            ("RWBD", "RAWBD", 2, "write back"),
            ("RWBD", "RAWBD", 3, "stays"),
            ("RWBD", "RFWBC", 1, "always write back"),
            // Old versions print adaptive read-ahead as `Ra`.
            ("RWBD", "RaWBD", 1, "write back"),
            ("RWBD", "RaWBD", 2, "write back"),
            ("RWBD", "WBD", 1, "?"),
            ("RWBD", "NRWB", 2, "?"),
            (
                "\"WriteBack\"",
                "\"AlwaysWriteBack\"",
                1,
                "always write back",
            ),
            ("\"WriteBack\"", "\"WriteThrough\"", 1, "?"),
            ("\"WriteBack\"", "\"WriteThrough\"", 2, "write back"),
            (
                "\"Cache When BBU Bad\" : \"Off\"",
                "\"Cache When BBU Bad\" : \"On\"",
                3,
                "stays",
            ),
            (
                "\"Disk Cache Policy\" : \"Disabled\"",
                "\"Disk Cache Policy\" : \"Enabled\"",
                4,
                "on",
            ),
            (
                "\"Disk Cache Policy\" : \"Disabled\"",
                "\"Disk Cache Policy\" : \"Disk's Default\"",
                4,
                "disk default",
            ),
            ("\"PDC\" : \"dsbl\"", "\"PDC\" : \"enbl\"", 4, "on"),
            (
                "\"PDC\" : \"dsbl\"",
                "\"PDC\" : \"dflt\"",
                4,
                "disk default",
            ),
            ("\"PDC\" : \"dsbl\"", "\"PDC\" : \"?\"", 4, "?"),
            // The column `Cac` names the CacheCade SSD of a volume, or `-` for none.
            (
                "\"Cache\" : \"RWBD\"",
                "\"Cache\" : \"RWBD\", \"Cac\" : \"-\"",
                4,
                "off",
            ),
            (
                "\"Cache\" : \"RWBD\"",
                "\"Cache\" : \"RWBD\", \"Cac\" : \"R\"",
                4,
                "disk default",
            ),
        ],
    );
    add(
        &flash,
        &[
            ("State       Optimal", "State       Failed", 0, "failed"),
            (
                "Replacement required             No",
                "Replacement required             Yes",
                0,
                "degraded",
            ),
        ],
    );
    add(
        &table,
        &[
            (
                "Battery State Optimal",
                "Battery State Degraded",
                0,
                "degraded",
            ),
            (
                "Charging Status                            None",
                "Charging Status                            Charging",
                0,
                "charging",
            ),
            (
                "Learn Cycle Active                         No",
                "Learn Cycle Active                         Yes",
                0,
                "learning",
            ),
            (
                "should be replaced No",
                "should be replaced Yes",
                0,
                "degraded",
            ),
        ],
    );
    add(
        &megacli,
        &[
            (
                "Battery State: Optimal",
                "Battery State: Operational",
                0,
                "healthy",
            ),
            (
                "Battery State: Optimal",
                "Battery State: Failed",
                0,
                "failed",
            ),
            (
                "Battery State: Optimal",
                "Battery State: Non Operational",
                0,
                "failed",
            ),
            (
                "Charging Status              : None",
                "Charging Status              : Discharging",
                0,
                "learning",
            ),
            (
                "Battery State: Optimal",
                "Battery State: Degraded(Charging)",
                0,
                "degraded",
            ),
            (
                "Battery State: Optimal",
                "Battery State: Missing",
                0,
                "absent",
            ),
            (
                "Battery State: Optimal",
                "Battery State: Unknown",
                0,
                "unreadable",
            ),
            ("Battery State: Optimal", "Battery state:", 0, "?"),
            (
                "Charging Status              : None",
                "Charging Status              : Charging",
                0,
                "charging",
            ),
            (
                "Learn Cycle Active                      : No",
                "Learn Cycle Active                      : Yes",
                0,
                "learning",
            ),
            (
                "Battery Replacement required            : No",
                "Battery Replacement required            : Yes",
                0,
                "degraded",
            ),
            (
                "Remaining Capacity Low                  : No",
                "Remaining Capacity Low                  : Yes",
                0,
                "degraded",
            ),
            (
                "Battery State: Optimal",
                "Battery State: Optimal\nisSOHGood: No",
                0,
                "failed",
            ),
            (
                "BBU status for Adapter: 0",
                "Adapter 0: Get BBU Status Failed.\nFW error description:\n The required hardware component is not present.",
                0,
                "absent",
            ),
            (
                "BBU status for Adapter: 0",
                "Adapter 0: Get BBU Status Failed.\nFW error description:\n The command timed out.",
                0,
                "unreadable",
            ),
            (
                "Current Cache Policy: WriteBack",
                "Current Cache Policy: WriteThrough",
                2,
                "write through",
            ),
            (
                "Current Cache Policy: WriteBack",
                "Current Cache Policy: WriteThrough",
                1,
                "write back",
            ),
            (
                "Default Cache Policy: WriteBack",
                "Default Cache Policy: WriteThrough",
                1,
                "?",
            ),
            (
                "Direct, No Write Cache if Bad BBU",
                "Direct, Write Cache OK if Bad BBU",
                1,
                "always write back",
            ),
            (
                "Direct, No Write Cache if Bad BBU",
                "Direct, Write Cache OK if Bad BBU",
                3,
                "stays",
            ),
            ("Direct, No Write Cache if Bad BBU", "Direct", 3, "?"),
            (
                "Policy   : Disabled",
                "Policy   : Disk's Default",
                4,
                "disk default",
            ),
            ("Policy   : Disabled", "Policy   : Enabled", 4, "on"),
            (
                "Virtual Drive: 0 (Target Id: 0)",
                "Virtual Disk: 0 (target id: 0)",
                4,
                "off",
            ),
            (
                "Policy   : Disabled",
                "Policy   : Disabled\nIs VD Cached: No",
                4,
                "off",
            ),
            (
                "Policy   : Disabled",
                "Policy   : Disabled\nIs VD Cached: Yes",
                4,
                "disk default",
            ),
            (
                "Policy   : Disabled",
                "Policy   : Disabled\nIs VD Cached: Perhaps",
                4,
                "?",
            ),
        ],
    );
    add(
        &ssacli,
        &[
            (
                "Capacitor Status: OK",
                "Capacitor Status: Recharging",
                0,
                "charging",
            ),
            (
                "Capacitor Status: OK",
                "Capacitor Status: Failed (Replace Batteries/Capacitors)",
                0,
                "failed",
            ),
            (
                "Capacitor Status: OK",
                "Capacitor Status: Unheard of",
                0,
                "?",
            ),
            (
                "Capacitor Count: 1\n   Battery/Capacitor Status: OK",
                "Capacitor Count: 0",
                0,
                "absent",
            ),
            (
                "Battery/Capacitor Count: 1\n   Battery/Capacitor Status: OK",
                "Energy Pack Count: 1\n   Energy Pack Status: OK",
                0,
                "healthy",
            ),
            (
                "Battery/Capacitor Count: 1\n   Battery/Capacitor Status: OK",
                "Energy Pack Count: 1\n   Energy Pack Status: Recharging",
                0,
                "charging",
            ),
            (
                "Cache Status: OK",
                "Cache Status: Temporarily Disabled",
                2,
                "write through",
            ),
            (
                "Cache Status: OK",
                "Cache Status: Temporarily Disabled",
                1,
                "write back",
            ),
            ("Cache Status: OK", "Cache Status: Not Configured", 2, "?"),
            (
                "Caching:  Enabled",
                "Caching:  Disabled",
                2,
                "write through",
            ),
            (
                "Method: Controller Cache",
                "Method: HPE SSD Smart Path",
                2,
                "?",
            ),
            ("Method: Controller Cache", "Method: Something New", 2, "?"),
            (
                "No-Battery Write Cache: Disabled",
                "No-Battery Write Cache: Enabled",
                1,
                "always write back",
            ),
            (
                "No-Battery Write Cache: Disabled",
                "No-Battery Write Cache: Enabled",
                3,
                "stays",
            ),
            (
                "Drive Write Cache: Disabled",
                "Drive Write Cache: Enabled",
                4,
                "on",
            ),
            (
                "Drive Write Cache: Disabled",
                "Configured Drive Write Cache Policy: Enable",
                4,
                "on",
            ),
            (
                "Drive Write Cache: Disabled",
                "Configured Drive Write Cache Policy: Disable",
                4,
                "off",
            ),
            (
                "10% Read / 90% Write",
                "100% Read / 0% Write",
                1,
                "write through",
            ),
            (
                "10% Read / 90% Write",
                "100% Read / 0% Write",
                2,
                "write through",
            ),
            (
                "Cache Ratio: 10% Read / 90% Write",
                "Accelerator Ratio: 100% Read / 0% Write",
                2,
                "write through",
            ),
            (
                "Cache Ratio: 10% Read / 90% Write",
                "Accelerator Ratio: 25% Read / 75% Write",
                2,
                "write back",
            ),
            (
                "Caching:  Enabled",
                "Array Accelerator: Enabled",
                1,
                "write back",
            ),
            (
                "Caching:  Enabled",
                "Array Accelerator: Disabled",
                2,
                "write through",
            ),
            ("Caching:  Enabled", "Array Accelerator: Perhaps", 1, "?"),
            // Some versions print node and mount points on one line.
            (
                "Disk Name: /dev/sda\n         Mount",
                "Disk Name: /dev/sda          Mount",
                1,
                "write back",
            ),
            (
                "Disk Name: /dev/sda\n         Mount",
                "Disk Name: /dev/sdb          Mount",
                1,
                "?",
            ),
            (
                "Drive Write Cache: Disabled",
                "Configured Drive Write Cache Policy: Default",
                4,
                "disk default",
            ),
        ],
    );
    add(
        &arcconf,
        &[
            (
                "Supercap Status                          : Ready",
                "Supercap Status                          : Charging",
                0,
                "charging",
            ),
            (
                "Unit Status               : Ready",
                "Unit Status               : Failed",
                0,
                "failed",
            ),
            (
                "Unit Status               : Ready",
                "Unit Status               : Not Installed",
                0,
                "absent",
            ),
            (
                "Unit Status               : Ready",
                "Unit Status               : Elsewhere",
                0,
                "?",
            ),
            (BACKUP_UNIT, "   Status : ZMM Optimal", 0, "healthy"),
            (BACKUP_UNIT, "   Status : Optimal", 0, "healthy"),
            (BACKUP_UNIT, "   Status : Charging", 0, "charging"),
            (
                BACKUP_UNIT,
                "   Status : Optimal\n   Over temperature : No",
                0,
                "healthy",
            ),
            (
                BACKUP_UNIT,
                "   Status : Optimal\n   Over temperature : Yes",
                0,
                "degraded",
            ),
            (BACKUP_UNIT, "   Status : ZMM not installed", 0, "absent"),
            (BACKUP_UNIT, "   Status : Failed", 0, "failed"),
            (
                "setting                      : Enabled (write-back) when protected by battery/ZMM",
                "setting                      : Enabled (write-back)",
                1,
                "always write back",
            ),
            (
                "setting                      : Enabled (write-back) when protected by battery/ZMM",
                "setting                      : Enabled (write-back)",
                3,
                "stays",
            ),
            (
                "setting                      : Enabled (write-back) when protected by battery/ZMM",
                "setting                      : On when protected by battery/ZMM",
                1,
                "write back",
            ),
            (
                "setting                      : Enabled (write-back) when protected by battery/ZMM",
                "setting                      : Disabled (write-through)",
                1,
                "write through",
            ),
            (
                "Write-cache status                       : On",
                "Write-cache status                       : Off",
                2,
                "write through",
            ),
            (
                "Write-cache status                       : On",
                "Write-cache mode                         : Not supported",
                2,
                "?",
            ),
            (
                "Disabled (write-through)\n      Device #1",
                "Enabled (write-back)\n      Device #1",
                4,
                "on",
            ),
            (
                "Disabled (write-through)\n      Device #1",
                "Unknown\n      Device #1",
                4,
                "?",
            ),
            // Only disks that may belong to a volume count; an enclosure, a spare or a failed disk
            // does not.
            (
                "Device is an Enclosure services device",
                "Device is an Enclosure",
                4,
                "off",
            ),
            (
                ENCLOSURE,
                "         Device is an UBM Controller\n         Backplane ID : 0\n",
                4,
                "off",
            ),
            (ENCLOSURE, other_disk!("Ready"), 4, "off"),
            (ENCLOSURE, other_disk!("Global Hot-Spare"), 4, "off"),
            (ENCLOSURE, other_disk!("Dedicated Hot-Spare"), 4, "off"),
            (ENCLOSURE, other_disk!("Defunct"), 4, "off"),
            (ENCLOSURE, other_disk!("Failed"), 4, "off"),
            (ENCLOSURE, other_disk!("Online (JBOD)"), 4, "off"),
            (ENCLOSURE, other_disk!("Online"), 4, "on"),
            (ENCLOSURE, other_disk!("Melancholy"), 4, "on"),
            (
                "Device is a Hard drive\n         State",
                "Device is a Flash card\n         State",
                4,
                "off",
            ),
            // arcconf prints the policy for all disks with the controller, from 2017 on under
            // *Cache Properties*. *Drive Specific* leaves disks at their own settings, so their
            // caches stay off.
            (
                "Installed memory",
                "Global Physical Device Write Cache Policy: Enabled\n   Installed memory",
                4,
                "on",
            ),
            (
                "Installed memory",
                "Global Physical Device Write Cache Policy: Drive Specific\n   Installed memory",
                4,
                "off",
            ),
            (
                VERSION,
                concat!(
                    "Cache Properties\n   Global Physical Device Write Cache Policy: Enabled\n   ",
                    "Controller Version Information"
                ),
                4,
                "on",
            ),
            (
                VERSION,
                concat!(
                    "Cache Properties\n   Global Physical Device Write Cache Policy: Drive Specific\n   ",
                    "Controller Version Information"
                ),
                4,
                "off",
            ),
            // If a member matches no disk, any disk that may hold data can be that member. The
            // caches of all such disks are combined with those of the members that do match.
            (
                "Connector:0, Device:0)             Z1P35ABC",
                "Port 7) Z9Z99XYZ",
                4,
                "off",
            ),
            (
                "Segment 0 ",
                "Segment 7 : Inconsistent (Connector:0, Device:7)\n   Segment 0 ",
                4,
                "off",
            ),
        ],
    );
    add(
        &ControllerHost::arcconf_with_two_volumes("0:0:0:0"),
        &[
            (
                "Status                                   : ZMM Optimal",
                "Status : Reconditioning",
                0,
                "learning",
            ),
            (
                "2)             Z1P34AC2",
                "1)             Z1P34951",
                4,
                "on",
            ),
            // Member 1 matches no disk, and disk 1 is named by no member, so they belong together.
            ("Connector 0, Device 1", "Connector 0, Device 7", 4, "off"),
            (
                "Disabled (write-through)\n      Device #2",
                "Enabled (write-back)\n      Device #2",
                4,
                "on",
            ),
            // The caches of unused disks do not count; the cache of a disk that may be in use does.
            (": Ready", ": Global Hot-Spare", 4, "off"),
            (": Ready", ": Defunct", 4, "off"),
            (": Ready", ": Failed", 4, "off"),
            (": Ready", ": Online (JBOD)", 4, "off"),
            (": Ready", ": Online", 4, "on"),
            (": Ready", ": Raw (Pass Through)", 4, "off"),
            (
                "Present (Controller:1,Connector:0,Device:1)             Z1P34951",
                "Missing",
                4,
                "off",
            ),
        ],
    );
    add(
        &ControllerHost::arcconf_with_two_volumes("0:0:1:0"),
        &[
            ("Connector 0, Device 4", "Connector 0, Device 4", 4, "on"),
            (
                "3)             Z1P34JK3",
                "9)             Z9Z99XYZ",
                4,
                "on",
            ),
            (
                "Enabled (write-back)\n      Device #3",
                "Disabled (write-through)\n      Device #3",
                4,
                "on",
            ),
        ],
    );
    rows.extend(smartraid_and_storcli2_output_changes());
    rows
}

fn smartraid_and_storcli2_output_changes() -> Vec<(
    ControllerHost,
    &'static str,
    &'static str,
    usize,
    &'static str,
)> {
    let smartraid = [
        (
            "Status                        : Ok\n   Battery",
            "Status                        : Not Fully Charged\n   Battery",
            0,
            "charging",
        ),
        (
            "Status                        : Ok\n   Battery",
            "Status                        : Failed\n   Battery",
            0,
            "failed",
        ),
        (
            "Status                        : Ok\n   Battery",
            "Status                        : Sleepy\n   Battery",
            0,
            "?",
        ),
        (
            ": Ok\n   Battery/Capacitor Pack Count               : 1",
            ": Not Installed\n   Battery/Capacitor Pack Count : 0",
            0,
            "absent",
        ),
        (
            "Pack Count               : 1",
            "Pack Count               : 0",
            0,
            "?",
        ),
        (": No Error", ": Charge Start Error", 0, "degraded"),
        (
            "Cache Status                               : Ok",
            "Cache Status : Temporarily Disabled",
            2,
            "write through",
        ),
        (
            "Cache Status                               : Ok",
            "Cache Status : Temporarily Disabled",
            1,
            "write back",
        ),
        (
            "Cache Status                               : Ok",
            "Cache Status : Not Configured",
            2,
            "?",
        ),
        (
            "No-Battery Write Cache                     : Disabled",
            "No-Battery Write Cache : Enabled",
            1,
            "always write back",
        ),
        (
            "No-Battery Write Cache                     : Disabled",
            "No-Battery Write Cache : Enabled",
            3,
            "stays",
        ),
        (": 90 percent", ": 0 percent", 2, "write through"),
        (
            "Caching                                    : Enabled",
            "Caching : Disabled",
            2,
            "write through",
        ),
        (": Controller Cache", ": SSD I/O Bypass", 1, "?"),
        (": Controller Cache", ": SSD I/O Bypass", 2, "?"),
        (
            "Configured Drives                          : Disabled\n",
            "Configured Drives : Enabled\n",
            4,
            "on",
        ),
        (
            "Configured Drives                          : Disabled\n",
            "Configured Drives : Default\n",
            4,
            "off",
        ),
        (
            "Configured Drives                          : Disabled\n",
            "Configured Drives : Elsewhere\n",
            4,
            "?",
        ),
        (
            ": Disabled (write-through)",
            ": Enabled (write-back)",
            4,
            "on",
        ),
        (
            "         Write Cache                          : Disabled (write-through)\n",
            "",
            4,
            "off",
        ),
        (
            "Connector:0, Device:0)",
            "Connector:CN2, Backplane:0, Slot:1)",
            4,
            "off",
        ),
    ];
    let storcli2 = [
        (
            "\"Status\" : \"Optimal\"",
            "\"Status\" : \"Need Attention\"",
            0,
            "degraded",
        ),
        (
            "\"Status\" : \"Optimal\"",
            "\"Status\" : \"Critical\"",
            0,
            "failed",
        ),
        (
            "\"Status\" : \"Optimal\"",
            "\"Status\" : \"Unavailable\"",
            0,
            "unreadable",
        ),
        (
            "\"Status\" : \"Optimal\"",
            "\"Status\" : \"Learning\"",
            0,
            "learning",
        ),
        (
            "\"Status\" : \"Optimal\"",
            "\"Status\" : \"Splendid\"",
            0,
            "?",
        ),
        (
            "\"Energy Pack\" : \"Present\"",
            "\"Energy Pack\" : \"Absent\"",
            0,
            "?",
        ),
        (
            "\"CurrentCache\" : \"NR,WB\"",
            "\"CurrentCache\" : \"NR,WT\"",
            2,
            "write through",
        ),
        (
            "\"CurrentCache\" : \"NR,WB\"",
            "\"CurrentCache\" : \"NR,WT\"",
            1,
            "write back",
        ),
        ("NR,WB", "R,AWB", 1, "always write back"),
        ("NR,WB", "R,AWB", 2, "write back"),
        ("NR,WB", "R,AWB", 3, "stays"),
        ("NR,WB", "R,WT", 1, "write through"),
        ("NR,WB", "NRWB", 1, "?"),
        ("NR,WB", "nr,wb", 2, "?"),
        (
            "\"DefaultCache\" : \"NR,WB\"",
            "\"DefaultCache\" : \"NR,WT\"",
            1,
            "?",
        ),
        (
            "\"DefaultCache\" : \"NR,WB\"",
            "\"DefaultCache\" : \"NR,WT\"",
            2,
            "write back",
        ),
        (
            "\"Drive Write Cache Policy\" : \"Disabled\"",
            "\"Drive Write Cache Policy\" : \"Enabled\"",
            4,
            "on",
        ),
        (
            "\"Drive Write Cache Policy\" : \"Disabled\"",
            "\"Drive Write Cache Policy\" : \"Default\"",
            4,
            "disk default",
        ),
        ("\"PDC\" : \"dsbl\"", "\"PDC\" : \"enbl\"", 4, "on"),
        (
            "\"PDC\" : \"dsbl\"",
            "\"PDC\" : \"dflt\"",
            4,
            "disk default",
        ),
    ];
    let of = |machine: ControllerHost,
              list: &[(&'static str, &'static str, usize, &'static str)]| {
        list.iter()
            .map(|&(old, new, fact, word)| (machine.clone(), old, new, fact, word))
            .collect::<Vec<_>>()
    };
    [
        of(ControllerHost::smartraid(), &smartraid),
        of(ControllerHost::storcli2(), &storcli2),
    ]
    .concat()
}
