//! The advice of a rule: a setting, one change that fits it, who is affected, what could go wrong, and commands.

use super::cond::{self, Sight};
use super::fields::{Fields, Item, Shape, Text};
use super::{prose, template};
use crate::facts::{KeyInfo, Kind, catalog};
use crate::rules::diagnostic::Problems;
use crate::rules::model::{AdviceSpec, Author, ChangeSpec};
use crate::rules::suggest;
use crate::rules::template::{Template, quotes_a_placeholder};
use crate::rules::{Change, Level, Reach, Risk};
use crate::settings::{self, Setting};

const ADVICE: Shape = Shape {
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
        "price",
        "apply",
        "verify",
        "undo",
    ],
};
const CHANGES: [&str; 7] = ["set", "set_from", "add", "add_from", "remove", "remove_from", "keep"];

/// Reads a piece of advice of a rule of this level.
pub(super) fn advice(
    item: Item<'_>,
    sight: &Sight,
    level: Option<Level>,
    author: Author,
    problems: &mut Problems,
) -> Option<AdviceSpec> {
    let fields = Fields::open(item, &ADVICE, problems)?;
    let setting = fields.text("setting", problems).and_then(|name| setting(&name, problems));
    let change = change(&fields, setting, sight, problems);
    let when = fields.get("when").map(|when| cond::cond(when, sight, problems));
    let reach = fields.word("reach", &Reach::ALL, Reach::word, problems);
    let risk = fields.word("risk", &Risk::ALL, Risk::word, problems);
    let price = fields.text("price", problems);
    let rank = fields.get("rank").map(|item| rank(item, problems));
    if risk == Some(Risk::DataLossIfWrong) && level.is_some_and(|level| level != Level::Option) {
        problems.report(
            fields.get("risk").map_or(fields.span.clone(), toml::Spanned::span),
            "what can lose data is never more than an option",
            "level = \"option\", with its price".to_owned(),
        );
    }
    if author == Author::User && risk == Some(Risk::DataLossIfWrong) {
        problems.report(
            fields.get("risk").map_or(fields.span.clone(), toml::Spanned::span),
            "what can lose data is advised by the rules that come with walwise alone",
            "their tests show that nothing unknown leads to it; a rule may say its opinion in `because`"
                .to_owned(),
        );
    }
    if let (Some(setting), Some(ChangeSpec::Fixed(change)), Some(risk)) = (setting, &change, risk)
        && setting.can_lose(change.values())
        && risk != Risk::DataLossIfWrong
    {
        problems.report(
            fields.get("risk").map_or(fields.span.clone(), toml::Spanned::span),
            format!("{}: {} can lose data", setting.name, change.words()),
            match author {
                Author::Walwise => "risk = \"data-loss-if-wrong\"".to_owned(),
                Author::User => "such advice is not a user's rule's to give".to_owned(),
            },
        );
    }
    let keeps = matches!(change, Some(ChangeSpec::Fixed(Change::Keep)));
    if level == Some(Level::Option) && price.is_none() && !keeps && fields.get("price").is_none() {
        problems.missing(fields.span.clone(), "an option without its `price`", None);
    }
    let price = price.map(|price| prose(&price, sight, problems));
    let mut commands = |key: &str| {
        let commands = fields.texts(key, problems).unwrap_or_default();
        commands.iter().filter_map(|text| command(text, sight, problems)).collect::<Vec<_>>()
    };
    let (apply, verify, undo) = (commands("apply"), commands("verify"), commands("undo"));
    Some(AdviceSpec {
        setting: setting?,
        change: change?,
        when: when.map_or(Some(None), |when| when.map(Some))?,
        reach: reach?,
        risk: risk?,
        rank: rank.map_or(Some(None), |rank| rank.map(Some))?,
        price,
        apply,
        verify,
        undo,
    })
}

fn setting(name: &Text, problems: &mut Problems) -> Option<&'static Setting> {
    let setting = settings::find(&name.text);
    if setting.is_none() {
        let help = suggest::or_list(&name.text, settings::ALL.iter().map(|setting| setting.name));
        problems.report(name.span.clone(), format!("unknown setting `{}`", name.text), help);
    }
    setting
}

