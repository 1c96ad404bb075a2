//! What was answered, question by question. After a step back the questions are asked again.

/// What the user answered.
#[derive(Debug, Clone)]
struct Given {
    label: String,
    answer: Answer,
}

/// An answer.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A text; empty for the return key alone.
    Text(String),
    /// The place of what was chosen.
    Place(usize),
}

impl Given {
    /// Whether it answers a question of this name, by a text or from a list.
    fn answers(&self, label: &str, by_text: bool) -> bool {
        self.label == label && matches!(self.answer, Answer::Text(_)) == by_text
    }
}

/// The answers so far, and those that a step back has taken away.
#[derive(Debug, Default)]
pub struct Answers {
    /// All but the last are answered from here after a step back.
    given: Vec<Given>,
    /// How many of them were used since.
    used: usize,
    /// What was answered before steps back, the latest question first; offered when it is asked again.
    later: Vec<Given>,
}

impl Answers {
    /// Goes back to the question before, whose answer is offered again; not from the first one.
    pub fn step_back(&mut self) -> bool {
        self.used = 0;
        let Some(given) = self.given.pop() else { return false };
        self.later.push(given);
        true
    }

    /// Whether the next question is one to be asked, and not answered from before a step back.
    pub fn are_used(&self) -> bool {
        self.used == self.given.len()
    }

    /// Takes back the last answer, which is not offered again.
    pub fn forget_last(&mut self) {
        self.used = 0;
        self.given.pop();
    }

    /// The previous answer, after a step back.
    pub fn again(&mut self) -> Option<Answer> {
        let given = self.given.get(self.used).cloned()?;
        self.used += 1;
        Some(given.answer)
    }

    /// Keeps an answer for a step back. Those to questions before this one that are not asked any more are
    /// forgotten.
    pub fn keep(&mut self, label: &str, answer: Answer) {
        let by_text = matches!(answer, Answer::Text(_));
        if let Some(at) = self.later.iter().rposition(|given| given.answers(label, by_text)) {
            self.later.truncate(at);
        }
        self.given.push(Given { label: label.to_owned(), answer });
        self.used = self.given.len();
    }

    /// The text that was answered before a step back.
    pub fn offered(&self, label: &str) -> Option<&str> {
        match &self.later.iter().rfind(|given| given.answers(label, true))?.answer {
            Answer::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// The place that was chosen before a step back.
    pub fn offered_place(&self, label: &str) -> Option<usize> {
        match self.later.iter().rfind(|given| given.answers(label, false))?.answer {
            Answer::Place(place) => Some(place),
            Answer::Text(_) => None,
        }
    }
}
