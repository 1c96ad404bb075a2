//! The one line that does the same as the answers.

use crate::words::quoted;

/// An answer as it is on the line.
pub struct Typed {
    pub flag: &'static str,
    /// Its pointer in the body.
    pub pointer: String,
    pub text: String,
}

impl Typed {
    /// The object of a flag that takes several values, and the name of this one in it; nothing where the
    /// flag takes one.
    fn part(&self) -> Option<(&str, &str)> {
        self.pointer.rsplit_once('/').filter(|(object, _)| !object.is_empty())
    }
}

/// A command with the flags of all answers; several in one object become one flag.
pub fn in_one_line(command: &str, typed: &[Typed]) -> String {
    let mut words: Vec<(&str, String)> = Vec::new();
    let mut object = None;
    for answer in typed {
        let part = answer.part();
        match part {
            None => words.push((answer.flag, answer.text.clone())),
            Some((within, name)) => {
                let text = answer.text.replace('\\', "\\\\").replace(',', "\\,");
                let pair = format!("{}={text}", kebab(name));
                match words.last_mut().filter(|_| object == Some(within)) {
                    Some((_, pairs)) => *pairs = format!("{pairs},{pair}"),
                    None => words.push((answer.flag, pair)),
                }
            }
        }
        object = part.map(|(within, _)| within);
    }
    let word = |(flag, text): &(&str, String)| match *flag {
        "" => quoted(text),
        flag => format!("{flag} {}", quoted(text)),
    };
    let words: Vec<_> = words.iter().map(word).collect();
    format!("{command} {}", words.join(" "))
}

/// `countryCode` as `country-code`.
fn kebab(name: &str) -> String {
    let lower =
        |c: char| if c.is_ascii_uppercase() { format!("-{}", c.to_ascii_lowercase()) } else { c.into() };
    name.chars().map(lower).collect()
}
