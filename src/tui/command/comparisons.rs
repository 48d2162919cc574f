use super::{
    Action, HelpSection, KeyCommand, close_command, list_overlay_commands, new_key_command,
    text_deletion_commands,
};
use crate::tui::changes_state::ReferenceList;
use crate::tui::export;
use crate::tui::job::ComparisonReference;
use crate::tui::model::Model;
use crate::tui::screen_data::ConfirmationRequest;
use crate::tui::screen_id::ScreenId;

pub(super) fn comparison_commands(model: &Model) -> Vec<KeyCommand> {
    let is_shown = model.screen == ScreenId::Changes;
    let enabled = export::check_can_save(&model.data);
    let command = |keys, label, footer, action| {
        new_key_command(keys, label, HelpSection::Work, action)
            .with_footer(if is_shown { footer } else { "" })
            .enabled_if(enabled.clone())
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
        let idle = enabled
            .clone()
            .and_then(|()| model.data.activity.check_idle());
        all.push(
            command(
                "s",
                "save the report for later comparisons",
                "s save report",
                Action::PlanReportSave,
            )
            .enabled_if(idle),
        );
    }
    all
}

pub(super) fn reference_list_commands(list: &ReferenceList) -> Vec<KeyCommand> {
    let mut all = list_overlay_commands(
        "compare with this",
        "enter compare",
        list.chosen_reference_name().map(|_| ()),
    );
    all.extend(text_deletion_commands());
    all.push(close_command("esc", "close"));
    all
}

pub(super) fn confirmation_commands(
    question: &ConfirmationRequest,
    plan: &Result<Vec<String>, String>,
) -> Vec<KeyCommand> {
    let (label, footer) = match question {
        ConfirmationRequest::Probe(_) => ("start", "y start"),
        ConfirmationRequest::SaveReport => ("save", "y save"),
    };
    let start =
        new_key_command("y", label, HelpSection::Selection, Action::Confirm).with_footer(footer);
    let close = new_key_command("n esc q", "cancel", HelpSection::Selection, Action::Close)
        .with_footer("n no");
    match plan {
        Ok(_) => vec![start, close],
        Err(why) => vec![
            start.enabled_if(Err(why.clone())),
            close.with_footer("esc close"),
        ],
    }
}
