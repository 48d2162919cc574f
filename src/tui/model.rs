//! The whole state of the screens. Only [`super::update`] changes it and [`super::frame`] draws it;
//! it reads no clock and does no work.

use std::collections::BTreeMap;

use std::sync::Arc;

use ratatui::layout::Size;

use super::click_map::ClickMap;
use super::data::{Activity, Data};
use super::documents::{Export, SaveForm};
use super::focus::Focus;
use super::hypothesis::Supposition;
use super::job::{Job, JobId};
use super::msg::{Exit, SideEffect};
use super::page::{Page, PageState};
use super::raw_answers::RawAnswers;
use super::screen_id::ScreenId;
use super::theme::Theme;
use super::viewport::Viewport;
use super::what_if::Picker;
use super::widgets::field::Field;
use crate::facts::Subject;
use crate::report::Report;
use crate::settings::NewFilesystem;

#[derive(Clone, Debug)]
pub enum Overlay {
    /// All commands, filtered by the typed text.
    Help {
        filter: Field,
        /// Index among the filtered commands.
        chosen: usize,
    },
    /// The description of a probe, to be confirmed; the error is the refusal.
    Confirm {
        target: Subject,
        plan: Result<Vec<String>, String>,
    },
    /// A fact to assume, then its value.
    WhatIf(Box<Picker>),
    /// A file system for the free disk shown.
    Filesystem { chosen: usize },
    /// The file name for a document.
    Save(SaveForm),
    /// The targets, filtered by the typed text.
    Targets {
        filter: Field,
        /// Index among the filtered targets.
        chosen: usize,
    },
}

impl Overlay {
    /// Whether letters filter the list directly. A typed value may start with any character, so
    /// there they do not.
    pub fn filters_on_typing(&self) -> bool {
        match self {
            Self::Help { .. } | Self::Targets { .. } => true,
            Self::WhatIf(picker) => picker.fact.is_none(),
            Self::Confirm { .. } | Self::Filesystem { .. } | Self::Save(_) => false,
        }
    }
}

/// Whether to draw again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dirty {
    No,
    /// At the next frame.
    Soon,
    /// Immediately, because the user is waiting.
    Now,
}

#[derive(Clone, Debug)]
pub struct Model {
    pub data: Data,
    /// The target that the user chose; `None` for the worst one.
    pub chosen_target: Option<Subject>,
    pub screen: ScreenId,
    /// The screens visited before this one.
    pub trail: Vec<ScreenId>,
    /// The user's position on each screen.
    pub pages: BTreeMap<ScreenId, PageState>,
    pub overlay: Option<Overlay>,
    /// A line about the last event, until the next key.
    pub notice: Option<String>,
    /// Until the first key press, a few keys are shown.
    pub shows_hints: bool,
    /// Whether we handle the mouse, or the terminal does.
    pub mouse: bool,
    /// The clickable areas of the last picture.
    pub hits: ClickMap,
    pub size: Size,
    pub animation_frame: usize,
    /// The current page, valid while only its selection changes.
    cached_page: Option<(ScreenId, Arc<Page>)>,
    pub dirty: Dirty,
    /// Set when the screens are to close.
    pub exit: Option<Exit>,
    next_job: JobId,
}

/// The current page and the user's position on it, built once until something changes.
pub struct PageView {
    pub state: PageState,
    pub page: Arc<Page>,
}

impl Model {
    /// The initial state, with the job that reads the host.
    pub fn new(theme: Theme, size: Size) -> (Self, Vec<SideEffect>) {
        let mut model = Self {
            data: Data {
                report: None,
                complete: false,
                focus: Focus::default(),
                rules: Arc::default(),
                activity: Activity::Idle,
                last_probe: None,
                assumed_host: None,
                raw: RawAnswers::default(),
                export: Export::default(),
                theme,
            },
            chosen_target: None,
            screen: ScreenId::Overview,
            trail: Vec::new(),
            pages: BTreeMap::new(),
            overlay: None,
            notice: None,
            shows_hints: true,
            mouse: true,
            hits: ClickMap::default(),
            size,
            animation_frame: 0,
            cached_page: None,
            dirty: Dirty::Now,
            exit: None,
            next_job: 0,
        };
        let effects = vec![model.collect()];
        (model, effects)
    }

    pub fn collect(&mut self) -> SideEffect {
        let job = self.next_job_id();
        self.data.activity = Activity::Collecting {
            job,
            what: "this host".to_owned(),
        };
        SideEffect::Start(job, Job::Collect)
    }

    /// Starts planning a probe, and selects its target.
    pub fn plan_probe(&mut self, target: Subject) -> SideEffect {
        self.chosen_target = Some(target.clone());
        let job = self.next_job_id();
        self.data.activity = Activity::Planning {
            job,
            target: target.clone(),
        };
        SideEffect::Start(job, Job::PlanProbe(target))
    }

    pub fn probe(&mut self, target: Subject) -> SideEffect {
        let job = self.next_job_id();
        let of = target.clone();
        self.data.activity = Activity::Probing {
            job,
            target: of,
            progress: None,
            cancelled: false,
        };
        SideEffect::Start(job, Job::Probe(target))
    }

    /// Starts evaluating assumptions.
    pub fn suppose(&mut self, suppositions: Vec<Supposition>) -> SideEffect {
        let job = self.next_job_id();
        self.data.activity = Activity::Assuming { job };
        SideEffect::Start(job, Job::Suppose(suppositions))
    }

    /// Starts planning with the chosen file system for a free disk; `None` restores the recommended
    /// one.
    pub fn choose_filesystem(
        &mut self,
        target: Subject,
        filesystem: Option<NewFilesystem>,
    ) -> SideEffect {
        let job = self.next_job_id();
        self.data.activity = Activity::Replanning { job };
        SideEffect::Start(job, Job::ChooseFilesystem(target, filesystem))
    }

    pub fn next_job_id(&mut self) -> JobId {
        self.next_job = self.next_job.saturating_add(1);
        self.next_job
    }

    /// Shows facts as they arrive during the first reading.
    pub fn update_partial(&mut self, report: Box<Report>) {
        if !self.data.complete {
            self.update_report(report);
            self.data.complete = false;
        }
    }

    /// Shows a newer report; keeps the chosen target if the report still has it.
    pub fn update_report(&mut self, report: Box<Report>) {
        self.data.complete = true;
        self.data.focus = Focus::new(&report, self.chosen_target.as_ref());
        self.data.report = Some(report);
        self.data.export.forget();
        self.data.raw = RawAnswers::default();
    }

    /// The user's position on the current screen.
    pub fn page_state(&self) -> PageState {
        self.pages.get(&self.screen).cloned().unwrap_or_default()
    }

    pub fn view(&self) -> PageView {
        let state = self.page_state();
        let kept = self
            .cached_page
            .as_ref()
            .filter(|(screen, _)| *screen == self.screen);
        let page = kept.map_or_else(|| Arc::new(self.page(&state)), |(_, page)| Arc::clone(page));
        PageView { state, page }
    }

    /// Caches the current page until something changes.
    pub fn cache_page(&mut self, page: Arc<Page>) {
        self.cached_page = Some((self.screen, page));
    }

    /// Drops the cached page, because something other than its selection changes.
    pub fn forget_page(&mut self) {
        self.cached_page = None;
    }

    /// Builds the current page.
    pub fn page(&self, state: &PageState) -> Page {
        self.screen.page(
            &self.data,
            state,
            Viewport::new(self.size, state.filter.is_some()),
        )
    }

    pub fn animates(&self) -> bool {
        self.data.activity != Activity::Idle
    }
}
