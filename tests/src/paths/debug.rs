//! The string literals of a crate, and those formatted with `Debug`, by file.

use std::path::{Path, PathBuf};

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta};

use super::code::Code;
use super::syntax::{attributes, line, names, only_tests};

/// A string literal of a program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramText {
    /// Its file, relative to the workspace's root.
    pub file: PathBuf,
    /// The line where it begins, from 1.
    pub line: usize,
    /// The text.
    pub text: String,
}

/// The string literals of a crate that have a placeholder such as `{x:?}`.
///
/// # Errors
///
/// As [`texts`].
pub fn debug_texts(workspace: &Path, root: &Path) -> Result<Vec<ProgramText>, String> {
    let mut found = texts(workspace, root)?;
    found.retain(|found| is_of_debug(&found.text));
    Ok(found)
}

/// Reads the string literals of the crate whose root is the file `root`, a path relative to `workspace`.
/// Literals of tests are left out, and so are messages about bugs in the program: of assertions, panics and
/// `expect`.
///
/// # Errors
///
/// A sentence: a file is missing, is not Rust, or is not where its name says.
pub fn texts(workspace: &Path, root: &Path) -> Result<Vec<ProgramText>, String> {
    let code = Code::read(workspace, root)?;
    let mut found = Vec::new();
    for (file, parsed) in &code.parsed {
        Finder { file, found: &mut found }.visit_file(parsed);
    }
    Ok(found)
}

/// Whether a macro of this name reports bugs in the program itself.
fn tells_of_faults(name: &str) -> bool {
    let panics = ["panic", "unreachable", "todo", "unimplemented"].contains(&name);
    panics || ["assert", "debug_assert", "prop_assert"].iter().any(|start| name.starts_with(start))
}

/// Whether a method of this name does.
fn expects(name: &str) -> bool {
    ["expect", "expect_err"].contains(&name)
}

/// Whether a format string has a placeholder for `Debug`: `{:?}`, `{x:#?}`, `{0:>8.3?}`.
fn is_of_debug(text: &str) -> bool {
    let text = text.replace("{{", "");
    let mut placeholders = text.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0));
    placeholders.any(|inside| inside.contains(':') && inside.ends_with('?'))
}

/// Reads the string literals of one file.
struct Finder<'a> {
    file: &'a Path,
    found: &'a mut Vec<ProgramText>,
}

impl Finder<'_> {
    fn note(&mut self, text: String, span: Span) {
        self.found.push(ProgramText { file: self.file.to_owned(), line: line(span), text });
    }

    /// The literals among a macro's tokens.
    fn tokens(&mut self, tokens: &TokenStream) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let before = |at: usize, back: usize| match tokens.get(at.wrapping_sub(back)) {
            Some(token @ (TokenTree::Ident(_) | TokenTree::Punct(_))) => token.to_string(),
            _ => String::new(),
        };
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => {
                    let of_faults = match before(at, 1).as_str() {
                        "!" => tells_of_faults(&before(at, 2)),
                        name => expects(name),
                    };
                    if !of_faults {
                        self.tokens(&group.stream());
                    }
                }
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                        self.note(text.value(), literal.span());
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !only_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !only_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if expects(&call.method.to_string()) {
            return self.visit_expr(&call.receiver);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        if !names(&called.path).last().is_some_and(|name| tells_of_faults(name)) {
            self.tokens(&called.tokens);
        }
    }

    /// `#[error("…")]` counts, a comment does not.
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.tokens(&list.tokens);
        }
    }

    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        self.note(text.value(), text.span());
    }
}
