use ratatui::text::Line;

use super::detail_lines::DetailLines;
use super::sections::SectionRenderer;
use super::{commit_latency, export, rules, storage, unknown_facts};
use crate::report::Report;
use crate::tui::page::{Page, PageBlock, PageState, RowDetails};
use crate::tui::screen_data::ScreenData;

impl PageBlock {
    /// The title and the page of details for a pane of these columns and rows.
    pub fn details_title_and_page(
        &self,
        data: &ScreenData,
        state: &PageState,
        (room, rows): (usize, usize),
    ) -> (String, Page) {
        let Some((report, _)) = data.report_and_chosen_target().filter(|_| rows > 0) else {
            return Default::default();
        };
        let view = SectionRenderer {
            data,
            room,
            with_commands: false,
        };
        let mut page = Page::default();
        let mut lines = DetailLines::new(room);
        let title = match &self.details {
            RowDetails::Nothing | RowDetails::Unfold => String::new(),
            RowDetails::Item(title, about, shown) => {
                // Assumptions add and remove findings, so a finding may be in only one report.
                let assumed = data.assumed_host.as_ref().map(|host| &host.report);
                let reports: Vec<&Report> = [report].into_iter().chain(assumed).collect();
                lines.lines = view.item_detail_lines(&reports, about, shown);
                title.clone()
            }
            RowDetails::Sections(title, sections) => {
                for section in sections {
                    view.push_section(&mut page, section);
                }
                (*title).to_owned()
            }
            RowDetails::Layer(subject) => {
                storage::push_layer_details(&mut page, data, subject, state, room)
            }
            RowDetails::Fact(subject, fact) => {
                storage::push_subject_fact_details(&mut lines, data, report, subject, fact);
                fact.clone()
            }
            RowDetails::Rule(at) => rules::push_rule_details(&mut lines, data, report, *at),
            RowDetails::MissingFact(at) => {
                unknown_facts::push_needed_fact_details(&mut lines, data, report, *at)
            }
            RowDetails::Method(method) => {
                commit_latency::push_method_details(&mut lines, data, *method);
                method.name().to_owned()
            }
            RowDetails::Document(format) => {
                lines.lines = export::document_lines(data, *format, state, room);
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
