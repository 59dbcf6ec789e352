//! The terminal: data to the standard output, everything else to the standard error. The only place that prints.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table};
use dream_core::failure::Code;
use indicatif::{ProgressBar, ProgressStyle, WeakProgressBar};
use uuid::Uuid;

use crate::exit::Fault;

/// Columns that a table may take where the terminal does not say how wide it is.
const WIDTH_DEFAULT: u16 = 100;

/// Columns of a column of a table beside what stands in it.
const PADDING: u16 = 2;

/// Columns of the borders of a table.
const BORDERS: u16 = 2;

/// The bar that is drawn now. Whoever prints beside it has it taken away first.
static BAR: Mutex<Option<WeakProgressBar>> = Mutex::new(None);

/// Prints a line of data. A reader that went away is no error of ours.
pub(crate) fn line(text: &str) {
    beside_bar(|| {
        let _gone = writeln!(std::io::stdout(), "{text}");
    });
}

/// Prints a line for people.
pub(crate) fn note(text: &str) {
    beside_bar(|| {
        let _gone = writeln!(std::io::stderr(), "{text}");
    });
}

/// Prints what went wrong.
pub(crate) fn error(text: &str) {
    note(&format!("error: {text}"));
}

/// Prints a value as JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<(), Fault> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Fault::new(Code::Defect, format!("the answer cannot be spelled as JSON: {error}")))?;
    line(&text);
    Ok(())
}

/// Prints a table.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) {
    table_without(header, rows, &[]);
}

/// Prints a table that leaves columns out, the first that is named first, where the terminal is too narrow for all.
pub(crate) fn table_without(header: &[&str], rows: &[Vec<String>], least: &[&str]) {
    line(&drawn(header, rows, least, None).to_string());
}

/// A table as it fits into a width: numbers stand to the right, and an id is never broken.
fn drawn(header: &[&str], rows: &[Vec<String>], least: &[&str], width: Option<u16>) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    match width.or(table.width()) {
        // A terminal that says it has no columns has not been asked.
        None | Some(0) => table.set_width(WIDTH_DEFAULT),
        Some(width) => table.set_width(width),
    };
    table.set_header(header);
    for row in rows {
        table.add_row(row.iter().map(|text| Cell::new(plain(text))));
    }
    for position in 0..header.len() {
        let cells = || rows.iter().filter_map(|row| row.get(position)).filter(|text| !text.is_empty());
        let Some(column) = table.column_mut(position) else { continue };
        if cells().count() > 0 && cells().all(|text| is_number(text)) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if cells().any(|text| Uuid::try_parse(text).is_ok()) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    for name in least {
        if natural_width(&table) <= table.width().unwrap_or(WIDTH_DEFAULT) {
            break;
        }
        let position = header.iter().position(|title| title == name);
        if let Some(column) = position.and_then(|position| table.column_mut(position)) {
            column.set_constraint(ColumnConstraint::Hidden);
        }
    }
    table
}

/// The width that a table would take if nothing in it were broken.
fn natural_width(table: &Table) -> u16 {
    let widths = table.column_max_content_widths();
    let shown = table.column_iter().filter(|column| !column.is_hidden());
    shown.map(|column| widths[column.index] + PADDING).sum::<u16>() + BORDERS
}

/// Whether a cell is a number, with its thousands apart or a unit behind it.
fn is_number(text: &str) -> bool {
    let digits = text.strip_suffix(" s").unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit()) && digits.chars().all(|c| c.is_ascii_digit() || c == ',')
}

/// Text without control characters: a name must not move the cursor.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// A bar for long work, which turns until somebody says how long it is; silent where nobody looks.
pub(crate) fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
        bar.set_style(style);
    }
    *BAR.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.downgrade());
    bar
}

/// Says how long the work of a bar is.
pub(crate) fn set_total(bar: &ProgressBar, total: u64) {
    if bar.length() == Some(total) {
        return;
    }
    bar.set_length(total);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} [{bar:20}] {pos}/{len} {elapsed}") {
        bar.set_style(style.progress_chars("█▌ "));
    }
}

fn beside_bar(print: impl FnOnce()) {
    let bar = BAR.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(WeakProgressBar::upgrade);
    match bar {
        Some(bar) if !bar.is_finished() => bar.suspend(print),
        _ => print(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a22803-3d36-731c-bdad-da8418fa5454";

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    fn lines(header: &[&str], rows: &[Vec<String>], least: &[&str], width: u16) -> Vec<String> {
        drawn(header, rows, least, Some(width)).to_string().lines().map(ToOwned::to_owned).collect()
    }

    #[test]
    fn a_table_fits_and_breaks_no_id() {
        let rows = [row(&[ID, "a text of many words that has to be broken somewhere", "2026-11-29 03:00"])];
        for width in [80, 120] {
            let lines = lines(&["run", "why", "when"], &rows, &[], width);
            assert!(lines.iter().all(|line| line.chars().count() <= usize::from(width)), "{lines:#?}");
            assert!(lines.iter().any(|line| line.contains(ID)), "{lines:#?}");
        }
    }

    #[test]
    fn numbers_stand_to_the_right() {
        let rows = [row(&["merges", "7"]), row(&["references", "1,204"]), row(&["none", ""])];
        let lines = lines(&["what", "count"], &rows, &[], 80);
        assert!(lines.iter().any(|line| line.contains("merges           7 ")), "{lines:#?}");
    }

    #[test]
    fn a_narrow_terminal_does_without_the_least_columns() {
        let rows = [row(&[ID, "one", "twenty characters so.", "12 s"])];
        let header = ["run", "one", "two", "took"];
        let least = ["took", "one"];
        let shown = |width| lines(&header, &rows, &least, width)[1].clone();
        assert!(shown(100).contains("took") && shown(100).contains("one"));
        assert!(!shown(73).contains("took") && shown(73).contains("one"));
        assert!(!shown(67).contains("took") && !shown(67).contains("one"));
    }
}
