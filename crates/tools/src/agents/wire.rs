//! The contract's error object, read back from an answer.

use serde_json::{Map, Value};
use tamis_agents::{AgentsError, Code};

/// The error that an object tells of, if it is one.
pub(super) fn read_error(object: Value) -> Option<AgentsError> {
    let Value::Object(mut object) = object else { return None };
    let mut take = |name: &str| object.remove(name);
    let code: Code = serde_json::from_value(take("code")?).ok()?;
    let message = serde_json::from_value(take("message")?).ok()?;
    let suggestions = take("suggestions").and_then(|value| serde_json::from_value(value).ok());
    let instance = take("instance_id").and_then(|value| serde_json::from_value(value).ok());
    for known in ["error", "tool_name"] {
        take(known);
    }
    let details: Map<String, Value> = object;
    Some(AgentsError { code, message, suggestions: suggestions.unwrap_or_default(), instance, details })
}

/// Not to be guessed, so that no two calls have the same.
pub(super) fn random_key() -> Result<String, AgentsError> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| AgentsError::new(Code::InternalError, format!("no random number: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_survives_its_way() {
        let error = AgentsError::new(Code::ReviewLimitExceeded, "Maximum review iterations (3) reached")
            .suggest("a")
            .suggest("b")
            .about(&"work-123-a1".parse().unwrap())
            .detail("current_iteration", 3);
        assert_eq!(read_error(error.to_json("request_review")), Some(error));
        let bare = AgentsError::new(Code::Timeout, "late");
        assert_eq!(read_error(bare.to_json("x")), Some(bare));
        for other in [
            json!({"error": {"code": "wrong_token", "message": "wrong_token"}}),
            json!({"code": "NO_SUCH", "message": ""}),
            json!({"code": "TIMEOUT"}),
            json!([]),
            json!("TIMEOUT"),
        ] {
            assert_eq!(read_error(other.clone()), None, "{other}");
        }
    }
}
