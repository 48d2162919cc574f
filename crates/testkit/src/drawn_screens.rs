//! Converts a drawn screen to text or to SVG: deterministic, without scripts, embedded fonts or external
//! resources.
//!
//! Every text run has an explicit length and starts at its first cell, so columns stay aligned in
//! any font. Lines and bars become shapes, because fonts leave gaps between them.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

const CELL_WIDTH: f32 = 8.4;
const CELL_HEIGHT: f32 = 17.0;
/// Baseline of the text, in pixels from the top of a cell.
const BASELINE: f32 = 13.0;
const MARGIN: f32 = 12.0;

const BACKGROUND_COLOUR: &str = "#12161e";
const TEXT_COLOUR: &str = "#d5dae3";

/// The rows of the screen, without blanks at their ends.
pub fn buffer_rows(buffer: &Buffer) -> Vec<String> {
    let all = buffer.content.chunks(usize::from(buffer.area.width).max(1));
    all.map(|row| {
        let row: String = row.iter().map(Cell::symbol).collect();
        row.trim_end().to_owned()
    })
    .collect()
}

/// Renders the screen as SVG with a title, which screen readers announce.
pub fn buffer_to_svg(buffer: &Buffer, title: &str) -> String {
    let area = buffer.area;
    let (width, height) = (
        2.0f32.mul_add(MARGIN, f32::from(area.width) * CELL_WIDTH),
        2.0f32.mul_add(MARGIN, f32::from(area.height) * CELL_HEIGHT),
    );
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" role=\"img\" fill=\"{TEXT_COLOUR}\" \
         shape-rendering=\"crispEdges\" \
         font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n\
         <title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND_COLOUR}\" shape-rendering=\"auto\"/>\n",
        escape_xml(title)
    );
    let columns = usize::from(area.width).max(1);
    for (row, cells) in (0u16..).zip(buffer.content.chunks(columns)) {
        let top = f32::from(row).mul_add(CELL_HEIGHT, MARGIN);
        for run in split_cell_runs(cells) {
            write_cell_run(&run, top, &mut out);
        }
    }
    out.push_str("</svg>\n");
    out
}

struct CellRun<'a> {
    column: u16,
    columns: u16,
    text: String,
    style_cell: &'a Cell,
}

/// Splits a row into runs of equal style. A new run also starts at a second blank, and at a symbol
/// whose width depends on the font.
fn split_cell_runs(cells: &[Cell]) -> Vec<CellRun<'_>> {
    let mut runs: Vec<CellRun<'_>> = Vec::new();
    let mut column = 0u16;
    let mut covered = 0usize;
    for cell in cells {
        // The second half of a wide character is a separate, empty cell.
        let (symbol, wide) = if covered > 0 {
            ("", 0)
        } else {
            (cell.symbol(), cell.symbol().width().max(1))
        };
        covered = covered.max(wide).saturating_sub(1);
        let is_plain = |text: &str| text.chars().all(|c| c.is_ascii() || "·–—…µ×".contains(c));
        let joins = runs.last().is_some_and(|run| {
            let alike =
                cell_colours_and_modifier(run.style_cell) == cell_colours_and_modifier(cell);
            let gap = symbol == " "
                && run.text.ends_with(' ')
                && background_colour(run.style_cell).is_none();
            let same_bar = is_stretchable(symbol) && run.text.ends_with(symbol);
            alike
                && !gap
                && (symbol.is_empty() || same_bar || (is_plain(&run.text) && is_plain(symbol)))
        });
        match runs.last_mut() {
            Some(run) if joins => {
                run.text.push_str(symbol);
                run.columns = run.columns.saturating_add(1);
            }
            _ => runs.push(CellRun {
                column,
                columns: 1,
                text: symbol.to_owned(),
                style_cell: cell,
            }),
        }
        column = column.saturating_add(1);
    }
    runs
}

fn write_cell_run(run: &CellRun<'_>, top: f32, out: &mut String) {
    let left = f32::from(run.column).mul_add(CELL_WIDTH, MARGIN);
    if let Some(paper) = background_colour(run.style_cell) {
        let width = f32::from(run.columns) * CELL_WIDTH;
        let _ = writeln!(
            out,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{CELL_HEIGHT}\" fill=\"{paper}\"/>"
        );
    }
    let text = run.text.trim_end();
    let blanks = text.chars().take_while(|c| *c == ' ').count();
    let text = text.trim_start();
    if text.is_empty() {
        return;
    }
    let left = (blanks as f32).mul_add(CELL_WIDTH, left);
    let style = style_attributes(run.style_cell);
    if let Some(shape) = shape_path(text, left, top) {
        let _ = writeln!(out, "<path d=\"{shape}\"{style}/>");
        return;
    }
    let length = text.width() as f32 * CELL_WIDTH;
    let (base, text) = (top + BASELINE, escape_xml(text));
    let _ = writeln!(
        out,
        "<text x=\"{left:.1}\" y=\"{base:.1}\" textLength=\"{length:.1}\" xml:space=\"preserve\"{style}>{text}</text>"
    );
}

