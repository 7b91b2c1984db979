//! What a piece of code looks like when names, texts and numbers are taken out: two pieces of the same shape are alike.

/// Bytes of a shape that are compared.
const MAX_SHAPE_LENGTH: usize = 60;

/// The shape of some code; `names` stay as they are.
pub(super) fn shape(code: &str, names: &[String]) -> String {
    let mut shape = String::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if c.is_alphabetic() || c == '_' {
            let name = &rest[..word];
            push(&mut shape, if keeps(name, names) { name } else { "x" });
            rest = &rest[word..];
        } else if c.is_numeric() {
            push(&mut shape, "x");
            rest = &rest[word.max(c.len_utf8())..];
        } else if matches!(c, '"' | '\'' | '`') {
            let end = rest[1..].find(c).map_or(rest.len(), |end| end + 2);
            push(&mut shape, "x");
            rest = &rest[end..];
        } else {
            if !c.is_whitespace() {
                shape.push(c);
            }
            rest = &rest[c.len_utf8()..];
        }
        if shape.len() > MAX_SHAPE_LENGTH {
            break;
        }
    }
    collapsed(shape)
}

/// Words that are kept in a shape.
const WORDS: [&str; 14] = [
    "with", "for", "if", "raise", "return", "async", "await", "class", "def", "fn", "try", "except", "match",
    "lambda",
];

fn keeps(name: &str, names: &[String]) -> bool {
    names.iter().any(|known| known == name) || WORDS.contains(&name)
}

fn push(shape: &mut String, word: &str) {
    if shape.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        shape.push(' ');
    }
    shape.push_str(word);
}

/// One argument stands for any number of them, and one dot for a chain.
fn collapsed(mut shape: String) -> String {
    for (many, one) in
        [("x=x", "x"), ("x:x", "x"), ("x.x", "x"), ("x[x]", "x"), ("x,x", "x"), ("x,)", "x)"), ("x x", "x")]
    {
        while shape.contains(many) {
            shape = shape.replace(many, one);
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_do_the_same_have_one_shape() {
        let names = ["register".to_owned()];
        let of = |code: &str| shape(code, &names);
        assert_eq!(of("app.register(blueprint, url='/a')"), "x.register(x)");
        assert_eq!(of("self.app.register(other)"), of("app.register(a, 1, b=\"c\")"));
        assert_ne!(of("return app.register(a)"), of("app.register(a)"));
        assert_ne!(of("app.register()"), of("app.register(a)"));
        assert_eq!(of("é = 'unclosed"), "x=x".replace("x=x", "x"));
        assert_eq!(of(""), "");
    }
}
