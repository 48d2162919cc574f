//! The udev rules that apply the disk queue settings of the plan. A rule matches a disk by an
//! identifying attribute, because device names can change at boot. A disk without a readable
//! identity gets no rule.

use std::collections::BTreeSet;

use walwise_model::settings::Setting;

use super::{
    comment_lines, file_header, nothing_to_change_text, pasteable_or_commented_lines,
    section_heading_comment, step_reason_comments,
};
use crate::disk_id::{self, DiskIdAttribute};
use crate::{Report, Step, setting_source};
use walwise_judge::rules::Change;
use walwise_model::escape::udev;
use walwise_model::facts::{Scope, Subject};

pub fn render_udev_rules(report: &Report) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut done: BTreeSet<(&Subject, &Setting)> = BTreeSet::new();
    for step in report.plans.iter().flat_map(|plan| &plan.steps) {
        let key = (&step.subject, step.advice.setting);
        let of_device =
            step.subject.scope() == Scope::Device && step.advice.setting.kind.is_queue_attribute();
        if of_device && !step.keeps_setting() && done.insert(key) {
            parts.push(rule_with_comments(report, step));
        }
    }
    if parts.is_empty() {
        let why = if report.targets.is_empty() {
            "No database, data mount or free disk was found."
        } else {
            "No plan changes a setting of a block device."
        };
        parts.push("\n".to_owned() + &nothing_to_change_text(&[why]));
    }
    let how = [
        "Save the rules as /etc/udev/rules.d/99-walwise.rules; they take effect at the next boot. To apply them now, run",
        "  udevadm control --reload && udevadm trigger --action=change --subsystem-match=block",
    ];
    file_header(report, "udev rules", &how) + &parts.concat()
}

fn rule_with_comments(report: &Report, step: &Step) -> String {
    let setting = step.advice.setting;
    let told = section_heading_comment(&format!("{setting} of {}", step.subject.name()))
        + &step_reason_comments(&[step])
        + &comment_lines(&[format!(
            "now: {}",
            setting_source::current_value_with_source(&step.advice)
        )]);
    let line = match rule_line(report, step) {
        Ok(line) => pasteable_or_commented_lines(report, &[step], &[line]),
        Err(why) => comment_lines(&[format!("No udev rule: {why}.")]),
    };
    told + &line
}

