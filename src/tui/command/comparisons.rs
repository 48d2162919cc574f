use super::{Action, HelpSection, KeyCommand, filtered_list_commands, key};
use crate::tui::changes_state::ReferenceList;
use crate::tui::export;
use crate::tui::job::ComparisonReference;
use crate::tui::model::Model;
use crate::tui::screen_data::ConfirmationRequest;
use crate::tui::screen_id::ScreenId;

pub(super) fn comparison_commands(model: &Model) -> Vec<KeyCommand> {
    let is_shown = model.screen == ScreenId::Changes;
    let enabled = export::check_can_export(&model.data);
    let command = |keys, label, footer, action| {
        let footer = if is_shown { footer } else { "" };
        key(keys, label, footer, HelpSection::Work, action).enabled_if(enabled)
    };
    let mut all = vec![
        command(
            "b",
            "compare with a saved report",
            "b baseline",
            Action::AskReference(ComparisonReference::SavedReport),
        ),
        command(
            "o",
            "compare with a later distribution or kernel",
            "o upgrade to",
            Action::AskReference(ComparisonReference::Upgrade),
        ),
    ];
    if is_shown {
        let label = "save the report for later comparisons";
        let idle = enabled.and_then(|()| model.data.activity.check_idle());
        all.push(command("s", label, "s save report", Action::PlanReportSave).enabled_if(idle));
    }
    all
}

pub(super) fn reference_list_commands(list: &ReferenceList) -> Vec<KeyCommand> {
    let chosen = list.chosen_reference_name().map(|_| ());
    filtered_list_commands("compare with this entry", "enter compare", chosen)
}

pub(super) fn confirmation_commands(
    question: &ConfirmationRequest,
    plan: &Result<Vec<String>, String>,
) -> [KeyCommand; 2] {
    let (label, footer) = match question {
        ConfirmationRequest::Probe(_) => ("start", "y start"),
        ConfirmationRequest::SaveReport => ("save", "y save"),
    };
    let close = if plan.is_ok() { "n no" } else { "esc close" };
    let start = key("y", label, footer, HelpSection::Selection, Action::Confirm);
    [
        start.enabled_if(plan.as_ref().map(|_| ()).map_err(String::as_str)),
        key(
            "n esc q",
            "cancel",
            close,
            HelpSection::Selection,
            Action::Close,
        ),
    ]
}
