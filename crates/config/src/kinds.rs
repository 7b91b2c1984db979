//! Kinds of values: how each is parsed, checked, shown and written to a file.

use std::fmt::Display;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml_edit::Value as Toml;

/// A kind of value.
pub(crate) trait Kind {
    type Value: Clone;
    const FORM: Form = Form::Plain;

    /// Whether an empty variable counts as set.
    fn accepts_empty(&self) -> bool {
        false
    }

    /// For the reference.
    fn description(&self) -> String;

    /// The value, or what it must be.
    fn parse(&self, text: &str) -> Result<Self::Value, String>;

    /// Resolves relative paths.
    fn rooted(&self, value: Self::Value, _folder: &Path) -> Self::Value {
        value
    }

    /// As a variable would hold it.
    fn show(&self, value: &Self::Value) -> String;

    fn to_toml(&self, value: &Self::Value) -> Toml {
        self.show(value).into()
    }
}

/// What sets a kind apart when a file is read, or a value shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    /// A file may hold true or false.
    Switch,
    /// A list in a file is a list of paths.
    PathList,
    /// Shown as `(set)`.
    Secret,
}

fn not_empty(text: &str) -> Result<&str, String> {
    if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(text) }
}

/// A text that follows a rule.
pub(crate) enum Text {
    NotEmpty,
    /// Its user checks it.
    Any,
    /// A URL that begins with http:// or https://.
    Url,
}

impl Kind for Text {
    type Value = String;

    fn accepts_empty(&self) -> bool {
        matches!(self, Text::Any)
    }

    fn description(&self) -> String {
        let text = match self {
            Text::NotEmpty => "string",
            Text::Any => "string, may be empty",
            Text::Url => "http:// or https:// URL",
        };
        text.to_owned()
    }

    fn parse(&self, text: &str) -> Result<String, String> {
        let host = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(scheme));
        let begins_host = |first: char| first.is_alphanumeric() || first == '[';
        match self {
            Text::NotEmpty => not_empty(text).map(str::to_owned),
            Text::Url if !host.is_some_and(|host| host.starts_with(begins_host)) => {
                Err("must be a URL that begins with http:// or https://".to_owned())
            }
            Text::Any | Text::Url => Ok(text.to_owned()),
        }
    }

    fn show(&self, value: &String) -> String {
        value.clone()
    }
}

/// Texts separated by commas, except commas in braces; in a file, a list.
pub(crate) struct TextList;

impl Kind for TextList {
    type Value = Vec<String>;

    fn description(&self) -> String {
        "list of strings, separated by commas".to_owned()
    }

    fn parse(&self, text: &str) -> Result<Vec<String>, String> {
        let mut depth = 0usize;
        let texts = not_empty(text)?.split(|letter| {
            match letter {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            letter == ',' && depth == 0
        });
        Ok(texts.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect())
    }

    fn show(&self, value: &Vec<String>) -> String {
        value.join(",")
    }

    fn to_toml(&self, value: &Vec<String>) -> Toml {
        value.iter().collect()
    }
}

/// A path that may be relative to the data folder, so that it names the same file in every process.
pub(crate) struct PathInDataFolder;

impl Kind for PathInDataFolder {
    type Value = PathBuf;

    fn description(&self) -> String {
        "path".to_owned()
    }

    fn parse(&self, text: &str) -> Result<PathBuf, String> {
        not_empty(text).map(PathBuf::from)
    }
    fn show(&self, value: &PathBuf) -> String {
        value.display().to_string()
    }
}

/// A file or folder; a relative one starts at the working folder, or at the file that names it.
pub(crate) struct FilePath;

impl Kind for FilePath {
    type Value = PathBuf;

    fn description(&self) -> String {
        "path".to_owned()
    }

    fn parse(&self, text: &str) -> Result<PathBuf, String> {
        not_empty(text).map(PathBuf::from)
    }

    fn rooted(&self, value: PathBuf, folder: &Path) -> PathBuf {
        folder.join(value)
    }

    fn show(&self, value: &PathBuf) -> String {
        value.display().to_string()
    }
}

/// Paths, separated as in `PATH`; in a file, a list.
pub(crate) struct PathList;

impl Kind for PathList {
    type Value = Vec<PathBuf>;
    const FORM: Form = Form::PathList;

    fn description(&self) -> String {
        "list of paths, separated as in PATH".to_owned()
    }

    fn parse(&self, text: &str) -> Result<Vec<PathBuf>, String> {
        Ok(std::env::split_paths(not_empty(text)?).filter(|path| !path.as_os_str().is_empty()).collect())
    }

    fn rooted(&self, value: Vec<PathBuf>, folder: &Path) -> Vec<PathBuf> {
        // `.` is the folder itself.
        value.into_iter().map(|path| folder.join(path).components().collect()).collect()
    }

    fn show(&self, value: &Vec<PathBuf>) -> String {
        let shown: Vec<_> = value.iter().map(|path| path.display().to_string()).collect();
        shown.join(if cfg!(windows) { ";" } else { ":" })
    }

