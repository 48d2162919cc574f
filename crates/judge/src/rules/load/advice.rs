use super::condition::{self, FactVisibility};
use super::fields::{CheckedTable, Item, SpannedText, TableSchema};
use super::{parse_one_line_template, parse_template};
use crate::facts::{Choice, KeyInfo, ValueKind};
use crate::rules::diagnostic::Place;
use crate::rules::model::{AdviceSpec, Author, ChangeSpec};
use crate::rules::template::{Template, has_quoted_placeholder};
use crate::rules::{
    Change, CommandPurpose, EffectScope, Level, Risk, UserCommandSpec, destructive_word_range,
};
use crate::settings::{self, Setting};

const ADVICE_SCHEMA: TableSchema = TableSchema {
    what: "this advice",
    required: &["setting", "reach", "risk"],
    optional: &[
        "set",
        "set_from",
        "add",
        "add_from",
        "remove",
        "remove_from",
        "keep",
        "when",
        "rank",
        "tradeoff",
        "price",
        "apply",
        "verify",
        "undo",
    ],
};
const CHANGE_KEYS: [&str; 7] = [
    "set",
    "set_from",
    "add",
    "add_from",
    "remove",
    "remove_from",
    "keep",
];

pub(super) fn parse_advice(
    item: Item<'_>,
    sight: &FactVisibility,
    level: Option<Level>,
    author: Author,
) -> Option<AdviceSpec> {
    let fields = CheckedTable::from_item(item, &ADVICE_SCHEMA)?;
    let setting = fields
        .parse_text_field("setting")
        .and_then(|name| find_setting(&name));
    let change = parse_change(&fields, setting, sight);
    let when = fields
        .get("when")
        .map(|when| condition::parse_condition(when, sight));
    let reach = fields.parse_choice("reach", EffectScope::ALL);
    let risk = fields.parse_choice("risk", Risk::ALL);
    let risk_place = fields.value_place("risk");
    // The key `tradeoff` has the older name `price`, which is still read.
    let older = fields.get("tradeoff").is_none();
    let tradeoff_key = if older { "price" } else { "tradeoff" };
    let tradeoff = fields.parse_text_field(tradeoff_key);
    let rank = fields.get("rank").map(parse_rank);
    if risk == Some(Risk::DataLossIfWrong) && level.is_some_and(|level| level != Level::Optional) {
        risk_place.report_mistake(
            "advice that can lose data must be optional",
            "write level = \"optional\" and add a tradeoff",
        );
    }
    if author == Author::User && risk == Some(Risk::DataLossIfWrong) {
        risk_place.report_mistake(
            "only walwise's own rules may give advice that can lose data",
            "describe the change in `because` instead; only walwise's own rules are tested against unknown facts",
        );
    }
    if let (Some(setting), Some(ChangeSpec::Fixed(change)), Some(risk)) = (setting, &change, risk)
        && (setting.can_lose_data(change.set_or_added_values())
            || setting.can_removal_lose_data(change.removed_options()))
        && risk != Risk::DataLossIfWrong
    {
        risk_place.report_mistake(
            format!(
                "{}: {} can lose data",
                setting.name,
                change.describe_change()
            ),
            match author {
                Author::Walwise => "risk = \"data-loss-if-wrong\"".to_owned(),
                Author::User => "a user's rule may not give such advice".to_owned(),
            },
        );
    }
    if let (Author::User, Some(setting), Some(ChangeSpec::Fixed(change))) =
        (author, setting, &change)
    {
        for word in change
            .set_or_added_values()
            .iter()
            .chain(change.removed_options())
        {
            if let Some(help) = forbidden_option_word_help(setting, word) {
                let added = fields.get("add").is_some();
                let key = if added { "add" } else { "remove" };
                let what = format!(
                    "walwise does not support `{word}` as a value of {}",
                    setting.name
                );
                fields.value_place(key).report_mistake(what, help);
            }
        }
    }
    let keeps = matches!(change, Some(ChangeSpec::Fixed(Change::Keep)));
    if level == Some(Level::Optional)
        && tradeoff.is_none()
        && !keeps
        && fields.get(tradeoff_key).is_none()
    {
        fields.report_missing_entry(
            "optional advice needs a `tradeoff`",
            "add tradeoff = \"…\" with the cost of the change",
        );
    }
    let tradeoff = tradeoff.map(|text| parse_one_line_template(&text, sight));
    let mut own = Vec::new();
    let mut commands = |purpose: CommandPurpose| {
        let texts = fields.parse_text_list(purpose.as_str()).unwrap_or_default();
        let mut ours = Vec::new();
        for text in texts {
            let Some(command) = parse_command(&text, sight) else {
                continue;
            };
            match author {
                Author::Walwise => ours.push(command),
                Author::User => {
                    report_note_if_destructive(&text);
                    own.push(UserCommandSpec { purpose, command });
                }
            }
        }
        ours
    };
    let (apply, verify, undo) = (
        commands(CommandPurpose::Apply),
        commands(CommandPurpose::Verify),
        commands(CommandPurpose::Undo),
    );
    Some(AdviceSpec {
        setting: setting?,
        change: change?,
        when: when.map_or(Some(None), |when| when.map(Some))?,
        reach: reach?,
        risk: risk?,
        rank: rank.map_or(Some(None), |rank| rank.map(Some))?,
        tradeoff,
        apply,
        verify,
        undo,
        user_commands: own,
    })
}

