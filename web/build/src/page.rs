//! The files of the page: its templates filled in, the program and the scripts under hashed names, and
//! `standalone.html`, the page as one file for `sparsescope export --html`.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::compress;
use crate::dist::{Dist, hashed_name};
use crate::landing::Landing;
use crate::sizes::Sizes;

/// Only the page's own files and the script `{start}`, except for bundles, which may come from anywhere.
const HOSTED_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {start}; \
    worker-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src *; base-uri 'none'; form-action 'none'";

/// No network at all.
const STANDALONE_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; \
    style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'";

/// Where `sparsescope export --html` puts bundles; it searches for this text.
const BUNDLES_MARK: &str = "<!-- sparsescope:bundles -->";

/// The example bundles. The first is shown by a link that names no bundle.
const EXAMPLES: [&str; 3] = ["cpu", "gpu", "solvers"];

/// The service worker that caches the page for offline use. Browsers always request it under the same name.
const WORKER: &str = "worker.js";

/// The contents of the page besides its templates.
pub(crate) struct Page {
    /// The WebAssembly.
    pub(crate) program: Vec<u8>,
    /// wasm-bindgen's script.
    pub(crate) glue: String,
    /// The notices for third-party code.
    pub(crate) notices: String,
    /// The function that minifies a script.
    pub(crate) minified: Minified,
}

/// Turns a script into a shorter one that does the same.
pub(crate) type Minified = Box<dyn Fn(&str) -> anyhow::Result<String>>;

impl Page {
    /// Writes everything into `dist`; returns the sizes of what a visitor downloads.
    pub(crate) fn write(
        &self,
        templates: &Path,
        app: &Path,
        dist: &Dist,
        quick: bool,
    ) -> anyhow::Result<Sizes> {
        let names = ["index.html", "style.css", "page.js", "worker.js"];
        let [index, style, script, worker] = names.map(|name| {
            let path = templates.join(name);
            std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))
        });
        let (index, style, script, worker) = (index?, style?, script?, worker?);
        let (glue, script) = ((self.minified)(&self.glue)?, (self.minified)(&script)?);
        copy_examples(&app.join("example"), dist)?;
        let lessons = lessons(&app.join("lessons"))?;
        let landing = Landing::write(&app.join("example"), &lessons, dist, quick)?;
        let lessons = element_of(lessons);

        let put = |stem, extension, bytes: &[u8]| {
            let name = hashed_name(stem, extension, bytes);
            dist.write_packed(&name, bytes, quick).map(|sizes| (name, sizes))
        };
        let (program_name, program) = put("sparsescope", "wasm", &self.program)?;
        let (glue_name, glue_sizes) = put("sparsescope", "js", glue.as_bytes())?;
        let (script_name, script_sizes) = put("page", "js", script.as_bytes())?;
        let (style_name, _) = put("style", "css", style.as_bytes())?;
        dist.write_packed("notices.txt", self.notices.as_bytes(), quick)?;

        let bytes = self.program.len();
        let hosted = fill(
            &index,
            &[
                ("policy", &HOSTED_POLICY.replace("{start}", &landing.allowed)),
                (
                    "style",
                    &format!(
                        "{}<link rel=\"stylesheet\" href=\"{style_name}\">\n\
                     <link rel=\"preload\" href=\"{program_name}\" as=\"fetch\" type=\"application/wasm\" crossorigin>",
                        landing.script
                    ),
                ),
                (
                    "notices",
                    "<a href=\"notices.txt\" rel=\"license\">Licences of the code in this page</a>",
                ),
                ("landing", &landing.html),
                ("data", &lessons),
                (
                    "scripts",
                    &format!(
                        "<script src=\"{glue_name}\" defer></script>\n\
                     <script src=\"{script_name}\" defer data-program=\"{program_name}\" data-bytes=\"{bytes}\" data-example=\"{}\" data-worker=\"{WORKER}\"></script>",
                        EXAMPLES[0]
                    ),
                ),
            ],
        )?;
        dist.write_packed("index.html", hosted.as_bytes(), quick)?;

        // A new name with every change of the page, whose file contains the names of the others.
        let version = hashed_name("page", "html", hosted.as_bytes());
        let kept = [&program_name, &glue_name, &script_name, &style_name];
        let kept: Vec<&String> = kept.into_iter().chain(&landing.pictures).collect();
        let kept = serde_json::to_string(&kept)?;
        let worker = fill(&worker, &[("version", &version), ("files", &kept)])?;
        let worker = (self.minified)(&worker)?;
        let worker_sizes = dist.write_packed(WORKER, worker.as_bytes(), quick)?;

        let packed = BASE64_STANDARD.encode(compress::gzip(&self.program)?);
        let standalone = fill(
            &index,
            &[
                ("policy", STANDALONE_POLICY),
                ("style", &format!("<style>\n{}</style>", inline(&style, "style")?)),
                (
                    "notices",
                    &format!(
                        "<script type=\"text/plain\" id=\"licences\">\n{}</script>",
                        inline(&self.notices, "script")?
                    ),
                ),
                ("landing", ""),
                (
                    "data",
                    &format!(
                        "{lessons}\n{BUNDLES_MARK}\n<script type=\"text/plain\" id=\"program\">{packed}</script>"
                    ),
                ),
                (
                    "scripts",
                    &format!(
                        "<script>\n{}</script>\n<script>\n{}</script>",
                        inline(&glue, "script")?,
                        inline(&script, "script")?
                    ),
                ),
            ],
        )?;
        dist.write("standalone.html", standalone.as_bytes())?;
        let scripts = std::array::from_fn(|i| glue_sizes[i] + script_sizes[i] + worker_sizes[i]);
        Ok(Sizes { program, scripts })
    }
}

