//! HTML that is also well-formed XML. Text and attributes are always escaped, and element names come from the
//! source, so nothing in a bundle can become markup.

use sparsescope_figures::figure::escape;

/// Attributes: names from the source, arbitrary values.
type Attributes<'a> = &'a [(&'static str, &'a str)];

/// Elements followed by a line break.
const BLOCKS: [&str; 17] = [
    "br", "details", "div", "figure", "h1", "h2", "h3", "head", "html", "li", "meta", "p", "style",
    "summary", "table", "tr", "ul",
];

/// HTML written so far.
#[derive(Default)]
pub(super) struct Html(String);

impl Html {
    /// The HTML that `content` writes.
    pub(super) fn of(content: impl FnOnce(&mut Self)) -> String {
        let mut html = Self::default();
        content(&mut html);
        html.0
    }

    /// A page without scripts, which may not load anything.
    pub(super) fn page(title: &str, style: &str, body: impl FnOnce(&mut Self)) -> String {
        const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
        let root = [("xmlns", "http://www.w3.org/1999/xhtml"), ("lang", "en")];
        let view = [("name", "viewport"), ("content", "width=device-width, initial-scale=1")];
        let policy = [("http-equiv", "Content-Security-Policy"), ("content", POLICY)];
        Self::of(|html| {
            html.0 += "<!DOCTYPE html>\n";
            html.element("html", &root, |html| {
                html.element("head", &[], |html| {
                    html.empty("meta", &[("charset", "utf-8")]);
                    html.empty("meta", &policy);
                    html.empty("meta", &view);
                    html.of_text("title", &[], title);
                    html.element("style", &[], |html| html.0 += style);
                });
                html.element("body", &[], body);
            });
        })
    }

    /// An element with the content that `content` writes.
    pub(super) fn element(
        &mut self,
        name: &'static str,
        attributes: Attributes<'_>,
        content: impl FnOnce(&mut Self),
    ) {
        self.start(name, attributes);
        self.0.push('>');
        content(self);
        self.0 += "</";
        self.0 += name;
        self.end(name);
    }

    /// An element with text in it.
    pub(super) fn of_text(&mut self, name: &'static str, attributes: Attributes<'_>, text: &str) {
        self.element(name, attributes, |html| html.text(text));
    }

    /// An element that never has content.
    pub(super) fn empty(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.start(name, attributes);
        self.0.push('/');
        self.end(name);
    }

    /// Escaped text.
    pub(super) fn text(&mut self, text: &str) {
        self.0 += &escape(text);
    }

    /// An SVG drawn by this program, with all text escaped.
    pub(super) fn svg(&mut self, svg: &str) {
        self.0 += svg;
    }

    /// The title of such a drawing, which is already escaped.
    pub(super) fn title_of(&mut self, svg: &str) {
        let title = svg.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
        match title {
            // Without these characters nothing is markup.
            Some((title, _)) if !title.contains(['<', '>']) => self.0 += title,
            _ => {}
        }
    }

    fn start(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0 += name;
        for (attribute, value) in attributes {
            for part in [" ", attribute, "=\"", &escape(value), "\""] {
                self.0 += part;
            }
        }
    }

    fn end(&mut self, name: &str) {
        self.0.push('>');
        if BLOCKS.contains(&name) {
            self.0.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_text_nor_attributes_become_markup() {
        let hostile = "</p><script>x</script>\" onload='y' \u{1}&amp;";
        let html = Html::of(|html| {
            html.element("p", &[("id", hostile)], |html| {
                html.text(hostile);
                html.empty("br", &[]);
            });
        });
        let escaped = "&lt;/p&gt;&lt;script&gt;x&lt;/script&gt;&quot; onload='y' &amp;amp;";
        assert_eq!(html, format!("<p id=\"{escaped}\">{escaped}<br/>\n</p>\n"));
    }

    #[test]
    fn the_title_of_a_drawing_is_taken_over_and_markup_in_it_is_not() {
        let of = |svg: &str| Html::of(|html| html.title_of(svg));
        assert_eq!(of("<svg><title>a &lt; b</title></svg>"), "a &lt; b");
        assert_eq!(of("<svg><title><b>x</b></title></svg>"), "");
        assert_eq!(of("<svg></svg>"), "");
    }

    #[test]
    fn a_page_allows_no_script() {
        let page = Html::page("a<b", "", |html| html.text("c"));
        assert!(
            page.contains("<title>a&lt;b</title>") && page.ends_with("<body>c</body></html>\n")
        );
        let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ";
        assert!(page.contains(policy), "{page}");
    }
}
