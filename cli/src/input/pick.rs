//! A list on the terminal from which the user chooses one thing; typing narrows it down.

use crate::output::{ByKey, escaped};
use console::{Key, Term, truncate_str};
use std::io;

/// How the user left a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// With the thing at this place.
    Chosen(usize),
    /// By Esc.
    Back,
    /// By Ctrl-D.
    Ended,
}

/// What Ctrl-D sends.
const END: char = '\u{4}';

/// Lets the user choose one of several things, with one of them marked at first. Ctrl-C
/// is an error of kind `Interrupted`.
pub fn pick(label: &str, things: &[&str], first: usize) -> io::Result<Left> {
    let term = Term::stderr();
    // The names come from stored records.
    let shown: Vec<_> = things.iter().map(|thing| escaped(thing)).collect();
    let _by_key = ByKey::begin();
    term.hide_cursor()?;
    let left = List { term: &term, label, shown: &shown, typed: String::new(), at: first }.ask();
    term.show_cursor()?;
    if let Ok(Left::Chosen(place)) = left {
        term.write_line(&format!("{label}: {}", shown[place]))?;
    }
    left
}

struct List<'a> {
    term: &'a Term,
    label: &'a str,
    shown: &'a [String],
    typed: String,
    /// The line that is marked, counted among those that are left.
    at: usize,
}

impl List<'_> {
    fn ask(mut self) -> io::Result<Left> {
        loop {
            let places = matching(self.shown, &self.typed);
            let lines = self.draw(&places)?;
            // Raw, so that no signal ends the process before the list is off the screen.
            let key = self.term.read_key_raw();
            self.term.clear_last_lines(lines)?;
            match key? {
                // Also a signal, if it comes here before it ends the process.
                Key::CtrlC => return Err(io::ErrorKind::Interrupted.into()),
                key => {
                    if let Some(left) = self.press(key, &places) {
                        return Ok(left);
                    }
                }
            }
        }
    }

    /// Draws what fits the terminal, and returns the number of lines.
    fn draw(&self, places: &[usize]) -> io::Result<usize> {
        let (height, width) = self.term.size();
        let rows = usize::from(height).saturating_sub(2).max(1);
        // A line that wraps would be two lines to clear.
        let line = |text: &str| self.term.write_line(&truncate_str(text, usize::from(width).max(2) - 1, "…"));
        line(&format!("{} {}|", self.label, self.typed))?;
        let first = (self.at + 1).saturating_sub(rows);
        for (at, place) in places.iter().enumerate().skip(first).take(rows) {
            line(&format!("{} {}", if at == self.at { ">" } else { " " }, self.shown[*place]))?;
        }
        Ok(1 + rows.min(places.len() - first.min(places.len())))
    }

    fn press(&mut self, key: Key, places: &[usize]) -> Option<Left> {
        let last = places.len().saturating_sub(1);
        match key {
            Key::Escape => return Some(Left::Back),
            Key::Char(END) => return Some(Left::Ended),
            Key::Enter => return places.get(self.at).map(|place| Left::Chosen(*place)),
            Key::ArrowDown | Key::Tab => self.at = if self.at >= last { 0 } else { self.at + 1 },
            Key::ArrowUp | Key::BackTab => self.at = self.at.checked_sub(1).unwrap_or(last),
            Key::Home => self.at = 0,
            Key::End => self.at = last,
            Key::Backspace => {
                self.typed.pop();
                self.at = 0;
            }
            Key::Char(typed) if !typed.is_control() => {
                self.typed.push(typed);
                self.at = 0;
            }
            _ => {}
        }
        None
    }
}

/// The places of the things that hold each word that was typed, in any case of letters.
fn matching(things: &[String], typed: &str) -> Vec<usize> {
    let words: Vec<_> = typed.split_whitespace().map(str::to_lowercase).collect();
    let holds = |thing: &String| {
        let thing = thing.to_lowercase();
        words.iter().all(|word| thing.contains(word.as_str()))
    };
    (0..things.len()).filter(|place| holds(&things[*place])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_any_order_and_case_narrow_a_list_down() {
        let things = ["c-1 Akosua Frimpong", "c-2 Kofi Frimpong", "c-3 Ama Österberg"].map(str::to_owned);
        let rows: &[(&str, &[usize])] = &[
            ("", &[0, 1, 2]),
            ("frim", &[0, 1]),
            ("FRIM ko", &[0, 1]),
            ("frimpong kofi", &[1]),
            ("öster", &[2]),
            ("c-4", &[]),
        ];
        for (typed, places) in rows {
            assert_eq!(&matching(&things, typed), places, "{typed}");
        }
    }

    #[test]
    fn keys_move_choose_and_leave() {
        let shown = ["a", "b", "c"].map(str::to_owned);
        let mut list =
            List { term: &Term::stderr(), label: "Thing", shown: &shown, typed: String::new(), at: 0 };
        let all = [0, 1, 2];
        // From the first line upwards the last one follows.
        assert_eq!(list.press(Key::ArrowUp, &all), None);
        assert_eq!(list.press(Key::Enter, &all), Some(Left::Chosen(2)));
        assert_eq!(list.press(Key::ArrowDown, &all), None);
        assert_eq!(list.press(Key::Enter, &all), Some(Left::Chosen(0)));
        // Where nothing is left there is nothing to choose.
        assert_eq!(list.press(Key::Enter, &[]), None);
        assert_eq!(list.press(Key::ArrowUp, &[]), None);
        assert_eq!(list.press(Key::Escape, &all), Some(Left::Back));
        assert_eq!(list.press(Key::Char(END), &all), Some(Left::Ended));
        // Other control characters narrow nothing down.
        assert_eq!(list.press(Key::Char('\u{1}'), &all), None);
        assert_eq!(list.typed, "");
    }
}
