//! What a terminal shows: bytes that were written to it, as the text of its screen. Of the sequences that move and clear,
//! those that our views use; colours and modes leave no mark on the text.

pub(super) struct Picture {
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Picture {
    pub(super) fn of(text: &str, rows: usize, columns: usize) -> Self {
        let mut picture = Picture { cells: vec![vec![' '; columns]; rows], row: 0, column: 0 };
        let mut rest = text.chars();
        while let Some(character) = rest.next() {
            match character {
                '\x1b' => picture.obey(&mut rest),
                '\r' => picture.column = 0,
                '\n' => picture.next_row(),
                visible if !visible.is_control() => picture.put(visible),
                _ => {}
            }
        }
        picture
    }

    /// Lines without the blanks at their ends, down to the last that has something on it.
    pub(super) fn text(&self) -> String {
        let lines: Vec<String> =
            self.cells.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned()).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// A sequence is `ESC [`, its numbers, and a letter that says what to do.
    fn obey(&mut self, rest: &mut std::str::Chars<'_>) {
        if rest.next() != Some('[') {
            return;
        }
        let mut numbers = String::new();
        let order = rest.find(|character| {
            let is_end = character.is_ascii_alphabetic();
            if !is_end {
                numbers.push(*character);
            }
            is_end
        });
        let mut places = numbers.split(';').map(|number| number.parse().unwrap_or(1_usize));
        match order {
            Some('H') => {
                self.row = places.next().unwrap_or(1).clamp(1, self.cells.len()) - 1;
                self.column = places.next().unwrap_or(1).clamp(1, self.cells[0].len()) - 1;
            }
            Some('J') => self.clear(),
            // Another screen, or the first one again: either is drawn anew.
            Some('h' | 'l') if numbers == "?1049" => self.clear(),
            _ => {}
        }
    }

    fn clear(&mut self) {
        self.cells.iter_mut().for_each(|row| row.fill(' '));
        (self.row, self.column) = (0, 0);
    }

    fn next_row(&mut self) {
        if self.row + 1 < self.cells.len() {
            self.row += 1;
        } else {
            self.cells.rotate_left(1);
            self.cells[self.row].fill(' ');
        }
    }

    fn put(&mut self, character: char) {
        if self.column == self.cells[0].len() {
            self.column = 0;
            self.next_row();
        }
        self.cells[self.row][self.column] = character;
        self.column += 1;
    }
}

#[test]
fn a_picture_is_what_was_drawn_last() {
    let text = "gone\x1b[?1049h\x1b[2J\x1b[1;1Hab\x1b[2;3H\x1b[1;32mcd\x1b[0m\x1b[1;2HX\r\nlast\x1b[?25l";
    assert_eq!(Picture::of(text, 3, 6).text(), "aX\nlast");
    assert_eq!(Picture::of("1\r\n2\r\n3\r\n4567", 3, 3).text(), "3\n456\n7");
}