const EIGHTH_BARS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Whether adjacent copies of the symbol are drawn as one shape.
fn is_stretchable(symbol: &str) -> bool {
    symbol == "─" || symbol == "━" || EIGHTH_BARS.contains(&symbol)
}

fn braille_path(symbol: char, left: f32, top: f32) -> Option<String> {
    const BITS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
    const DOT: f32 = 2.0;
    let dots = u32::from(symbol)
        .checked_sub(0x2800)
        .filter(|dots| *dots < 0x100)?;
    let mut path = String::new();
    for (x, column) in (0_u8..).zip(BITS) {
        for (y, _) in (0_u8..).zip(column).filter(|(_, bit)| dots & bit != 0) {
            let x = (CELL_WIDTH / 2.0).mul_add(f32::from(x), left + CELL_WIDTH / 4.0 - DOT / 2.0);
            let y = (CELL_HEIGHT / 4.0).mul_add(f32::from(y), top + CELL_HEIGHT / 8.0 - DOT / 2.0);
            let _ = write!(path, "M{x:.1} {y:.1}h{DOT}v{DOT}h-{DOT}z");
        }
    }
    Some(path)
}

/// An SVG path for a text that begins with a bar, a braille character or a box-drawing line; `None`
/// for any other text.
fn shape_path(text: &str, left: f32, top: f32) -> Option<String> {
    let symbol = text.chars().next()?.to_string();
    let wide = text.chars().count() as f32 * CELL_WIDTH;
    if let Some(eighths) = (1u8..)
        .zip(EIGHTH_BARS)
        .find_map(|(n, bar)| (bar == symbol).then_some(n))
    {
        let high = CELL_HEIGHT * f32::from(eighths) / 8.0;
        let from = top + CELL_HEIGHT - high;
        return Some(format!(
            "M{left:.1} {from:.1}h{wide:.1}v{high:.1}h-{wide:.1}z"
        ));
    }
    if let Some(path) = text
        .chars()
        .next()
        .and_then(|symbol| braille_path(symbol, left, top))
    {
        return Some(path);
    }
    if symbol == "┊" {
        let x = left + CELL_WIDTH / 2.0 - 1.0;
        let dash = |part: u8| {
            format!(
                "M{x:.1} {:.1}v3h2v-3z",
                (CELL_HEIGHT / 3.0).mul_add(f32::from(part), top + 1.0)
            )
        };
        return Some((0..3).map(dash).collect());
    }
    let ([to_left, to_right, up, down], thick) = match heavy_box_arms(&symbol) {
        Some(halves) => (halves, 2.0),
        None => (light_box_arms(&symbol)?, 1.0_f32),
    };
    let mut path = String::new();
    let (x, y) = (
        left + (CELL_WIDTH - thick) / 2.0,
        top + (CELL_HEIGHT - thick) / 2.0,
    );
    if to_left || to_right {
        let from = if to_left { left } else { x };
        let to = if to_right { left + wide } else { x + thick };
        let _ = write!(path, "M{from:.1} {y:.1}H{to:.1}v{thick}H{from:.1}z");
    }
    if up || down {
        let from = if up { top } else { y };
        let to = if down { top + CELL_HEIGHT } else { y + thick };
        let _ = write!(path, "M{x:.1} {from:.1}V{to:.1}h{thick}V{from:.1}z");
    }
    Some(path)
}

/// The arms of a heavy box-drawing character: left, right, up, down.
fn heavy_box_arms(symbol: &str) -> Option<[bool; 4]> {
    Some(match symbol {
        "━" => [true, true, false, false],
        "┃" => [false, false, true, true],
        "┣" => [false, true, true, true],
        "┻" => [true, true, true, false],
        "┏" => [false, true, false, true],
        "┓" => [true, false, false, true],
        "┗" => [false, true, true, false],
        "┛" => [true, false, true, false],
        _ => return None,
    })
}

/// The arms of a light box-drawing character: left, right, up, down.
fn light_box_arms(symbol: &str) -> Option<[bool; 4]> {
    Some(match symbol {
        "─" => [true, true, false, false],
        "│" => [false, false, true, true],
        "├" => [false, true, true, true],
        "┤" => [true, false, true, true],
        "┬" => [true, true, false, true],
        "┴" => [true, true, true, false],
        "┼" => [true, true, true, true],
        "┌" => [false, true, false, true],
        "┐" => [true, false, false, true],
        "└" => [false, true, true, false],
        "┘" => [true, false, true, false],
        _ => return None,
    })
}

fn cell_colours_and_modifier(cell: &Cell) -> (Color, Color, Modifier) {
    (cell.fg, cell.bg, cell.modifier)
}

