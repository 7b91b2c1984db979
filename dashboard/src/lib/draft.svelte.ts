// The text of the page Try. It is too large for an address, so it stays for as long as the tab does.

class Draft {
  text = $state('')
  /** The file or prune that the text is from. */
  source = $state('')
}

export const draft = new Draft()

/** Shows what the engine does, without a text at hand. */
export const example = {
  goal: 'how are retries counted when the connection drops?',
  text: `use std::time::Duration;

/// Settings of the client.
pub struct Settings {
    pub address: String,
    pub user_agent: String,
    pub timeout: Duration,
    pub max_retries: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            address: "localhost:8080".to_owned(),
            user_agent: "example/1.0".to_owned(),
            timeout: Duration::from_secs(5),
            max_retries: 3,
        }
    }
}

/// Formats a size for people.
pub fn format_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["B", "KB", "MB", "GB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit < UNITS.len() - 1 {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// Sends a request, and tries again when the connection drops.
pub fn send(settings: &Settings, request: &Request) -> Result<Response, Error> {
    let mut retries = 0;
    loop {
        match connect(&settings.address).and_then(|mut stream| stream.exchange(request)) {
            Ok(response) => return Ok(response),
            Err(Error::ConnectionDropped) if retries < settings.max_retries => {
                retries += 1;
                std::thread::sleep(Duration::from_millis(100 << retries));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Escapes a value for a query string.
pub fn escape(value: &str) -> String {
    let mut escaped = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => escaped.push(byte as char),
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

/// Colours of the log, one for each level.
pub fn colour(level: Level) -> &'static str {
    match level {
        Level::Error => "red",
        Level::Warning => "yellow",
        Level::Info => "green",
        Level::Debug => "blue",
        Level::Trace => "grey",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!(format_size(999), "999.0 B");
        assert_eq!(format_size(1000), "1.0 KB");
        assert_eq!(format_size(2_500_000), "2.5 MB");
    }

    #[test]
    fn reserved_characters_are_escaped() {
        assert_eq!(escape("a b&c"), "a%20b%26c");
        assert_eq!(escape("x.y-z_0"), "x.y-z_0");
    }
}
`,
}
