//! Features that are chosen when a file system is made: known to the tool, and mountable by the kernel. The surprise:
//! doing nothing is a choice too, because newer tools set features by default that older kernels cannot mount.

use super::life::backports;
use super::table::{Feature, table};
use super::{Effect, Ruling};
use crate::version::Version;

/// Whether a feature can be chosen with this tool and mounted by this kernel.
pub fn mkfs_feature(fs: &str, feature: &str, tool: Option<&Version>, kernel: Option<&Version>) -> Ruling {
    let Some(found) = table().features.iter().find(|known| known.of == fs && known.name == feature) else {
        return Ruling::unknown(format!("The table does not know the feature {feature} of {fs}."));
    };
    let ruling = |effect, because: String| Ruling { effect, because, source: found.source.clone() };
    if let Some(tool) = tool.filter(|tool| *tool < &found.tool) {
        return ruling(
            Effect::Refused,
            format!("The tools are {tool}; they know {feature} from {} on.", found.tool),
        );
    }
    match (tool, kernel) {
        (_, Some(kernel)) if kernel < &found.kernel && !kernel.backports() => ruling(
            Effect::Refused,
            format!("Kernel {kernel} cannot mount it; {} and later can.", found.kernel),
        ),
        (None, _) => Ruling::unknown("The version of the tools is not known."),
        (_, None) => Ruling::unknown("The kernel's version is not known."),
        (_, Some(kernel)) if kernel < &found.kernel => Ruling::unknown(format!(
            "Kernels from {} on can mount it; whether the vendor carried that into {kernel} is not known.",
            found.kernel
        )),
        (Some(tool), Some(_)) => match &found.advised {
            Some(advised) if tool < advised => {
                ruling(Effect::Deprecated, format!("Use tools from {advised} on. {}", found.because))
            }
            _ => ruling(Effect::Ok, String::new()),
        },
    }
}

/// Whether a file system that the tool makes without being asked for anything can be mounted by the kernel: the names of
/// features that stand against it, or may.
pub fn mkfs_defaults(fs: &str, tool: &Version, kernel: &Version, vendor: &str) -> Ruling {
    let set = |known: &&Feature| known.of == fs && known.default.as_ref().is_some_and(|from| tool >= from);
    let too_new: Vec<&Feature> =
        table().features.iter().filter(set).filter(|known| kernel < &known.kernel).collect();
    let Some(first) = too_new.first() else {
        return Ruling { effect: Effect::Ok, because: String::new(), source: String::new() };
    };
    let names: Vec<&str> = too_new.iter().map(|known| known.name.as_str()).collect();
    let effect = if backports(kernel, vendor) { Effect::Unknown } else { Effect::Refused };
    let because = format!(
        "The tools ({tool}) set {} by default, which kernel {kernel} {} mount.",
        names.join(", "),
        if effect == Effect::Refused { "cannot" } else { "may be unable to" }
    );
    Ruling { effect, because, source: first.source.clone() }
}
