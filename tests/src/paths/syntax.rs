//! Properties of a single piece of syntax.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Meta, Token, UseTree};

pub(super) fn line(span: Span) -> usize {
    span.start().line
}

pub(super) fn names(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

pub(super) fn is_small_name(path: &syn::Path) -> bool {
    path.get_ident().is_some_and(|name| !name.to_string().starts_with(char::is_uppercase))
}

/// Calls `leaf` with each path of a `use`, its local name (none for a glob) and its position.
pub(super) fn each_leaf(tree: &UseTree, leaf: &mut impl FnMut(Vec<String>, Option<String>, Span)) {
    fn walk(
        tree: &UseTree,
        before: &[String],
        leaf: &mut impl FnMut(Vec<String>, Option<String>, Span),
    ) {
        let with = |name: &syn::Ident| -> Vec<String> {
            // `use a::{self}` imports `a`.
            let itself = *name == "self" && !before.is_empty();
            let name = (!itself).then(|| name.to_string());
            before.iter().cloned().chain(name).collect()
        };
        match tree {
            UseTree::Path(path) => walk(&path.tree, &with(&path.ident), leaf),
            UseTree::Name(name) => {
                let path = with(&name.ident);
                leaf(path.clone(), path.last().cloned(), name.ident.span());
            }
            UseTree::Rename(rename) => {
                let name = rename.rename.to_string();
                leaf(with(&rename.ident), Some(name), rename.ident.span());
            }
            UseTree::Glob(glob) => leaf(before.to_vec(), None, glob.star_token.span),
            UseTree::Group(group) => group.items.iter().for_each(|tree| walk(tree, before, leaf)),
        }
    }
    walk(tree, &[], leaf);
}

pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

pub(super) fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

pub(super) fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident(name))
}

/// Whether an item exists in tests only.
pub(super) fn only_tests(attributes: &[Attribute]) -> bool {
    fn only(condition: &Meta) -> bool {
        let parts = |list: &syn::MetaList| {
            list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
        };
        match condition {
            Meta::Path(path) => path.is_ident("test"),
            Meta::List(list) if list.path.is_ident("all") => {
                parts(list).is_ok_and(|parts| parts.iter().any(only))
            }
            Meta::List(list) if list.path.is_ident("any") => {
                parts(list).is_ok_and(|parts| parts.iter().all(only))
            }
            _ => false,
        }
    }
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<Meta>().is_ok_and(|condition| only(&condition))
    })
}

/// Calls `found` with each name in a macro's tokens.
pub(super) fn each_word(tokens: &TokenStream, found: &mut impl FnMut(String)) {
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(name) => found(name.to_string()),
            TokenTree::Group(group) => each_word(&group.stream(), found),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Calls `found` with each path of at least two names in a macro's tokens.
pub(super) fn each_path(tokens: &TokenStream, found: &mut impl FnMut(Vec<String>, Span)) {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let colons = |at: usize| {
        let colon =
            |at| matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
        colon(at) && colon(at + 1)
    };
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => each_path(&group.stream(), found),
            TokenTree::Ident(first) if at < 2 || !colons(at - 2) => {
                let mut path = vec![first.to_string()];
                while colons(at + 1)
                    && let Some(TokenTree::Ident(next)) = tokens.get(at + 3)
                {
                    path.push(next.to_string());
                    at += 3;
                }
                found(path, first.span());
            }
            _ => {}
        }
        at += 1;
    }
}

pub(super) fn each_text(tokens: &TokenStream, found: &mut impl FnMut(&str, Span)) {
    for token in tokens.clone() {
        match token {
            TokenTree::Group(group) => each_text(&group.stream(), found),
            TokenTree::Literal(literal) => {
                if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                    found(&text.value(), literal.span());
                }
            }
            _ => {}
        }
    }
}
