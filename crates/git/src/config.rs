//! The syntax of git's configuration files: read as git reads it, and written so that every git reads it alike.

/// One variable, as a file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigEntry {
    /// In lower case.
    pub(crate) section: String,
    pub(crate) subsection: Option<Vec<u8>>,
    /// In lower case.
    pub(crate) variable: String,
    /// None for a variable without `=`, which is true.
    pub(crate) value: Option<Vec<u8>>,
}

impl ConfigEntry {
    pub(crate) fn new(section: &str, subsection: Option<&str>, variable: &str, value: &str) -> ConfigEntry {
        ConfigEntry {
            section: section.to_owned(),
            subsection: subsection.map(|text| text.as_bytes().to_vec()),
            variable: variable.to_owned(),
            value: Some(value.as_bytes().to_vec()),
        }
    }

    pub(crate) fn is(&self, section: &str, variable: &str) -> bool {
        self.section == section && self.variable == variable
    }

    /// The name as git prints it.
    pub(crate) fn key(&self) -> String {
        match &self.subsection {
            Some(subsection) => {
                format!("{}.{}.{}", self.section, String::from_utf8_lossy(subsection), self.variable)
            }
            None if self.section.is_empty() => self.variable.clone(),
            None => format!("{}.{}", self.section, self.variable),
        }
    }

    /// Whether it is a flag that is on.
    pub(crate) fn is_on(&self) -> bool {
        match &self.value {
            None => true,
            Some(value) => {
                ["true", "yes", "on", "1"].iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
            }
        }
    }
}

/// Reads a file's variables, in their order. The error is the number of a line that git would not understand.
pub(crate) fn parse(bytes: &[u8]) -> Result<Vec<ConfigEntry>, usize> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.contains(&0) {
        // git would end a value there.
        return Err(1);
    }
    let mut reader = Reader { bytes, at: 0, line: 1 };
    let mut entries = Vec::new();
    let mut section: Option<(String, Option<Vec<u8>>)> = None;
    while let Some(byte) = reader.next() {
        match byte {
            byte if is_space(byte) => {}
            b'#' | b';' => reader.skip_line(),
            b'[' => section = Some(reader.section()?),
            byte if byte.is_ascii_alphabetic() => {
                let (variable, value) = reader.variable(byte)?;
                // git reads a variable without a section, and nothing uses it.
                let (section, subsection) = section.clone().unwrap_or_default();
                entries.push(ConfigEntry { section, subsection, variable, value });
            }
            _ => return Err(reader.line),
        }
    }
    Ok(entries)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl Reader<'_> {
    /// The next byte; `\r\n` is a line's end.
    fn next(&mut self) -> Option<u8> {
        if self.bytes[self.at..].starts_with(b"\r\n") {
            self.at += 1;
        }
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        self.line += usize::from(byte == b'\n');
        Some(byte)
    }

    fn peek(&mut self) -> Option<u8> {
        let (at, line) = (self.at, self.line);
        let byte = self.next();
        (self.at, self.line) = (at, line);
        byte
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|byte| byte != b'\n') {}
    }

    fn section(&mut self) -> Result<(String, Option<Vec<u8>>), usize> {
        let mut name = String::new();
        loop {
            match self.next().ok_or(self.line)? {
                b']' => break,
                b'\n' => return Err(self.line - 1),
                byte if is_space(byte) => {
                    let subsection = self.subsection()?;
                    return Ok(match name.split_once('.') {
                        Some((section, more)) => {
                            (section.to_owned(), Some([more.as_bytes(), b".", &subsection].concat()))
                        }
                        None => (name, Some(subsection)),
                    });
                }
                byte if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.') => {
                    name.push(char::from(byte.to_ascii_lowercase()));
                }
                _ => return Err(self.line),
            }
        }
        if name.is_empty() {
            return Err(self.line);
        }
        // The old form of a subsection: `[section.subsection]`.
        Ok(match name.split_once('.') {
            Some((section, subsection)) => (section.to_owned(), Some(subsection.as_bytes().to_vec())),
            None => (name, None),
        })
    }

    /// The rest of `[section "subsection"]` after the first space.
    fn subsection(&mut self) -> Result<Vec<u8>, usize> {
        let mut name = Vec::new();
        loop {
            match self.next().ok_or(self.line)? {
                b'"' => break,
                b'\n' => return Err(self.line - 1),
                byte if is_space(byte) => {}
                _ => return Err(self.line),
            }
        }
        loop {
            match self.next().ok_or(self.line)? {
                b'\n' => return Err(self.line - 1),
                b'"' => break,
                b'\\' => match self.next().ok_or(self.line)? {
                    b'\n' => return Err(self.line - 1),
                    byte => name.push(byte),
                },
                byte => name.push(byte),
            }
        }
        if self.next() == Some(b']') { Ok(name) } else { Err(self.line) }
    }

    fn variable(&mut self, first: u8) -> Result<(String, Option<Vec<u8>>), usize> {
        let mut name = String::from(char::from(first.to_ascii_lowercase()));
        while let Some(byte) = self.peek().filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
            self.next();
            name.push(char::from(byte.to_ascii_lowercase()));
        }
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.next();
        }
        match self.next() {
            None | Some(b'\n') => Ok((name, None)),
            Some(b'=') => Ok((name, Some(self.value()?))),
            Some(_) => Err(self.line),
        }
    }

    fn value(&mut self) -> Result<Vec<u8>, usize> {
        let (mut value, mut spaces) = (Vec::new(), Vec::new());
        let (mut quoted, mut comment) = (false, false);
        loop {
            let byte = match self.next() {
                None | Some(b'\n') if quoted => return Err(self.line),
                None | Some(b'\n') => return Ok(value),
                Some(byte) => byte,
            };
            if comment {
                continue;
            }
            if is_space(byte) && !quoted {
                // Spaces in the middle count, those at both ends do not.
                if !value.is_empty() {
                    spaces.push(byte);
                }
                continue;
            }
            if !quoted && matches!(byte, b'#' | b';') {
                comment = true;
                continue;
            }
            value.append(&mut spaces);
            match byte {
                b'"' => quoted = !quoted,
                b'\\' => match self.next().unwrap_or(b'\n') {
                    b'\n' => {}
                    b't' => value.push(b'\t'),
                    b'b' => value.push(8),
                    b'n' => value.push(b'\n'),
                    byte @ (b'\\' | b'"') => value.push(byte),
                    _ => return Err(self.line),
                },
                byte => value.push(byte),
            }
        }
    }
}

/// The text of a file with these variables, but for those without a section.
pub(crate) fn render<'a>(entries: impl IntoIterator<Item = &'a ConfigEntry>) -> Vec<u8> {
    let mut text = Vec::new();
    for entry in entries.into_iter().filter(|entry| !entry.section.is_empty()) {
        text.extend_from_slice(format!("[{}", entry.section).as_bytes());
        if let Some(subsection) = &entry.subsection {
            text.extend_from_slice(b" \"");
            for byte in subsection {
                if matches!(byte, b'"' | b'\\') {
                    text.push(b'\\');
                }
                text.push(*byte);
            }
            text.push(b'"');
        }
        text.extend_from_slice(format!("]\n\t{}", entry.variable).as_bytes());
        if let Some(value) = &entry.value {
            text.extend_from_slice(b" = \"");
            for byte in value {
                match byte {
                    b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
                    b'\n' => text.extend_from_slice(b"\\n"),
                    byte => text.push(*byte),
                }
            }
            text.push(b'"');
        }
        text.push(b'\n');
    }
    text
}
