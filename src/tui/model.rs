//! The whole state of the user interface. Only [`super::update`] changes it, and [`super::frame`]
//! draws it; it reads no clock and does no work.

use std::collections::BTreeMap;

use std::sync::Arc;

use ratatui::layout::Size;

use super::data::{Activity, Data};
use super::documents::{Export, SaveForm};
use super::focus::Focus;
use super::hits::Hits;
use super::job::{Job, JobId};
use super::msg::{Exit, SideEffect};
use super::page::{Page, PageState};
use super::raw::Raw;
use super::room::PageRoom;
use super::screen_id::ScreenId;
use super::supposed::Supposition;
use super::theme::Theme;
use super::what_if::Picker;
use super::widgets::field::Field;
use crate::facts::Subject;
use crate::report::Report;
use crate::settings::NewFilesystem;

/// An overlay on the screen.
#[derive(Clone, Debug)]
pub enum Overlay {
    /// Every command, filtered by what was typed.
    Help {
        filter: Field,
        /// Which of the commands that are left, from 0.
        chosen: usize,
    },
    /// The description of a probe, to be confirmed; the error says why it is refused.
    Confirm {
        target: Subject,
        plan: Result<Vec<String>, String>,
    },
    /// A fact to be supposed, then its value.
    WhatIf(Box<Picker>),
    /// A file system for the free disk in sight.
    Filesystem { chosen: usize },
    /// Where a document is to be saved.
    Save(SaveForm),
    /// The targets, filtered by what was typed.
    Targets {
        filter: Field,
        /// Which of those that are left, from 0.
        chosen: usize,
    },
}

impl Overlay {
    /// Whether it is a list in which typing finds something without a key before. A value that is
    /// typed may begin with any character.
    pub fn finds_at_once(&self) -> bool {
        match self {
            Self::Help { .. } | Self::Targets { .. } => true,
            Self::WhatIf(picker) => picker.of.is_none(),
            Self::Confirm { .. } | Self::Filesystem { .. } | Self::Save(_) => false,
        }
    }
}

/// Whether something changed since the last drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dirty {
    No,
    /// Something did, and can wait for the next frame.
    Soon,
    /// Something did that the user waits for.
    Now,
}

#[derive(Clone, Debug)]
pub struct Model {
    /// The data for the screens.
    pub data: Data,
    /// The target that the user chose; until then it is the worst one.
    pub chosen: Option<Subject>,
    pub screen: ScreenId,
    /// The screens that led here.
    pub trail: Vec<ScreenId>,
    /// Where the user is on each screen.
    pub pages: BTreeMap<ScreenId, PageState>,
    pub overlay: Option<Overlay>,
    /// One line about the last event, until the next key.
    pub notice: Option<String>,
    /// Whether no key was pressed yet, so that some are named.
    pub is_new: bool,
    /// Whether the mouse is ours; else it is the terminal's.
    pub mouse: bool,
    /// The clickable places of the last picture.
    pub hits: Hits,
    /// The size of the terminal.
    pub size: Size,
    /// Frames of what animates.
    pub beat: usize,
    /// The page in sight, while nothing but the selection on it changes.
    kept: Option<(ScreenId, Arc<Page>)>,
    /// Whether it has to be drawn again.
    pub dirty: Dirty,
    /// Set once the session is to end.
    pub exit: Option<Exit>,
    next_job: JobId,
}

/// The screen in sight as a page, and where the user is on it: made once for all that ask for it
/// until something changes.
pub struct PageView {
    pub state: PageState,
    pub page: Arc<Page>,
}