pub(super) fn find_setting(name: &SpannedText<'_>) -> Option<&'static Setting> {
    let setting = settings::find_by_name(&name.text);
    if setting.is_none() {
        name.report_unknown_word(
            format!("unknown setting `{}`", name.text),
            &name.text,
            settings::ALL.iter().map(|setting| setting.name),
        );
    }
    setting
}

fn parse_change(
    fields: &CheckedTable<'_>,
    setting: Option<&'static Setting>,
    sight: &FactVisibility,
) -> Option<ChangeSpec> {
    let given: Vec<&str> = CHANGE_KEYS
        .into_iter()
        .filter(|change| fields.get(change).is_some())
        .collect();
    let mut fit = true;
    for change in &given {
        fit &= check_change_fits_setting(change, fields, setting);
    }
    match given.as_slice() {
        _ if !fit => None,
        ["add", "remove"] => {
            let (add, remove) = (
                parse_options("add", fields, setting),
                parse_options("remove", fields, setting),
            );
            Some(ChangeSpec::Fixed(Change::Edit {
                add: add?,
                remove: remove?,
            }))
        }
        ["set"] => parse_set_value(&fields.parse_text_field("set")?, setting),
        ["add"] => {
            parse_options("add", fields, setting).map(|add| ChangeSpec::Fixed(Change::Add(add)))
        }
        ["remove"] => parse_options("remove", fields, setting)
            .map(|remove| ChangeSpec::Fixed(Change::Remove(remove))),
        ["set_from"] => {
            condition::parse_fact(fields.get("set_from")?, sight).map(ChangeSpec::SetFrom)
        }
        ["add_from"] => {
            parse_fact_with_list_value("add_from", fields, sight).map(ChangeSpec::AddFrom)
        }
        ["remove_from"] => {
            parse_fact_with_list_value("remove_from", fields, sight).map(ChangeSpec::RemoveFrom)
        }
        ["keep"] => {
            let item = fields.get("keep")?;
            if item.value().as_bool() != Some(true) {
                item.report_mistake(
                    "`keep` must be true",
                    "write keep = true, or remove the key",
                );
                return None;
            }
            Some(ChangeSpec::Fixed(Change::Keep))
        }
        given => {
            let help = format!(
                "one of: {}; or add and remove together",
                CHANGE_KEYS.join(", ")
            );
            match given {
                [] => fields.report_missing_entry("the advice changes nothing", help),
                given => {
                    fields.report_mistake(
                        format!("{} in one advice entry", given.join(" and ")),
                        help,
                    );
                }
            }
            None
        }
    }
}

fn check_change_fits_setting(
    change: &str,
    fields: &CheckedTable<'_>,
    setting: Option<&'static Setting>,
) -> bool {
    let Some(setting) = setting else { return true };
    let (fitting, is, help) = match setting.shape {
        settings::ValueShape::Single => (
            ["set", "set_from", "keep"].contains(&change),
            "one value",
            "set, set_from or keep",
        ),
        settings::ValueShape::Options => (
            !change.starts_with("set"),
            "a list of options",
            "add, remove or keep",
        ),
    };
    if !fitting {
        fields.key_place(change).report_mistake(
            format!("{} is {is}: `{change}` does not fit", setting.name),
            help,
        );
    }
    fitting
}

/// mkfs options that affect sizes and names, but not the guarantees of a file system.
const MKFS_OPTIONS: [&str; 12] = [
    "-b", "-d", "-E", "-i", "-I", "-l", "-L", "-m", "-n", "-N", "-s", "-T",
];

/// Feature words that drop all defaults of mkfs, including the journal (mke2fs(8)).
const FEATURE_RESETS: [&str; 2] = ["none", "clear"];

/// A help text for a word that a user's list must not contain, because the word ends up in a
/// command or in fstab. `None` if the word is allowed.
fn forbidden_option_word_help(setting: &Setting, word: &str) -> Option<&'static str> {
    let of = |more: &'static str| move |c: char| c.is_ascii_alphanumeric() || more.contains(c);
    if setting.kind.is_list_of_words() {
        let name = word.strip_prefix('^').unwrap_or(word);
        let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let hidden = setting.kind.is_mkfs()
            && (name.contains(|c: char| c.is_ascii_uppercase()) || FEATURE_RESETS.contains(&name));
        let fits = begins && name.chars().all(of("_.:=%/+-@"));
        return (hidden || !fits).then_some("write the name of one option, such as \"noatime\"");
    }
    if setting.kind.is_mkfs() {
        let known = word
            .split_whitespace()
            .next()
            .is_some_and(|first| MKFS_OPTIONS.contains(&first));
        let fits = known && word.chars().all(of("_.:=/,- "));
        return (!fits).then_some(
            "write one option with its value, such as \"-b 4096\"; features belong in mkfs.features",
        );
    }
    None
}

