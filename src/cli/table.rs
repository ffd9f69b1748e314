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
        let mut widths = self.widths(&heads);
        if let Some(columns) = out.columns() {
            narrow(&mut widths, columns.saturating_sub(self.indent));
        }
        for row in std::iter::once(&heads).chain(&self.rows) {
            let mut line = Line::from(" ".repeat(self.indent));
            for (cell, width) in row.iter().zip(&widths) {
                let cell = cell.clone().cut(*width);
                let pad = " ".repeat(width.saturating_sub(cell.width()) + 2);
                line = line.join(cell).then(&pad);
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

/// No column is made narrower than this.
const NARROWEST: usize = 8;

/// Takes from the widest columns until a row fits, or nothing can be taken. The first one stays whole: it
/// is what one gives to the next command.
fn narrow(widths: &mut [usize], columns: usize) {
    let gaps = 2 * widths.len().saturating_sub(1);
    let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(columns);
    while over > 0 {
        let Some(widest) = widths.iter_mut().skip(1).max().filter(|w| **w > NARROWEST) else {
            return;
        };
        *widest -= 1;
        over -= 1;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_columns_give_way_to_a_narrow_terminal() {
        let mut widths = [8, 40, 48, 6];
        narrow(&mut widths, 80);
        assert_eq!((widths.iter().sum::<usize>(), widths[0], widths[3]), (74, 8, 6));
        narrow(&mut widths, 20);
        assert_eq!(widths, [8, 8, 8, 6], "and not below what still says something");
    }
}