impl Model {
    /// A session that begins: nothing is known, and the first job is to read the machine.
    pub fn new(theme: Theme, size: Size) -> (Self, Vec<SideEffect>) {
        let mut model = Self {
            data: Data {
                report: None,
                complete: false,
                focus: Focus::default(),
                rules: Arc::default(),
                activity: Activity::Idle,
                ended: None,
                supposed: None,
                raw: Raw::default(),
                export: Export::default(),
                theme,
            },
            chosen: None,
            screen: ScreenId::Overview,
            trail: Vec::new(),
            pages: BTreeMap::new(),
            overlay: None,
            notice: None,
            is_new: true,
            mouse: true,
            hits: Hits::default(),
            size,
            beat: 0,
            kept: None,
            dirty: Dirty::Now,
            exit: None,
            next_job: 0,
        };
        let effects = vec![model.collect()];
        (model, effects)
    }

    /// Begins to read the machine.
    pub fn collect(&mut self) -> SideEffect {
        let job = self.number();
        self.data.activity = Activity::Collecting {
            job,
            what: "this machine".to_owned(),
        };
        SideEffect::Start(job, Job::Collect)
    }

    /// Starts planning a probe, and chooses its target.
    pub fn plan_probe(&mut self, target: Subject) -> SideEffect {
        self.chosen = Some(target.clone());
        let job = self.number();
        self.data.activity = Activity::Planning {
            job,
            target: target.clone(),
        };
        SideEffect::Start(job, Job::PlanProbe(target))
    }

    pub fn probe(&mut self, target: Subject) -> SideEffect {
        let job = self.number();
        let of = target.clone();
        self.data.activity = Activity::Probing {
            job,
            target: of,
            progress: None,
            cancelled: false,
        };
        SideEffect::Start(job, Job::Probe(target))
    }

    /// Begins to work out what would be different if these facts were others.
    pub fn suppose(&mut self, suppositions: Vec<Supposition>) -> SideEffect {
        let job = self.number();
        self.data.activity = Activity::Supposing { job };
        SideEffect::Start(job, Job::Suppose(suppositions))
    }

    /// Begins to judge anew with a file system that the user wants on a free disk; without one,
    /// with the first choice.
    pub fn want(&mut self, target: Subject, filesystem: Option<NewFilesystem>) -> SideEffect {
        let job = self.number();
        self.data.activity = Activity::Wanting { job };
        SideEffect::Start(job, Job::Want(target, filesystem))
    }

    /// The number of the next job.
    pub fn number(&mut self) -> JobId {
        self.next_job = self.next_job.saturating_add(1);
        self.next_job
    }

    /// Takes the facts known so far during the first reading of the machine.
    pub fn learn_some(&mut self, report: Box<Report>) {
        if !self.data.complete {
            self.learn(report);
            self.data.complete = false;
        }
    }

    /// Takes a newer report; the chosen target stays if the report still has it.
    pub fn learn(&mut self, report: Box<Report>) {
        self.data.complete = true;
        self.data.focus = Focus::new(&report, self.chosen.as_ref());
        self.data.report = Some(report);
        self.data.export.forget();
        self.data.raw = Raw::default();
    }

    /// Where the user is on the screen in sight.
    pub fn page_state(&self) -> PageState {
        self.pages.get(&self.screen).cloned().unwrap_or_default()
    }

    pub fn view(&self) -> PageView {
        let state = self.page_state();
        let kept = self
            .kept
            .as_ref()
            .filter(|(screen, _)| *screen == self.screen);
        let page = kept.map_or_else(|| Arc::new(self.page(&state)), |(_, page)| Arc::clone(page));
        PageView { state, page }
    }

    /// Keeps the page in sight until something changes.
    pub fn keep(&mut self, page: Arc<Page>) {
        self.kept = Some((self.screen, page));
    }

    /// Forgets the page that was kept: something else changes.
    pub fn forget_page(&mut self) {
        self.kept = None;
    }

    /// The screen in sight as a page.
    pub fn page(&self, state: &PageState) -> Page {
        self.screen.page(
            &self.data,
            state,
            PageRoom::new(self.size, state.filter.is_some()),
        )
    }

    /// Whether anything on the screen is animated.
    pub fn animates(&self) -> bool {
        self.data.activity != Activity::Idle
    }
}