    fn to_toml(&self, value: &Vec<PathBuf>) -> Toml {
        value.iter().map(|path| path.display().to_string()).collect()
    }
}

/// One of these names.
pub(crate) struct Choice<T: 'static>(pub(crate) &'static [(&'static str, T)]);

impl<T: Copy + PartialEq> Kind for Choice<T> {
    type Value = T;

    fn description(&self) -> String {
        let names: Vec<_> = self.0.iter().map(|(name, _)| format!("`{name}`")).collect();
        format!("one of {}", names.join(", "))
    }

    fn parse(&self, text: &str) -> Result<T, String> {
        let found = self.0.iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<_> = self.0.iter().map(|(name, _)| *name).collect();
            format!("must be one of {}", names.join(", "))
        })
    }

    fn show(&self, value: &T) -> String {
        self.0
            .iter()
            .find(|(_, known)| known == value)
            .map_or_else(String::new, |(name, _)| (*name).to_owned())
    }
}

/// Whether a switch is on: `1`, `true`, `yes` or `on`.
pub fn is_on(text: &str) -> bool {
    ["1", "true", "yes", "on"].iter().any(|yes| text.trim().eq_ignore_ascii_case(yes))
}

/// A switch. Every value that does not mean on means off.
pub(crate) struct Switch;

impl Kind for Switch {
    type Value = bool;
    const FORM: Form = Form::Switch;

    fn accepts_empty(&self) -> bool {
        true
    }

    fn description(&self) -> String {
        "`1`, `true`, `yes` or `on`; any other value is off".to_owned()
    }

    fn parse(&self, text: &str) -> Result<bool, String> {
        Ok(is_on(text))
    }

    fn show(&self, value: &bool) -> String {
        value.to_string()
    }

    fn to_toml(&self, value: &bool) -> Toml {
        (*value).into()
    }
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for SecretText {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("(secret)")
    }
}

pub(crate) struct Secret;

impl Kind for Secret {
    type Value = SecretText;
    const FORM: Form = Form::Secret;

    fn description(&self) -> String {
        "string, never shown".to_owned()
    }

    fn parse(&self, text: &str) -> Result<SecretText, String> {
        not_empty(text).map(|text| SecretText(text.to_owned()))
    }

    fn show(&self, _: &SecretText) -> String {
        "(set)".to_owned()
    }

    fn to_toml(&self, value: &SecretText) -> Toml {
        value.reveal().into()
    }
}

/// A TCP port; 0 lets the system choose.
pub(crate) struct Port;

impl Kind for Port {
    type Value = u16;

    fn description(&self) -> String {
        "port, 0 to 65535".to_owned()
    }

    fn parse(&self, text: &str) -> Result<u16, String> {
        text.parse().map_err(|_| "must be a port, 0 to 65535".to_owned())
    }

    fn show(&self, value: &u16) -> String {
        value.to_string()
    }

    fn to_toml(&self, value: &u16) -> Toml {
        i64::from(*value).into()
    }
}

/// A whole number of at least the given one.
pub(crate) struct Count<T> {
    at_least: u64,
    of: PhantomData<T>,
}

impl<T> Count<T> {
    pub(crate) fn at_least(at_least: u64) -> Count<T> {
        Count { at_least, of: PhantomData }
    }
}

fn whole_number(text: &str, at_least: u64) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number >= at_least);
    number.ok_or_else(|| format!("must be a whole number, {at_least} or more"))
}

fn toml_number(number: u64) -> Toml {
    // What TOML's numbers cannot hold is written as text, which is read the same.
    i64::try_from(number).map_or_else(|_| number.to_string().into(), Toml::from)
}

impl<T: Copy + Display + TryFrom<u64>> Kind for Count<T> {
    type Value = T;

    fn description(&self) -> String {
        format!("whole number, {} or more", self.at_least)
    }

    fn parse(&self, text: &str) -> Result<T, String> {
        let number = whole_number(text, self.at_least)?;
        T::try_from(number).map_err(|_| "is too large".to_owned())
    }

    fn show(&self, value: &T) -> String {
        value.to_string()
    }

    fn to_toml(&self, value: &T) -> Toml {
        toml_number(value.to_string().parse().unwrap_or(u64::MAX))
    }
}

/// A span of time of at least one unit, written as a whole number of units.
pub(crate) enum Span {
    Milliseconds,
    Seconds,
    Days,
}

const DAY: u64 = 24 * 60 * 60;

impl Kind for Span {
    type Value = Duration;

    fn description(&self) -> String {
        let unit = match self {
            Span::Milliseconds => "milliseconds",
            Span::Seconds => "seconds",
            Span::Days => "days",
        };
        format!("whole number of {unit}, 1 or more")
    }

    fn parse(&self, text: &str) -> Result<Duration, String> {
        let number = whole_number(text, 1)?;
        Ok(match self {
            Span::Milliseconds => Duration::from_millis(number),
            Span::Seconds => Duration::from_secs(number),
            Span::Days => Duration::from_secs(number.saturating_mul(DAY)),
        })
    }

    fn show(&self, value: &Duration) -> String {
        match self {
            Span::Milliseconds => value.as_millis().to_string(),
            Span::Seconds => value.as_secs().to_string(),
            Span::Days => (value.as_secs() / DAY).to_string(),
        }
    }

    fn to_toml(&self, value: &Duration) -> Toml {
        toml_number(self.show(value).parse().unwrap_or(u64::MAX))
    }
}
