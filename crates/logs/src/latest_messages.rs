//! The latest messages of a session, which say what a tool result is read for.

/// What the person wrote last, and what the agent has written since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatestMessages {
    person: String,
    agent: String,
}

impl LatestMessages {
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

    /// What the person wrote last.
    pub fn person(&self) -> &str {
        &self.person
    }

    /// What the agent has written since, the last of it.
    pub fn agent(&self) -> &str {
        &self.agent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_words_are_those_since_the_persons_last() {
        let mut words = LatestMessages::default();
        assert_eq!((words.person(), words.agent()), ("", ""));
        words.agent_wrote("hello");
        words.person_wrote("why?");
        assert_eq!((words.person(), words.agent()), ("why?", ""));
        words.agent_wrote("because");
        words.agent_wrote("  ");
        assert_eq!((words.person(), words.agent()), ("why?", "because"));
        words.person_wrote("and now?");
        assert_eq!((words.person(), words.agent()), ("and now?", ""));
    }
}
