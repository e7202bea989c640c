//! Numbers in the texts of lessons: the view that a step shows answers each question in braces.

/// The text with each `{question}` replaced by its answer.
///
/// # Errors
/// A sentence without its full stop: the question and why it has no answer.
pub(crate) fn fill(
    text: &str,
    answer: impl Fn(&str) -> Result<String, String>,
) -> Result<String, String> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        let (asked, after) =
            after.split_once('}').ok_or_else(|| format!("`{{{after}` has no closing `}}`"))?;
        filled += before;
        filled += &answer(asked).map_err(|why| format!("`{{{asked}}}`: {why}"))?;
        rest = after;
    }
    Ok(filled + rest)
}
