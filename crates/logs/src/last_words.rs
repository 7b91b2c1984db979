//! The last words of a session: what a tool result is read for.

/// Letters of the person's words, and of the agent's, that a goal is made of: a question is a sentence or two.
const GOAL_CHARS: usize = 300;

/// What the person wrote last, and what the agent has written since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastWords {
    person: String,
    agent: String,
}

impl LastWords {
    /// The person wrote this. What the agent wrote before was about something else.
    pub fn person_wrote(&mut self, text: &str) {
        text.clone_into(&mut self.person);
        self.agent.clear();
    }

    /// The agent wrote this, to the person or to itself.
    pub fn agent_wrote(&mut self, text: &str) {
        if !text.trim().is_empty() {
            text.clone_into(&mut self.agent);
        }
    }

    /// The goal for pruning the next tool result: how the person's words begin, and how the agent's end. Empty if there are no
    /// words.
    pub fn goal(&self) -> String {
        let person = self.person.trim();
        let person = &person[..index_of(person, GOAL_CHARS)];
        let agent = self.agent.trim();
        let agent = &agent[index_of(agent, agent.chars().count().saturating_sub(GOAL_CHARS))..];
        [person, agent].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

/// The byte at which this letter begins, or the end.
fn index_of(text: &str, letter: usize) -> usize {
    text.char_indices().nth(letter).map_or(text.len(), |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_how_the_person_began_and_how_the_agent_ended() {
        let mut words = LastWords::default();
        assert_eq!(words.goal(), "");
        words.agent_wrote("hello");
        words.person_wrote(&format!("  why? {}", "é".repeat(400)));
        assert_eq!(words.goal(), format!("why? {}", "é".repeat(295)));
        words.agent_wrote(&format!("{} the end ", "ü".repeat(400)));
        words.agent_wrote("  ");
        assert_eq!(words.goal(), format!("why? {}\n{} the end", "é".repeat(295), "ü".repeat(292)));
        words.person_wrote("and now?");
        assert_eq!(words.goal(), "and now?");
    }
}
