//! The files of the page, as `npm run build` in `dashboard/` makes them.

/// A file of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFile {
    pub content_type: &'static str,
    pub bytes: &'static [u8],
}

const INDEX: PageFile =
    PageFile { content_type: "text/html; charset=utf-8", bytes: include_bytes!("../page/index.html") };

/// The first parts of the paths that the page itself tells apart.
const VIEWS: [&str; 10] =
    ["agents", "compare", "components", "prunes", "research", "search", "sessions", "settings", "try", ""];

/// The file at a path; none if the path is not the page's. All views of the page are one file.
pub fn page_file(path: &str) -> Option<PageFile> {
    let path = path.strip_prefix('/')?;
    Some(match path {
        "page.js" => PageFile {
            content_type: "text/javascript; charset=utf-8",
            bytes: include_bytes!("../page/page.js"),
        },
        "page.css" => {
            PageFile { content_type: "text/css; charset=utf-8", bytes: include_bytes!("../page/page.css") }
        }
        "favicon.svg" => {
            PageFile { content_type: "image/svg+xml", bytes: include_bytes!("../page/favicon.svg") }
        }
        view => {
            let first = view.split('/').next().unwrap_or_default();
            return VIEWS.contains(&first).then_some(INDEX);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_one_file_and_nothing_else_is_served() {
        for view in ["/", "/sessions", "/sessions/0123", "/compare/a/b", "/settings", "/try"] {
            assert_eq!(page_file(view), Some(INDEX), "{view}");
        }
        for other in ["", "/api", "/api/page", "/mcp", "/index.html", "/../page.js", "/page.js/", "/metrics"]
        {
            assert_eq!(page_file(other), None, "{other}");
        }
    }
}