/// Copies the example bundles, which are fetched on request.
fn copy_examples(examples: &Path, dist: &Dist) -> anyhow::Result<()> {
    for name in EXAMPLES.map(|name| format!("{name}.zip")) {
        let path = examples.join(&name);
        let bytes =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        dist.write(&format!("examples/{name}"), &bytes)?;
    }
    Ok(())
}

/// The lessons that come with the program, in the order of their file numbers.
fn lessons(folder: &Path) -> anyhow::Result<Vec<serde_json::Value>> {
    let cannot = |what: &Path| format!("cannot read {}", what.display());
    let entries = std::fs::read_dir(folder).with_context(|| cannot(folder))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort_by_cached_key(|path| (number_of(path), path.clone()));
    let mut list = Vec::new();
    for path in paths {
        let bytes = std::fs::read(&path).with_context(|| cannot(&path))?;
        let lesson: serde_json::Value =
            serde_json::from_slice(&bytes).with_context(|| cannot(&path))?;
        list.push(lesson);
    }
    Ok(list)
}

/// The lessons as a part of the page itself, so that they need no fetch.
fn element_of(lessons: Vec<serde_json::Value>) -> String {
    // Nothing in it can close the element.
    let json = serde_json::Value::Array(lessons).to_string().replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"lessons\">{json}</script>")
}

/// The number at the start of a lesson's file name.
fn number_of(path: &Path) -> Option<u32> {
    let name = path.file_stem()?.to_str()?;
    name.split('-').next()?.parse().ok()
}

