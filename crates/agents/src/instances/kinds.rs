//! The words of the contract: types of agents, their statuses and how those follow each other, types of feedback.

/// A word that is not one of those it could be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is not one of {choices}")]
pub struct UnknownWord {
    pub(crate) word: String,
    pub(crate) choices: String,
}

/// An enum whose values are words, in the database and on the wire alike.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$about_value:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[allow(unreachable_pub, reason = "some of these are for this crate alone")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$about_value])* #[serde(rename = $word)] $value,)+
        }

        #[allow(unreachable_pub, reason = "some of these are for this crate alone")]
        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$value,)+];

            pub fn as_str(self) -> &'static str {
                match self { $($name::$value => $word,)+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::instances::kinds::UnknownWord;

            fn from_str(word: &str) -> std::result::Result<$name, $crate::instances::kinds::UnknownWord> {
                $name::ALL.iter().copied().find(|value| value.as_str() == word).ok_or_else(|| $crate::instances::kinds::UnknownWord {
                    word: word.to_owned(),
                    choices: $name::ALL.iter().map(|value| value.as_str()).collect::<Vec<_>>().join(", "),
                })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(self.as_str())
            }
        }

        $crate::instances::kinds::stored_as_text!($name);
    };
}
pub(crate) use words;

/// A type whose values are stored as their text. Another program's text, or a later version's, is an error and no panic.
macro_rules! stored_as_text {
    ($name:ident) => {
        impl tamis_store::rusqlite::ToSql for $name {
            fn to_sql(&self) -> tamis_store::rusqlite::Result<tamis_store::rusqlite::types::ToSqlOutput<'_>> {
                Ok(self.as_str().into())
            }
        }

        impl tamis_store::rusqlite::types::FromSql for $name {
            fn column_result(
                value: tamis_store::rusqlite::types::ValueRef<'_>,
            ) -> tamis_store::rusqlite::types::FromSqlResult<$name> {
                value.as_str()?.parse().map_err(tamis_store::rusqlite::types::FromSqlError::other)
            }
        }
    };
}
pub(crate) use stored_as_text;

words! {
    /// What an agent is there for, which decides what it may do.
    AgentType {
        Coding = "coding",
        Review = "review",
        Planning = "planning",
    }
}

words! {
    /// Where an instance stands.
    Status {
        /// At work.
        Started = "STARTED",
        /// A review agent looks at its work.
        WaitingReview = "WAITING_REVIEW",
        PrCreated = "PR_CREATED",
        PrMerged = "PR_MERGED",
        PrClosed = "PR_CLOSED",
        /// Given up, by a person or after too many failed reviews.
        Abandoned = "ABANDONED",
        /// Ended: its work is done, or its agent is gone.
        Terminated = "TERMINATED",
    }
}

words! {
    /// What a reviewer wants of the feedback.
    FeedbackType {
        NeedsWork = "needs_work",
        Suggestions = "suggestions",
        Clarification = "clarification",
    }
}

/// Every change of status that there is. Only a pull request that is merged, and what was given up or ended, stays so.
pub const TRANSITIONS: &[(Status, &[Status])] = {
    use Status::*;
    &[
        (Started, &[WaitingReview, PrCreated, Abandoned, Terminated]),
        (WaitingReview, &[Started, PrCreated, Abandoned, Terminated]),
        (PrCreated, &[PrMerged, PrClosed, Abandoned, Terminated]),
        (PrClosed, &[PrCreated, PrMerged, Abandoned, Terminated]),
        (PrMerged, &[]),
        (Abandoned, &[]),
        (Terminated, &[]),
    ]
};

impl AgentType {
    /// What the names of such instances begin with.
    pub fn prefix(self) -> &'static str {
        match self {
            AgentType::Coding => "work",
            AgentType::Review => "review",
            AgentType::Planning => "plan",
        }
    }
}

impl Status {
    pub fn may_become(self, next: Status) -> bool {
        TRANSITIONS.iter().any(|(from, to)| *from == self && to.contains(&next))
    }

    /// Whether its agent should be running.
    pub fn is_live(self) -> bool {
        matches!(self, Status::Started | Status::WaitingReview | Status::PrCreated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_row_and_words_are_read_back() {
        assert_eq!(TRANSITIONS.len(), Status::ALL.len());
        for status in Status::ALL {
            assert_eq!(status.as_str().parse(), Ok(*status));
            assert!(!status.may_become(*status), "{status}");
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
        assert_eq!(
            "idle".parse::<AgentType>().unwrap_err().to_string(),
            "\"idle\" is not one of coding, review, planning"
        );
    }
}
