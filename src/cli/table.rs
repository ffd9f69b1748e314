//! Aligned columns, by the width that a terminal gives each character.

use super::out::Out;
use super::span::{Line, Style, cut};

/// A table in the making.
pub(super) struct Table {
    heads: Vec<&'static str>,
    rows: Vec<Vec<Line>>,
    indent: usize,
}

impl Table {
    /// With these columns.
    pub(super) fn new(heads: &[&'static str]) -> Self {
        Self {
            heads: heads.to_vec(),
            rows: Vec::new(),
            indent: 0,
        }
    }

    /// Set in by two.
    #[must_use]
    pub(super) fn indented(mut self) -> Self {
        self.indent = 2;
        self
    }

    /// A further row; as many cells as columns.
    pub(super) fn row(&mut self, cells: Vec<Line>) {
        self.rows.push(cells);
    }

    /// Prints it.
    pub(super) fn print(&self, out: &mut Out) {
        let heads: Vec<Line> = self.heads.iter().map(|h| Line::of(Style::Faint, h)).collect();
        let widths = self.widths(&heads);
        for row in std::iter::once(&heads).chain(&self.rows) {
            let mut line = Line::from(" ".repeat(self.indent));
            for (cell, width) in row.iter().zip(&widths) {
                let pad = " ".repeat(width.saturating_sub(cell.width()) + 2);
                line = line.join(cell.clone()).then(&pad);
            }
            out.line(line);
        }
    }

    fn widths(&self, heads: &[Line]) -> Vec<usize> {
        let mut widths: Vec<usize> = heads.iter().map(Line::width).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        widths
    }
}

/// A cell of at most `max` columns.
pub(super) fn cell(text: &str, max: usize) -> Line {
    Line::from(cut(text, max).into_owned())
}

/// The same with a style.
pub(super) fn styled(style: Style, text: &str, max: usize) -> Line {
    Line::of(style, &cut(text, max))
}