/// Reports an empty option word, or one that may hold several options. Of several options in a
/// word, only the first would be judged.
fn report_if_not_single_option(word: &SpannedText<'_>, setting: Option<&'static Setting>) {
    let Some(setting) = setting else { return };
    // mkfs options may contain any character, because they are written as on the command line, with
    // their values.
    let as_written = !setting.kind.is_list_of_words();
    let odd = |c: char| c == ',' || c.is_whitespace() || "'\"".contains(c);
    let place = word.text.find(odd).filter(|_| !as_written);
    let (at, what) = match (place, word.text.trim().is_empty()) {
        (_, true) => (0..word.text.len(), "an empty option".to_owned()),
        (Some(at), _) => {
            let c = word
                .text
                .get(at..)
                .and_then(|rest| rest.chars().next())
                .unwrap_or_default();
            let what = if c == ',' {
                "a comma".to_owned()
            } else {
                format!("`{c}`")
            };
            (
                at..at + c.len_utf8(),
                format!("{what} inside a single option of {}", setting.name),
            )
        }
        (None, false) => return,
    };
    let words: Vec<String> = word
        .text
        .split(odd)
        .filter(|one| !one.is_empty())
        .map(|one| format!("\"{one}\""))
        .collect();
    word.part(at).report_mistake(
        what,
        format!("write one option per string: [{}]", words.join(", ")),
    );
}

