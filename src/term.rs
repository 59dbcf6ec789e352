//! The terminal: data to the standard output, everything else to the standard error. The only place that prints.

use std::io::{IsTerminal as _, Write as _};

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{Cell, ContentArrangement, Table};
use indicatif::{ProgressBar, ProgressStyle};

/// Columns that a table may take where the terminal does not say how wide it is.
const WIDTH_DEFAULT: u16 = 100;

/// Prints a line of data. A reader that went away is no error of ours.
pub(crate) fn line(text: &str) {
    let _gone = writeln!(std::io::stdout(), "{text}");
}

/// Prints a line for people.
pub(crate) fn note(text: &str) {
    let _gone = writeln!(std::io::stderr(), "{text}");
}

/// Prints what went wrong.
pub(crate) fn error(text: &str) {
    note(&format!("error: {text}"));
}

/// Prints a value as JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    line(&serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Prints a table.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    if table.width().is_none() {
        table.set_width(WIDTH_DEFAULT);
    }
    table.set_header(header);
    for row in rows {
        table.add_row(row.iter().map(|text| Cell::new(plain(text))));
    }
    line(&table.to_string());
}

/// Text without control characters: a name must not move the cursor.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// A bar for long work; silent where nobody looks.
pub(crate) fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg:40!} [{bar:30}] {pos}/{len} {elapsed}") {
        bar.set_style(style.progress_chars("█▌ "));
    }
    bar
}
