//! Limits of the texts of pull requests and issues.

use crate::error::Result;
use crate::{AgentsError, Code, CreatePullRequest};
use tamis_text::plain::is_odd;

/// What GitHub takes.
const LONGEST_TITLE: usize = 256;

/// A little less than GitHub takes, since a summary of the reviews is added.
pub(crate) const LONGEST_TEXT: usize = 60_000;

pub(super) fn check(input: &CreatePullRequest) -> Result<()> {
    check_title("title", &input.title)?;
    check_text("description", &input.description)
}

pub(crate) fn check_title(name: &str, title: &str) -> Result<()> {
    let length = title.trim().chars().count();
    if !(1..=LONGEST_TITLE).contains(&length) {
        return Err(invalid(format!("{name} has {length} characters; it must have 1 to {LONGEST_TITLE}")));
    }
    if title.trim().contains(is_odd) {
        return Err(invalid(format!("{name} must be one line without control characters")));
    }
    Ok(())
}

pub(crate) fn check_text(name: &str, text: &str) -> Result<()> {
    let length = text.chars().count();
    if length > LONGEST_TEXT {
        return Err(invalid(format!("{name} has {length} characters; it may have at most {LONGEST_TEXT}")));
    }
    Ok(())
}

pub(crate) fn invalid(message: String) -> AgentsError {
    AgentsError::new(Code::ValidationError, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_a_line_that_says_something() {
        for title in ["x", " Fix \"it\" $(now) ", "--upload-pack=x", "日本", &"x".repeat(256)] {
            assert_eq!(check_title("title", title), Ok(()), "{title}");
        }
        for title in ["", "  ", "a\nb", "a\u{1b}[31m", "a\u{202e}b", "a\0", &"x".repeat(257)] {
            assert_eq!(check_title("title", title).unwrap_err().code, Code::ValidationError, "{title}");
        }
        assert_eq!(check_text("body", &"é".repeat(LONGEST_TEXT)), Ok(()));
        assert!(check_text("body", &"é".repeat(LONGEST_TEXT + 1)).is_err());
    }
}
