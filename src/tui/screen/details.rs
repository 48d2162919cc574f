use ratatui::text::Line;

use super::detail_lines::DetailLines;
use super::{PageContext, commit_latency, export};
use crate::report::Report;
use crate::tui::page::{Page, PageBlock, PageState, RowDetails};
use crate::tui::screen_data::ScreenData;
use crate::tui::viewport::{BodyLayout, PanePlace};

impl PageBlock {
    /// The title and the page of details for a pane of these columns and rows.
    pub fn details_title_and_page(
        &self,
        data: &ScreenData,
        state: &PageState,
        (columns, rows): (usize, usize),
    ) -> (String, Page) {
        let room = BodyLayout {
            columns,
            rows,
            side: 0,
            pane: PanePlace::Below(0),
        };
        let Some(view) = PageContext::new(data, state, room).filter(|_| rows > 0) else {
            return Default::default();
        };
        let mut page = Page::default();
        let mut lines = DetailLines::new(columns);
        let title = match &self.details {
            RowDetails::Nothing | RowDetails::Unfold => String::new(),
            RowDetails::Item(title, about, shown) => {
                // Assumptions add and remove findings, so a finding may be in only one report.
                let assumed = data.assumed_host.as_ref().map(|host| &host.report);
                let reports: Vec<&Report> = [view.report].into_iter().chain(assumed).collect();
                let renderer = view.section_renderer();
                lines.lines = renderer.item_detail_lines(&reports, about, shown);
                title.clone()
            }
            RowDetails::Sections(title, sections) => {
                for section in sections {
                    view.section_renderer().push_section(&mut page, section);
                }
                (*title).to_owned()
            }
            RowDetails::Layer(subject) => view.push_layer_details(&mut page, subject),
            RowDetails::Fact(subject, fact) => {
                view.push_subject_fact_details(&mut lines, subject, fact);
                fact.clone()
            }
            RowDetails::Rule(at) => view.push_rule_details(&mut lines, *at),
            RowDetails::MissingFact(at) => view.push_needed_fact_details(&mut lines, *at),
            RowDetails::Method(method) => {
                commit_latency::push_method_details(&mut lines, data, *method);
                method.name().to_owned()
            }
            RowDetails::Document(format) => {
                lines.lines = export::document_lines(data, *format, state, columns);
                format.as_str().to_owned()
            }
        };
        let drawn: Vec<Line<'static>> = lines.lines;
        if !drawn.is_empty() {
            page.push_text_block(drawn);
        }
        (title, page)
    }
}
