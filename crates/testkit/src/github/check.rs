//! Checks requests more strictly than GitHub does.

use std::net::SocketAddr;

use serde_json::Value;

use super::{FakeRepository, api};
use crate::http::HttpRequest;

/// The headers of every request and their values; `*` where the value is checked elsewhere.
const HEADERS: [(&str, &str); 5] = [
    ("accept", "application/vnd.github+json"),
    ("authorization", "*"),
    ("host", "*"),
    ("user-agent", "*"),
    ("x-github-api-version", "2022-11-28"),
];

/// The additional headers of a request with a body.
const BODY_HEADERS: [(&str, &str); 2] = [("content-length", "*"), ("content-type", "application/json")];

/// The routes below the repository: method, path, query parameters, and fields of the body.
const ROUTES: [(&str, &str, &[&str], &[Field]); 7] = [
    ("GET", "", &[], &[]),
    ("GET", "/pulls", &["state", "head", "base", "per_page"], &[]),
    ("GET", "/pulls/#", &[], &[]),
    (
        "POST",
        "/pulls",
        &[],
        &[Field::text("title"), Field::text("head"), Field::text("base"), Field::text("body")],
    ),
    ("GET", "/issues", &["state", "sort", "direction", "per_page"], &[]),
    ("GET", "/issues/#", &[], &[]),
    ("POST", "/issues", &[], &[Field::text("title"), Field::text("body"), Field::texts("labels")]),
];

struct Field {
    name: &'static str,
    list: bool,
}

impl Field {
    const fn text(name: &'static str) -> Field {
        Field { name, list: false }
    }

    /// An optional list of texts.
    const fn texts(name: &'static str) -> Field {
        Field { name, list: true }
    }

    fn accepts(&self, value: Option<&Value>) -> bool {
        match value {
            Some(Value::Array(values)) if self.list => {
                !values.is_empty() && values.iter().all(Value::is_string)
            }
            Some(Value::String(_)) => !self.list,
            None => self.list,
            _ => false,
        }
    }
}

pub(super) fn complaints(
    request: &HttpRequest,
    repository: &FakeRepository,
    address: SocketAddr,
) -> Vec<String> {
    let HttpRequest { method, path, body, .. } = request;
    let mut all = headers(request, address);
    let token = &repository.token;
    if path.contains(token) || body.to_string().contains(token) {
        all.push("the token is where it does not belong".to_owned());
    }
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    // Another repository may be requested, and is answered with 404.
    if let Some(below) = api::below_repository(path, repository) {
        let number = below.rsplit_once('/').filter(|(_, last)| last.parse::<u64>().is_ok());
        let shape = number.map_or(below.to_owned(), |(before, _)| format!("{before}/#"));
        match ROUTES.iter().find(|(by, at, ..)| by == method && *at == shape) {
            None => all.push("nothing is there".to_owned()),
            Some((_, _, parameters, fields)) => {
                for (name, _) in api::parameters(query) {
                    if !parameters.contains(&name.as_str()) {
                        all.push(format!("the parameter {name} is unknown"));
                    }
                }
                all.extend(body_complaints(body, fields));
            }
        }
    } else if !path.starts_with(&format!("{}/repos/", api::PREFIX)) {
        all.push("not a path of the API".to_owned());
    }
    all.into_iter().map(|complaint| format!("{method} {}: {complaint}", request.path)).collect()
}

fn headers(request: &HttpRequest, address: SocketAddr) -> Vec<String> {
    let with_body: &[_] = if request.body.is_null() { &[] } else { &BODY_HEADERS };
    let expected: Vec<(&str, &str)> = HEADERS.iter().chain(with_body).copied().collect();
    let mut all = Vec::new();
    for (name, value) in &expected {
        let found: Vec<&str> = request
            .headers
            .iter()
            .filter(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
            .collect();
        let right = |found: &str| match *name {
            "authorization" => found.starts_with("Bearer "),
            "host" => found == address.to_string(),
            "user-agent" => found.strip_prefix("tamis/").is_some_and(|version| !version.is_empty()),
            _ => *value == "*" || found == *value,
        };
        match found[..] {
            [one] if right(one) => {}
            // The value may be a token, but only test output shows it.
            _ => all.push(format!("the header {name} is {found:?}")),
        }
    }
    for (name, _) in &request.headers {
        if !expected.iter().any(|(known, _)| known == name) {
            all.push(format!("the header {name} is unknown"));
        }
    }
    all
}

fn body_complaints(body: &Value, fields: &[Field]) -> Vec<String> {
    let object = match body {
        Value::Null if fields.is_empty() => return Vec::new(),
        Value::Object(object) if !fields.is_empty() => object,
        _ => return vec!["the body is not of this kind of request".to_owned()],
    };
    let wrong = fields.iter().filter(|field| !field.accepts(object.get(field.name)));
    let mut all: Vec<String> =
        wrong.map(|field| format!("the field {} is not as it must be", field.name)).collect();
    let unknown = object.keys().filter(|name| fields.iter().all(|field| field.name != name.as_str()));
    all.extend(unknown.map(|name| format!("the field {name} is unknown")));
    all
}
