//! Names of instances: `work-123-a1`, `plan-login-a1`, and `review-123-a1-2` for the second review of the first's work.
//!
//! They are also names of branches, tmux sessions and folders, so they have no character that means something to any of
//! them, and cannot lead out of a folder.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tamis_git::BranchName;

use crate::AgentType;
use crate::instances::kinds::stored_as_text;

/// Longer labels are cut: a session's name has to be readable in a list.
const LONGEST_LABEL: usize = 24;
const LONGEST_ID: usize = 64;

/// An instance's name, which is sound wherever there is one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstanceId(String);

/// Why a text is not a valid instance id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not the id of an instance: ids look like work-123-a1 or review-123-a1-2", .0.escape_debug())]
pub struct IdError(String);

impl InstanceId {
    /// The name of the `number`th coding or planning agent for a label.
    pub fn of_worker(agent_type: AgentType, label: &str, number: u32) -> InstanceId {
        InstanceId(format!("{}-{}-a{number}", agent_type.prefix(), slug(label)))
    }

    /// The name of the review agent for the `iteration`th review of this agent's work: `review-123-a1-2`.
    pub fn of_review(&self, iteration: u32) -> InstanceId {
        let (_, rest) = self.0.split_once('-').unwrap_or(("", &self.0));
        InstanceId(format!("{}-{rest}-{iteration}", AgentType::Review.prefix()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The branch that belongs to the instance.
    pub fn branch(&self) -> BranchName {
        BranchName::of_instance(&self.0).expect("the names of instances are valid in branches")
    }
}

stored_as_text!(InstanceId);

/// What a label comes to in a name: lower-case letters and digits, with single hyphens between them.
pub(crate) fn slug(label: &str) -> String {
    let mut slug = String::new();
    for letter in label.chars().map(|letter| letter.to_ascii_lowercase()) {
        if letter.is_ascii_alphanumeric() {
            if slug.len() == LONGEST_LABEL {
                break;
            }
            slug.push(letter);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            if slug.len() + 1 >= LONGEST_LABEL {
                break;
            }
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "task".to_owned() } else { slug.to_owned() }
}

fn is_sound(id: &str) -> bool {
    let number = |text: &str| {
        !text.is_empty()
            && text.len() <= 9
            && !text.starts_with('0')
            && text.bytes().all(|b| b.is_ascii_digit())
    };
    let Some((prefix, rest)) = id.split_once('-') else { return false };
    let Some(agent_type) = AgentType::ALL.iter().find(|agent_type| agent_type.prefix() == prefix) else {
        return false;
    };
    let rest = match agent_type {
        AgentType::Review => match rest.rsplit_once('-') {
            Some((rest, iteration)) if number(iteration) => rest,
            _ => return false,
        },
        AgentType::Coding | AgentType::Planning => rest,
    };
    let Some((label, agent)) = rest.rsplit_once('-') else { return false };
    id.len() <= LONGEST_ID && slug(label) == label && agent.strip_prefix('a').is_some_and(number)
}

impl FromStr for InstanceId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<InstanceId, IdError> {
        if is_sound(text) {
            Ok(InstanceId(text.to_owned()))
        } else {
            Err(IdError(text.chars().take(80).collect()))
        }
    }
}

impl TryFrom<String> for InstanceId {
    type Error = IdError;

    fn try_from(text: String) -> Result<InstanceId, IdError> {
        text.parse()
    }
}

impl From<InstanceId> for String {
    fn from(id: InstanceId) -> String {
        id.0
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_as_the_contract_has_them() {
        let coding = InstanceId::of_worker(AgentType::Coding, "123", 1);
        assert_eq!(coding.as_str(), "work-123-a1");
        assert_eq!(coding.of_review(2).as_str(), "review-123-a1-2");
        assert_eq!(
            InstanceId::of_worker(AgentType::Planning, "Über: log in!", 12).as_str(),
            "plan-ber-log-in-a12"
        );
        assert_eq!(slug("mend the parser so that it takes None"), "mend-the-parser-so-that");
        for label in ["", "…", "--", "-x-"] {
            let id = InstanceId::of_worker(AgentType::Coding, label, 1);
            assert_eq!(id.as_str().parse(), Ok(id.clone()), "{id}");
        }
    }

    #[test]
    fn what_could_lead_astray_is_no_name() {
        for wrong in [
            "",
            "work",
            "work-",
            "work-123",
            "work-123-a0",
            "work-123-a01",
            "work-123-b1",
            "work-123-a1-2",
            "work--a1",
            "review-123-a1",
            "review-123-a1-0",
            "review-123-a1-x",
            "work-../x-a1",
            "work-a b-a1",
            "work-A-a1",
            "-work-1-a1",
            "work-1-a1\n",
            "work-1-a1:0",
            "work-1-a1.1",
            "work-$(id)-a1",
            "other-1-a1",
            "work-123-a9999999999",
        ] {
            assert!(wrong.parse::<InstanceId>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn whatever_the_label_the_name_is_sound(label in ".{0,60}", number in 1u32..=999, iteration in 1u32..=999) {
            for agent_type in [AgentType::Coding, AgentType::Planning] {
                let id = InstanceId::of_worker(agent_type, &label, number);
                prop_assert_eq!(id.as_str().parse(), Ok(id.clone()));
                let review = id.of_review(iteration);
                prop_assert_eq!(review.as_str().parse(), Ok(review.clone()));
            }
        }
    }
}
