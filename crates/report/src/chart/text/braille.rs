//! A grid of dots, two across and four down in each character, from Unicode's braille patterns.

/// The bit of each dot in a braille character of Unicode: by column, then from top to bottom.
const BITS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// A grid of dots; characters can be placed over them.
pub(super) struct Dots {
    /// Number of characters from left to right.
    columns: usize,
    /// Number of characters from top to bottom.
    rows: usize,
    /// Bits of the dots that are set in each character, row by row.
    cells: Vec<u32>,
    /// The character placed over the dots of each cell.
    over: Vec<Option<char>>,
}

impl Dots {
    pub(super) fn new(columns: usize, rows: usize) -> Dots {
        let count = columns * rows;
        Dots { columns, rows, cells: vec![0; count], over: vec![None; count] }
    }

    /// The dot of a position, each coordinate from 0 to 1, y upwards.
    fn dot(&self, x: f64, y: f64) -> (i64, i64) {
        let across = (x * (2 * self.columns).saturating_sub(1) as f64).round() as i64;
        let down = ((1.0 - y) * (4 * self.rows).saturating_sub(1) as f64).round() as i64;
        (across, down)
    }

    /// The index of the cell with a dot, if the dot is in the grid.
    fn cell(&self, across: i64, down: i64) -> Option<usize> {
        let (x, y) = (usize::try_from(across).ok()? / 2, usize::try_from(down).ok()? / 4);
        (x < self.columns && y < self.rows).then_some(y * self.columns + x)
    }

    /// Sets a dot; does nothing outside of the grid.
    fn set(&mut self, across: i64, down: i64) {
        let Some(index) = self.cell(across, down) else { return };
        let bit = BITS.get(across as usize % 2).and_then(|column| column.get(down as usize % 4));
        if let (Some(cell), Some(bit)) = (self.cells.get_mut(index), bit) {
            *cell |= bit;
        }
    }

    /// Draws a line between two positions.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let (a, b) = (self.dot(from.0, from.1), self.dot(to.0, to.1));
        let steps = (b.0 - a.0).abs().max((b.1 - a.1).abs()).max(1);
        for i in 0..=steps {
            let between = |from: i64, to: i64| {
                from + ((to - from) as f64 * i as f64 / steps as f64).round() as i64
            };
            self.set(between(a.0, b.0), between(a.1, b.1));
        }
    }

    /// Places a character over the dots at a position.
    pub(super) fn put(&mut self, (x, y): (f64, f64), character: char) {
        let (across, down) = self.dot(x, y);
        if let Some(cell) = self.cell(across, down).and_then(|index| self.over.get_mut(index)) {
            *cell = Some(character);
        }
    }

    /// The rows, from the top.
    pub(super) fn lines(&self) -> Vec<String> {
        let character = |(cell, over): (&u32, &Option<char>)| match over {
            Some(character) => *character,
            None if *cell == 0 => ' ',
            // Braille characters begin at U+2800.
            None => char::from_u32(0x2800 + cell).unwrap_or(' '),
        };
        let all: Vec<char> = self.cells.iter().zip(&self.over).map(character).collect();
        all.chunks(self.columns.max(1)).map(|row| row.iter().collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_and_characters_outside_of_the_grid_are_not_shown() {
        let mut dots = Dots::new(2, 2);
        // Beyond the right end of the first row is not the beginning of the second one.
        for position in [(1.5, 1.0), (-0.9, 0.0), (0.0, -1.0), (0.0, 3.0), (f64::NAN, 5.0)] {
            dots.put(position, 'x');
            dots.line(position, position);
        }
        assert_eq!(dots.lines(), ["  ", "  "]);
        for (columns, rows) in [(0, 0), (0, 2), (2, 0)] {
            let mut empty = Dots::new(columns, rows);
            empty.line((0.0, 0.0), (1.0, 1.0));
            empty.put((0.5, 0.5), 'x');
            assert!(empty.lines().is_empty());
        }
    }

    #[test]
    fn corners_are_the_outermost_dots() {
        let mut dots = Dots::new(2, 1);
        dots.line((0.0, 1.0), (0.0, 1.0));
        dots.line((1.0, 0.0), (1.0, 0.0));
        assert_eq!(dots.lines(), ["⠁⢀"]);
    }

    #[test]
    fn a_horizontal_line_fills_its_row_and_characters_are_placed_over_it() {
        let mut dots = Dots::new(3, 1);
        dots.line((0.0, 1.0), (1.0, 1.0));
        dots.put((0.0, 1.0), 'o');
        assert_eq!(dots.lines(), ["o⠉⠉"]);
    }
}