fn change(
    fields: &Fields<'_>,
    setting: Option<&'static Setting>,
    sight: &Sight,
    problems: &mut Problems,
) -> Option<ChangeSpec> {
    let given: Vec<&str> = CHANGES.into_iter().filter(|change| fields.get(change).is_some()).collect();
    let mut fit = true;
    for change in &given {
        fit &= fits(change, fields, setting, problems);
    }
    match given.as_slice() {
        _ if !fit => None,
        ["add", "remove"] => {
            let (add, remove) = (words("add", fields, problems), words("remove", fields, problems));
            Some(ChangeSpec::Fixed(Change::Edit { add: add?, remove: remove? }))
        }
        ["set"] => set(&fields.text("set", problems)?, setting, problems),
        ["add"] => words("add", fields, problems).map(|add| ChangeSpec::Fixed(Change::Add(add))),
        ["remove"] => {
            words("remove", fields, problems).map(|remove| ChangeSpec::Fixed(Change::Remove(remove)))
        }
        ["set_from"] => cond::fact(fields.get("set_from")?, sight, problems).map(ChangeSpec::SetFrom),
        ["add_from"] => list_of("add_from", fields, sight, problems).map(ChangeSpec::AddFrom),
        ["remove_from"] => list_of("remove_from", fields, sight, problems).map(ChangeSpec::RemoveFrom),
        ["keep"] => {
            let item = fields.get("keep")?;
            if item.get_ref().as_bool() != Some(true) {
                problems.report(item.span(), "`keep` is true or not there", None);
                return None;
            }
            Some(ChangeSpec::Fixed(Change::Keep))
        }
        given => {
            let help = format!("one of: {}; or add and remove together", CHANGES.join(", "));
            match given {
                [] => problems.missing(fields.span.clone(), "advice that changes nothing", help),
                given => {
                    problems.report(
                        fields.span.clone(),
                        format!("{} in one advice", given.join(" and ")),
                        help,
                    );
                }
            }
            None
        }
    }
}

/// Whether a change fits the setting's shape.
fn fits(
    change: &str,
    fields: &Fields<'_>,
    setting: Option<&'static Setting>,
    problems: &mut Problems,
) -> bool {
    let Some(setting) = setting else { return true };
    let (fitting, is, help) = match setting.shape {
        settings::Shape::One => {
            (["set", "set_from", "keep"].contains(&change), "one value", "set, set_from or keep")
        }
        settings::Shape::Options => (!change.starts_with("set"), "a list of options", "add, remove or keep"),
    };
    if !fitting {
        let span = fields.key_span(change).unwrap_or_else(|| fields.span.clone());
        problems.report(span, format!("{} is {is}: `{change}` does not fit", setting.name), help.to_owned());
    }
    fitting
}

fn words(key: &str, fields: &Fields<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    let words = fields.texts(key, problems)?;
    if words.is_empty() {
        problems.missing(fields.span.clone(), format!("`{key}` of nothing"), None);
        return None;
    }
    Some(words.into_iter().map(|word| word.text).collect())
}

fn list_of(
    key: &str,
    fields: &Fields<'_>,
    sight: &Sight,
    problems: &mut Problems,
) -> Option<&'static KeyInfo> {
    let item = fields.get(key)?;
    let fact = cond::fact(item, sight, problems)?;
    if !fact.kind.is_list() {
        problems.report(item.span(), format!("{} is {}, not a list", fact.name, fact.kind.words()), None);
        return None;
    }
    Some(fact)
}

fn set(value: &Text, setting: Option<&'static Setting>, problems: &mut Problems) -> Option<ChangeSpec> {
    if !Template::parse(&value.text, catalog::find).1.is_empty() || value.text.contains('{') {
        problems.report(
            value.span.clone(),
            "a value is not a text with facts in it",
            "set_from = \"fact.name\" takes the value from a fact".to_owned(),
        );
        return None;
    }
    let words: &[&str] = match setting.and_then(|setting| setting.current).map(|fact| fact.kind) {
        Some(Kind::Choice(words)) => words,
        Some(Kind::Bool) => &["on", "off"],
        _ => &[],
    };
    if !words.is_empty() && !words.contains(&value.text.as_str()) {
        let help = suggest::or_list(&value.text, words.iter().copied());
        problems.report(value.span.clone(), format!("the setting is never `{}`", value.text), help);
        return None;
    }
    Some(ChangeSpec::Fixed(Change::Set(value.text.clone())))
}

fn rank(item: Item<'_>, problems: &mut Problems) -> Option<u32> {
    let rank =
        item.get_ref().as_integer().and_then(|rank| rank.as_str().parse().ok()).filter(|rank| *rank > 0);
    if rank.is_none() {
        problems.report(item.span(), "a rank is a whole number from 1", None);
    }
    rank
}

fn command(text: &Text, sight: &Sight, problems: &mut Problems) -> Option<Template> {
    if text.text.contains('\n') {
        problems.report(text.span.clone(), "a command is one line", None);
        return None;
    }
    if quotes_a_placeholder(&text.text) {
        let help = "write the fact without quotes around it: it comes out quoted".to_owned();
        problems.report(text.span.clone(), "a fact between quotes", help);
        return None;
    }
    Some(template(&text.text, &text.span, sight, problems))
}