fn background_colour(cell: &Cell) -> Option<&'static str> {
    if cell.modifier.contains(Modifier::REVERSED) {
        return Some(palette_colour(cell.fg).unwrap_or(TEXT_COLOUR));
    }
    palette_colour(cell.bg)
}

fn style_attributes(cell: &Cell) -> String {
    let mut style = String::new();
    let reversed = cell.modifier.contains(Modifier::REVERSED);
    let ink = if reversed {
        Some(palette_colour(cell.bg).unwrap_or(BACKGROUND_COLOUR))
    } else {
        palette_colour(cell.fg)
    };
    if let Some(ink) = ink {
        let _ = write!(style, " fill=\"{ink}\"");
    }
    for (modifier, says) in [
        (Modifier::DIM, " fill-opacity=\"0.6\""),
        (Modifier::BOLD, " font-weight=\"bold\""),
        (Modifier::ITALIC, " font-style=\"italic\""),
        (Modifier::UNDERLINED, " text-decoration=\"underline\""),
    ] {
        if cell.modifier.contains(modifier) {
            style.push_str(says);
        }
    }
    style
}

/// Maps the sixteen terminal colours, the only ones that screens use, to colours that are readable
/// on [`BACKGROUND_COLOUR`].
fn palette_colour(colour: Color) -> Option<&'static str> {
    Some(match colour {
        Color::Black => "#3b4252",
        Color::Red | Color::LightRed => "#ff7b72",
        Color::Green | Color::LightGreen => "#7fd88f",
        Color::Yellow | Color::LightYellow => "#e5c07b",
        Color::Blue | Color::LightBlue => "#7aa8ff",
        Color::Magenta | Color::LightMagenta => "#d9a0ff",
        Color::Cyan | Color::LightCyan => "#5fd7e0",
        Color::DarkGray => "#6b7280",
        Color::Gray | Color::White => TEXT_COLOUR,
        _ => return None,
    })
}

/// Replaces control characters, most of which XML forbids, and escapes markup.
fn escape_xml(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    fn draw_svg(width: u16, draw: impl FnOnce(&mut Buffer)) -> String {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, 1));
        draw(&mut buffer);
        buffer_to_svg(&buffer, "<test>")
    }

    fn text_runs(svg: &str) -> Vec<(f32, String)> {
        let texts = svg.lines().filter(|line| line.starts_with("<text"));
        texts
            .map(|line| {
                let x: f32 = line.split('"').nth(1).unwrap().parse().unwrap();
                let said = line.split_once('>').unwrap().1.trim_end_matches("</text>");
                (((x - MARGIN) / CELL_WIDTH).round(), said.to_owned())
            })
            .collect()
    }

    #[test]
    fn text_runs_start_at_their_columns_and_are_escaped() {
        let picture = draw_svg(30, |buffer| {
            buffer.set_string(1, 0, "a <b> & c", Style::default());
            buffer.set_string(14, 0, "日本", Style::default());
            buffer.set_string(18, 0, "x", Style::default().fg(Color::Red));
            buffer.set_string(20, 0, "▸ y", Style::default());
        });
        let found = text_runs(&picture);
        let expected = [
            (1.0, "a &lt;b&gt; &amp; c"),
            (14.0, "日"),
            (16.0, "本"),
            (18.0, "x"),
            (20.0, "▸"),
            (22.0, "y"),
        ];
        assert_eq!(
            found,
            expected.map(|(column, text)| (column, text.to_owned()))
        );
        assert!(picture.contains("<title>&lt;test&gt;</title>"), "{picture}");
    }

    #[test]
    fn box_lines_and_bars_become_paths() {
        let picture = draw_svg(9, |buffer| {
            buffer.set_string(0, 0, "├──▃▃█ ──", Style::default());
        });
        assert_eq!(picture.matches("<path").count(), 5, "{picture}");
        assert!(picture.contains("h16.8v6.4h-16.8z"), "{picture}");
        assert_eq!(text_runs(&picture), []);
    }

    #[test]
    fn heavy_lines_and_braille_become_paths() {
        let picture = draw_svg(9, |buffer| {
            buffer.set_string(0, 0, "┏━━┊⣀⡇", Style::default());
        });
        assert_eq!(picture.matches("<path").count(), 5, "{picture}");
        assert_eq!(picture.matches("h2v2h-2z").count(), 2 + 4, "{picture}");
        assert_eq!(text_runs(&picture), []);
    }

    #[test]
    fn reversed_cells_swap_text_and_background_colour() {
        let style = Style::default().add_modifier(Modifier::REVERSED);
        let picture = draw_svg(4, |buffer| buffer.set_string(0, 0, "ab", style));
        assert!(
            picture.contains(&format!(
                "width=\"16.8\" height=\"17\" fill=\"{TEXT_COLOUR}\""
            )),
            "{picture}"
        );
        assert!(
            picture.contains(&format!("fill=\"{BACKGROUND_COLOUR}\">ab")),
            "{picture}"
        );
    }
}
