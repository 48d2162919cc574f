//! The state of the screens. The model reads no clock and starts no thread.

use std::collections::BTreeMap;

use std::sync::Arc;

use ratatui::layout::Size;

use super::ScreenOptions;
use super::assumptions::AssumedFact;
use super::changes_state::ReferenceList;
use super::click_map::ClickMap;
use super::export_state::{SaveForm, SaveFormStage};
use super::job::{Job, JobId};
use super::msg::{ExitReason, SideEffect};
use super::page::{Page, PageState};
use super::page_view::PageView;
use super::raw_answers::RawAnswerCache;
use super::screen_data::{BackgroundActivity, ConfirmationRequest, ScreenData};
use super::screen_id::ScreenId;
use super::target_context::TargetContext;
use super::viewport::{BodyLayout, page_area};
use super::what_if::AssumptionPicker;
use super::widgets::text_field::TextField;
use crate::facts::Subject;
use crate::report::Report;

#[derive(Clone, Debug)]
pub enum Overlay {
    Help {
        filter: TextField,
        /// Index of the chosen command among the filtered ones.
        chosen: usize,
    },
    /// An error in `plan` is the reason why the question cannot be confirmed.
    Confirm {
        question: ConfirmationRequest,
        plan: Result<Vec<String>, String>,
    },
    WhatIf(Box<AssumptionPicker>),
    Filesystem {
        chosen: usize,
    },
    Save(SaveForm),
    Targets {
        filter: TextField,
        /// Index of the chosen target among the filtered ones.
        chosen: usize,
    },
    References(ReferenceList),
}