fn parse_options(
    key: &str,
    fields: &CheckedTable<'_>,
    setting: Option<&'static Setting>,
) -> Option<Vec<String>> {
    let words = fields.parse_text_list(key)?;
    if !fields.get(key).is_some_and(|item| item.value().is_array()) {
        return None;
    }
    if words.is_empty() {
        fields.report_missing_entry(
            format!("`{key}` is empty"),
            format!("`{key}` needs at least one option: [\"noatime\"]"),
        );
        return None;
    }
    let before = fields.problems.mistake_count();
    for word in &words {
        report_if_not_single_option(word, setting);
    }
    (fields.problems.mistake_count() == before)
        .then(|| words.into_iter().map(|word| word.text).collect())
}

fn parse_fact_with_list_value(
    key: &str,
    fields: &CheckedTable<'_>,
    sight: &FactVisibility,
) -> Option<&'static KeyInfo> {
    let item = fields.get(key)?;
    let fact = condition::parse_fact(item, sight)?;
    if !fact.kind.is_list() {
        item.report_mistake(
            format!(
                "{} is {}, not a list",
                fact.name,
                fact.kind.value_kind_description()
            ),
            "`walwise facts --list` shows which facts are lists",
        );
        return None;
    }
    Some(fact)
}

fn parse_set_value(
    value: &SpannedText<'_>,
    setting: Option<&'static Setting>,
) -> Option<ChangeSpec> {
    if value.text.contains('{') {
        value.report_mistake(
            "a value cannot contain facts",
            "set_from = \"fact.name\" takes the value from a fact",
        );
        return None;
    }
    let words: &[&str] = match setting
        .and_then(|setting| setting.current)
        .map(|fact| fact.kind)
    {
        Some(ValueKind::Choice(words)) => words,
        Some(ValueKind::Bool) => &["on", "off"],
        _ => &[],
    };
    if !words.is_empty() && !words.contains(&value.text.as_str()) {
        value.report_unknown_word(
            format!("the setting cannot be `{}`", value.text),
            &value.text,
            words.iter().copied(),
        );
        return None;
    }
    if let Some(setting) = setting.filter(|setting| !setting.is_valid_value(&value.text)) {
        let kind = setting.current.map_or_else(
            || "text".to_owned(),
            |fact| fact.kind.value_kind_description(),
        );
        value.report_mistake(
            format!("{} cannot be `{}`", setting.name, value.text),
            format!("the value must be {kind}"),
        );
        return None;
    }
    Some(ChangeSpec::Fixed(Change::Set(value.text.clone())))
}

fn parse_rank(item: Item<'_>) -> Option<u32> {
    let rank = item
        .value()
        .as_integer()
        .and_then(|rank| rank.as_str().parse().ok())
        .filter(|rank| *rank > 0);
    if rank.is_none() {
        item.report_mistake(
            "a rank must be a whole number of at least 1",
            "write rank = 1 for the first choice",
        );
    }
    rank
}

fn report_note_if_destructive(text: &SpannedText<'_>) {
    let Some(range) = destructive_word_range(&text.text) else {
        return;
    };
    let word = text.text.get(range.clone()).unwrap_or_default();
    text.part(range).report_note(
        format!("this command may destroy data: `{word}`"),
        "walwise does not check commands of a user's rule; make sure that this one is safe",
    );
}

fn parse_command(text: &SpannedText<'_>, sight: &FactVisibility) -> Option<Template> {
    if text.text.contains('\n') {
        text.report_mistake(
            "a command must be one line",
            "write several commands as several strings: [\"…\", \"…\"]",
        );
        return None;
    }
    if has_quoted_placeholder(&text.text) {
        text.report_mistake(
            "a placeholder is quoted",
            "remove the quotes around the placeholder: walwise quotes the value",
        );
        return None;
    }
    Some(parse_template(text, sight))
}