/// The error is the reason why no rule can be given.
fn rule_line(report: &Report, step: &Step) -> Result<String, String> {
    let attribute = step.advice.setting.name_without_area();
    let Change::Set(value) = &step.advice.change else {
        return Err("a udev rule can set only a single value".to_owned());
    };
    let plain = |value: &str| {
        udev::quote_udev_value(value)
            .ok_or_else(|| format!("the value cannot be quoted in a udev rule: {value}"))
    };
    let set = plain(value)?;
    let Some(DiskIdAttribute { file, value: shown }) =
        disk_id::find_disk_id_attribute(report, &step.subject)
    else {
        let why = if report.host.live {
            "no serial number or WWN was read, and device names can change at boot"
        } else {
            "a capture masks disk identities"
        };
        return Err(why.to_owned());
    };
    let is = plain(&shown)?;
    Ok(format!(
        "ACTION!=\"remove\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", ATTR{{{file}}}=={is}, ATTR{{queue/{attribute}}}={set}"
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample_reports;
    use walwise_judge::rules::{Level, Risk};
    use walwise_model::facts::Source;
    use walwise_model::facts::catalog::device;

    fn report_with_disk_step(
        setting: &str,
        change: Change,
        identity: Option<(&str, &str)>,
    ) -> Report {
        let mut report = sample_reports::at_risk();
        let disk = Subject::device("sdb");
        if let Some((file, value)) = identity {
            let source = Source::from_file(format!("/sys/class/block/sdb/{file}"));
            report
                .facts
                .insert_known(&disk, &device::UNIT, value.to_owned(), source);
        }
        let step = report.plans[0].steps.first_mut().unwrap();
        (step.subject, step.level) = (disk, Level::Advice);
        step.advice = sample_reports::advice_without_current_value(setting, change);
        report
    }

    fn uncommented_lines(text: &str) -> Vec<&str> {
        text.lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .collect()
    }

    fn change_to_set(value: &str) -> Change {
        Change::Set(value.to_owned())
    }

    /// Splits a rule into (key, operator, value) like udev (udev-rules.c, parse_line).
    fn parse_rule(line: &str) -> Option<Vec<(String, String, String)>> {
        let mut out = Vec::new();
        for token in line.split(", ") {
            let (left, value) = token.strip_suffix('"')?.split_once('"')?;
            let key = left.trim_end_matches(['=', '!']);
            let operator = left.get(key.len()..)?;
            if value.contains(['"', '\\', '*', '?', '[', '|', '$', '%']) {
                return None;
            }
            out.push((key.to_owned(), operator.to_owned(), value.to_owned()));
        }
        Some(out)
    }

    #[test]
    fn rule_matches_disk_by_wwid() {
        let wwid = Some(("device/wwid", "t10.ATA     Samsung SSD 870 EVO"));
        let text = render_udev_rules(&report_with_disk_step(
            "block.write_cache",
            change_to_set("write back"),
            wwid,
        ));
        assert_eq!(
            uncommented_lines(&text),
            [
                "ACTION!=\"remove\", SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", \
                 ATTR{device/wwid}==\"t10.ATA     Samsung SSD 870 EVO\", ATTR{queue/write_cache}=\"write back\""
            ]
        );
        assert!(text.contains("# advice: Title of "), "{text}");
        let without = render_udev_rules(&report_with_disk_step(
            "block.scheduler",
            change_to_set("none"),
            None,
        ));
        assert_eq!(uncommented_lines(&without), Vec::<&str>::new());
        assert!(
            without.contains("# No udev rule: no serial number or WWN was read"),
            "{without}"
        );
    }

    #[test]
    fn capture_and_risky_rules_are_commented_out() {
        let wwid = Some(("device/wwid", "naa.5002538e40a1b2c3"));
        let mut captured = report_with_disk_step("block.scheduler", change_to_set("none"), wwid);
        captured.host.live = false;
        let mut dangerous =
            report_with_disk_step("block.write_cache", change_to_set("write through"), wwid);
        dangerous.plans[0].steps[0].advice.risk = Risk::DataLossIfWrong;
        for report in [captured, dangerous] {
            let text = render_udev_rules(&report);
            assert_eq!(uncommented_lines(&text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn file_without_rules_states_reason() {
        let text = render_udev_rules(&sample_reports::free_disk());
        assert!(
            text.contains("# Nothing to change:\n# No plan changes a setting of a block device.\n"),
            "{text}"
        );
    }

    proptest! {
        #[test]
        fn generated_rules_parse_back(
            shown in prop_oneof!["[a-zA-Z0-9 ._:-]{1,20}", any::<String>()],
            value in prop_oneof!["[a-z -]{1,12}", any::<String>()],
            title: String,
            name in prop::sample::select(vec!["scheduler", "write_cache"]),
        ) {
            let mut report = report_with_disk_step(&format!("block.{name}"), change_to_set(&value), Some(("device/wwid", &shown)));
            report.plans[0].steps[0].title = title;
            let text = render_udev_rules(&report);
            for line in uncommented_lines(&text) {
                let tokens = parse_rule(line).ok_or_else(|| TestCaseError::fail(line.to_owned()))?;
                let token = |key: &str, operator: &str, value: &str| (key.to_owned(), operator.to_owned(), value.to_owned());
                prop_assert_eq!(tokens, [
                    token("ACTION", "!=", "remove"),
                    token("SUBSYSTEM", "==", "block"),
                    token("ENV{DEVTYPE}", "==", "disk"),
                    token("ATTR{device/wwid}", "==", &shown),
                    token(&format!("ATTR{{queue/{name}}}"), "=", &value),
                ]);
            }
        }
    }
}
