//! Synonyms of keys and headings, one table per family of tools. Parsers use only the canonical
//! names.

/// Rows of synonyms, the canonical name first.
pub type Synonyms = &'static [&'static [&'static str]];

/// Keys of storcli, perccli, storcli2 and perccli2. *BBU* stands for batteries and flash modules
/// (CacheVault); storcli prints *Energy Pack* from 7.24 on, storcli2 always.
pub const MEGARAID_JSON: Synonyms = &[
    &["BBU", "Energy Pack", "EnergyPack"],
    &["BBU Status", "Energy Pack Status", "EnergyPack Status"],
    &[
        "BBU_Info",
        "Energy_Pack_Info",
        "Energy Pack Info",
        "EnergyPack_Info",
        "EnergyPack Info",
        "BBU Info",
    ],
    &[
        "Cachevault_Info",
        "CacheVault_Info",
        "Cachevault Info",
        "CacheVault Info",
    ],
    &[
        "Cache When BBU Bad",
        "Write Cache When BBU Bad",
        "Cache When Energy Pack Bad",
        "Write Cache When Energy Pack Bad",
    ],
    &["Disk Cache Policy", "Drive Write Cache Policy"],
];

pub const MEGARAID: Synonyms = &[
    &["battery state", "bbu state", "energy pack state"],
    &["battery pack missing", "energy pack missing"],
    &[
        "battery replacement required",
        "replacement required",
        "energy pack replacement required",
    ],
    &[
        "pack is about to fail & should be replaced",
        "battery pack is about to fail & should be replaced",
        "energy pack is about to fail & should be replaced",
    ],
    &[
        "no write cache if bad bbu",
        "no write cache if bad energy pack",
    ],
    &[
        "write cache ok if bad bbu",
        "write cache ok if bad energy pack",
    ],
];

pub const SMART_ARRAY: Synonyms = &[
    &[
        "battery/capacitor status",
        "energy pack status",
        "battery status",
        "capacitor status",
        "battery pack status",
    ],
    &[
        "battery/capacitor count",
        "energy pack count",
        "battery count",
        "capacitor count",
        "battery pack count",
    ],
    &["cache ratio", "accelerator ratio"],
    &["caching", "array accelerator"],
    &["no-battery write cache", "no-energy pack write cache"],
];

pub const ADAPTEC: Synonyms = &[
    &[
        "supercap status",
        "capacitor status",
        "energy pack status",
        "battery status",
    ],
    &[
        "battery/capacitor pack count",
        "battery pack count",
        "capacitor pack count",
        "energy pack count",
    ],
    &[
        "backup power status",
        "green backup status",
        "energy pack power status",
    ],
    &["no-battery write cache", "no-energy pack write cache"],
    &["reported channel,device", "reported channel,device(t"],
    &[
        "configured drives",
        "global physical device write cache policy",
    ],
];

/// Headings under which arcconf prints the battery or capacitors of the cache.
pub const BACKUP_UNITS: [&str; 6] = [
    "battery",
    "zmm",
    "cache backup unit",
    "supercap",
    "green backup",
    "energy pack",
];

pub fn canonical_key_of_synonym(names: Synonyms, name: &str) -> &str {
    names
        .iter()
        .find(|row| row.contains(&name))
        .and_then(|row| row.first())
        .copied()
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn synonyms_are_unique() {
        for names in [MEGARAID_JSON, MEGARAID, SMART_ARRAY, ADAPTEC] {
            let all: Vec<&str> = names.iter().flat_map(|row| row.iter().copied()).collect();
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        }
    }
}