impl Overlay {
    /// Index of the chosen entry among the filtered ones, if the overlay is a list.
    pub fn chosen_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Help { chosen, .. }
            | Self::Targets { chosen, .. }
            | Self::Filesystem { chosen } => Some(chosen),
            Self::References(list) => Some(&mut list.chosen),
            Self::WhatIf(picker) => Some(&mut picker.chosen),
            Self::Confirm { .. } | Self::Save(_) => None,
        }
    }

    fn text_field_mut(&mut self) -> Option<&mut TextField> {
        match self {
            Self::Help { filter, .. } | Self::Targets { filter, .. } => Some(filter),
            Self::References(list) => Some(&mut list.filter),
            Self::WhatIf(picker) => Some(&mut picker.input),
            Self::Save(form) if matches!(form.stage, SaveFormStage::Naming(_)) => {
                Some(&mut form.name)
            }
            Self::Confirm { .. } | Self::Filesystem { .. } | Self::Save(_) => None,
        }
    }

    /// Whether typed letters filter a list of commands, targets or facts; false while the user
    /// types a value.
    pub fn is_filtered_by_typing(&self) -> bool {
        match self {
            Self::Help { .. } | Self::Targets { .. } | Self::References(_) => true,
            Self::WhatIf(picker) => picker.fact.is_none(),
            Self::Confirm { .. } | Self::Filesystem { .. } | Self::Save(_) => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum RedrawUrgency {
    #[default]
    No,
    /// The change is drawn once the minimum interval between frames has passed.
    Soon,
    Now,
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub data: ScreenData,
    /// Target of all screens; `None` stands for the one with the worst verdict.
    pub chosen_target: Option<Subject>,
    pub screen: ScreenId,
    /// Screens visited before this one; `esc` returns to the last of them.
    pub trail: Vec<ScreenId>,
    pub pages: BTreeMap<ScreenId, PageState>,
    pub overlay: Option<Overlay>,
    /// Message about the last event, shown until the next key press, click or paste.
    pub notice: Option<String>,
    /// True until the first key press or click.
    pub shows_hints: bool,
    /// True if walwise receives mouse events; false leaves the mouse to the terminal, for selecting
    /// text.
    pub mouse: bool,
    pub hits: ClickMap,
    pub size: Size,
    pub animation_frame: usize,
    /// The last page that was built; reused while only the selection on it changes.
    cached_page: Option<(ScreenId, Arc<Page>)>,
    pub dirty: RedrawUrgency,
    pub exit: Option<ExitReason>,
    /// Effects of the current message, in order.
    pub effects: Vec<SideEffect>,
    next_job: JobId,
}

impl Model {
    /// The initial state and the first job, which reads the host.
    pub fn new_with_first_job(options: ScreenOptions, size: Size) -> (Self, Vec<SideEffect>) {
        let mut model = Self {
            data: ScreenData {
                options,
                ..ScreenData::default()
            },
            shows_hints: true,
            mouse: true,
            size,
            dirty: RedrawUrgency::Now,
            ..Self::default()
        };
        model.start_collect();
        let effects = std::mem::take(&mut model.effects);
        (model, effects)
    }

    pub fn start_job(&mut self, job: Job) -> JobId {
        self.next_job += 1;
        self.data.jobs.insert(self.next_job, job.clone());
        self.effects.push(SideEffect::Start(self.next_job, job));
        self.next_job
    }

    pub fn start_collect(&mut self) {
        self.data.changes.moved = None;
        self.data.activity = BackgroundActivity::Collecting {
            job: self.start_job(Job::Collect),
            what: "this host".to_owned(),
        };
    }

    pub fn start_planning_for_confirmation(&mut self, question: ConfirmationRequest) {
        let plan = match &question {
            ConfirmationRequest::Probe(target) => {
                self.chosen_target = Some(target.clone());
                Job::PlanProbe(target.clone())
            }
            ConfirmationRequest::SaveReport => Job::PlanReportSave,
        };
        let job = self.start_job(plan);
        self.data.activity = BackgroundActivity::Planning { job, question };
    }

    pub fn start_assumption_evaluation(&mut self, suppositions: Vec<AssumedFact>) {
        let job = self.start_job(Job::Suppose(suppositions));
        self.data.activity = BackgroundActivity::Assuming { job };
    }

    /// The text field that receives typed characters.
    pub fn active_text_field(&mut self) -> Option<&mut TextField> {
        if let Some(overlay) = &mut self.overlay {
            return overlay.text_field_mut();
        }
        let state = self.pages.get_mut(&self.screen)?;
        let filter = state.filter.as_mut().filter(|filter| filter.typing)?;
        Some(&mut filter.text)
    }

    /// Shows facts as they arrive during the first reading. A later reading keeps the old report
    /// until all facts are read.
    pub fn show_partial_report(&mut self, report: Box<Report>) {
        if !self.data.complete {
            self.show_report(report);
            self.data.complete = false;
        }
    }

    /// The chosen target stays if the new report still contains it.
    pub fn show_report(&mut self, report: Box<Report>) {
        self.data.complete = true;
        self.data.focus = TargetContext::new(&report, self.chosen_target.as_ref());
        self.data.report = Some(report);
        self.data.export.documents.clear();
        self.data.changes.saved.result = None;
        self.data.changes.upgrade.result = None;
        self.data
            .forget_jobs(|job| matches!(job, Job::Document(_) | Job::Compare(..)));
        self.data.raw = RawAnswerCache::default();
    }

    pub fn current_page_state(&self) -> PageState {
        self.pages.get(&self.screen).cloned().unwrap_or_default()
    }

    pub fn page_state_mut(&mut self) -> &mut PageState {
        self.pages.entry(self.screen).or_default()
    }

    pub fn current_page_view(&self) -> PageView {
        let state = self.current_page_state();
        let kept = self
            .cached_page
            .as_ref()
            .filter(|(screen, _)| *screen == self.screen);
        let page = kept.map_or_else(
            || Arc::new(self.build_page(&state)),
            |(_, page)| Arc::clone(page),
        );
        let body = page_area(self.size, state.filter.is_some());
        let place = (self.viewport(&state), body);
        PageView::new(page, state, place, |block, state, size| {
            block.details_title_and_page(&self.data, state, size)
        })
    }

    pub fn cache_page(&mut self, page: Arc<Page>) {
        self.cached_page = Some((self.screen, page));
    }

    /// Required whenever something other than the selection on the page changes.
    pub fn drop_cached_page(&mut self) {
        self.cached_page = None;
    }

    pub fn build_page(&self, state: &PageState) -> Page {
        self.screen
            .build_page(&self.data, state, self.viewport(state))
    }

    fn viewport(&self, state: &PageState) -> BodyLayout {
        let of = (self.screen, self.data.focus.place.1);
        BodyLayout::new(self.size, state.filter.is_some(), of)
    }

    pub fn is_animating(&self) -> bool {
        self.data.activity != BackgroundActivity::Idle
    }
}