/// Replaces each `{{name}}` in a template by its text.
fn fill(template: &str, texts: &[(&str, &str)]) -> anyhow::Result<String> {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").context("a template has `{{` without `}}`")?;
        let Some((_, text)) = texts.iter().find(|(known, _)| *known == name) else {
            bail!("a template uses {{{{{name}}}}}, which is not defined");
        };
        page.push_str(before);
        page.push_str(text);
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

/// A text that can be inside an element, which the first `</element` would close. `<!--` would change how the
/// rest of a script is parsed.
fn inline<'a>(text: &'a str, element: &str) -> anyhow::Result<&'a str> {
    let lower = text.to_ascii_lowercase();
    ensure!(
        !lower.contains(&format!("</{element}")),
        "an inlined {element} contains its own end tag"
    );
    ensure!(!lower.contains("<!--"), "an inlined {element} contains the start of a comment");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    #[test]
    fn templates_are_filled_and_unknown_names_refused() {
        assert_eq!(fill("a{{b}}c{{b}}", &[("b", "{{x}}")]).unwrap(), "a{{x}}c{{x}}");
        assert!(fill("{{b}}", &[]).is_err());
        assert!(fill("{{b", &[("b", "")]).is_err());
    }

    #[test]
    fn what_would_end_its_element_is_not_inlined() {
        assert!(inline("let a = '</SCRIPT>'", "script").is_err());
        assert!(inline("a <!-- b", "script").is_err());
        assert!(inline("a < b", "script").is_ok());
    }

    /// Every file of a page made of small parts.
    #[test]
    fn a_page_is_complete_and_refers_to_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("dist");
        let web = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let page = Page {
            program: vec![1; 100],
            glue: "var wasm_bindgen;\n".into(),
            notices: "n".into(),
            minified: Box::new(|script| Ok(script.to_owned())),
        };
        let dist = Dist::beside(&place).unwrap();
        let sizes = page.write(&web.join("page"), &web.join("../app"), &dist, true).unwrap();
        dist.publish().unwrap();

        assert_eq!(sizes.program[0], 100);
        let index = std::fs::read_to_string(place.join("index.html")).unwrap();
        let (before, lessons) = index.split_once("id=\"lessons\">").unwrap();
        let (lessons, after) = lessons.split_once("</script>").unwrap();
        let mut referred = 0;
        for part in [before, after]
            .into_iter()
            .flat_map(|html| html.split('"'))
            .filter(|part| part.contains('.') && !part.contains([' ', '<']))
        {
            // A link of the start page names an example and what is shown of it.
            let part = part.trim_start_matches("?bundle=").split('#').next().unwrap();
            assert!(place.join(part).is_file(), "{part}");
            referred += 1;
        }
        assert!(referred >= 16, "{index}");
        let (viewer, _) = index.split_once("<div id=\"loader\">").unwrap();
        let labels = viewer.split("aria-label=\"").skip(1).map(|rest| rest.split('"').next());
        let labels: Vec<_> = labels.flatten().collect();
        assert_eq!(labels.len(), 2, "{viewer}");
        assert_ne!(labels[0], labels[1], "one name for the canvas and its widgets");
        let (_, start) = index.split_once("<script>").unwrap();
        let (start, _) = start.split_once("</script>").unwrap();
        let hash = BASE64_STANDARD.encode(Sha256::digest(start));
        assert!(index.contains(&format!("'sha256-{hash}'")), "the policy allows {start}");
        assert_eq!(index.matches("class=\"card\"").count(), 3);
        let worker = std::fs::read_to_string(place.join("worker.js")).unwrap();
        let (_, kept) = worker.split_once("FILES = [").unwrap();
        let (kept, _) = kept.split_once(']').unwrap();
        for name in kept.split(',') {
            assert!(place.join(name.trim_matches('"')).is_file(), "{name}");
        }
        let lessons: serde_json::Value = serde_json::from_str(lessons).unwrap();
        let ids: Vec<_> = lessons.as_array().unwrap().iter().map(|lesson| &lesson["id"]).collect();
        let ends = (ids[0], ids[12]);
        assert!(ids.len() == 13 && ends.0 == "csr-hll" && ends.1 == "many-vectors", "{ids:?}");
        assert!(!index.contains("unsafe-inline") && !index.contains("<style"), "{index}");
        for name in [
            "index.html.br",
            "index.html.gz",
            "notices.txt",
            "examples/cpu.zip",
            "examples/gpu.zip",
            "examples/solvers.zip",
        ] {
            assert!(place.join(name).is_file(), "{name}");
        }
        let standalone = std::fs::read_to_string(place.join("standalone.html")).unwrap();
        assert_eq!(standalone.matches(BUNDLES_MARK).count(), 1);
        assert!(!standalone.contains("id=\"landing\""));
        assert!(!standalone.contains("src=") && !standalone.contains("href=\"s"), "{standalone}");
    }
}
