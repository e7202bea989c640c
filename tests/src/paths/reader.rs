//! The paths in a crate, by file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::Span;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, Meta, UseTree, Visibility};

use super::code::{Code, Module, Target, starts_here};
use super::syntax::{
    attributes, each_leaf, each_path, each_text, is_small_name, line, names, only_tests,
};

/// The paths of a crate that lead from one of its files into another.
#[derive(Debug, Default)]
pub struct Paths {
    /// The top-level modules of the crate.
    pub rooms: BTreeSet<String>,
    /// In the order of files and lines.
    pub uses: Vec<Use>,
    /// Paths in the crate whose target cannot be found.
    pub lost: Vec<Use>,
}

/// One path that leads into another file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// The file with the path, relative to the workspace's root.
    pub file: PathBuf,
    /// The line of the path, from 1.
    pub line: usize,
    /// The path as written.
    pub path: String,
    /// The top-level module that contains the path; none in the crate's root.
    pub room: Option<String>,
    /// The file that defines the target; none for modules and names of other crates.
    pub used: Option<PathBuf>,
    /// The top-level module of the target.
    pub used_room: Option<String>,
}

/// Reads the crate whose root is the file `root`, a path relative to `workspace`.
///
/// # Errors
///
/// A sentence: a file is missing, is not Rust, or is not where its name says.
pub fn paths(workspace: &Path, root: &Path) -> Result<Paths, String> {
    let code = Code::read(workspace, root)?;
    let rooms = code.modules[0].children.keys().cloned().collect();
    let mut found = Paths { rooms, ..Paths::default() };
    for (file, id) in &code.files {
        let mut reader = Reader { code: &code, module: *id, blocks: Vec::new(), found: &mut found };
        reader.visit_file(&code.parsed[file]);
    }
    for uses in [&mut found.uses, &mut found.lost] {
        uses.sort();
        uses.dedup();
    }
    Ok(found)
}

/// Reads the paths of one file.
struct Reader<'a> {
    code: &'a Code,
    /// The module being read.
    module: usize,
    /// The imports of a `use` inside a function.
    blocks: Vec<(String, Vec<String>)>,
    found: &'a mut Paths,
}

impl Reader<'_> {
    fn module(&self) -> &Module {
        &self.code.modules[self.module]
    }

    /// Records a path that may lead into another file.
    fn note(&mut self, path: &[String], span: Span) {
        let module = self.module();
        let of = |id: usize| &self.code.modules[id];
        let target = self.code.follow(self.module, path);
        let (used, used_room) = match target {
            Some(Target::Item(id)) => (Some(of(id).file.clone()), of(id).room().cloned()),
            Some(Target::Module(id)) => (None, of(id).room().cloned()),
            // An item of another crate counts for the module that re-exports it.
            Some(Target::Foreign) | None => {
                (None, path.get(1).filter(|_| path[0] == "crate").cloned())
            }
        };
        let noted = Use {
            file: module.file.clone(),
            line: line(span),
            path: path.join("::"),
            room: module.room().cloned(),
            used,
            used_room,
        };
        if target.is_none() && starts_here(path) {
            self.found.lost.push(noted);
        } else if noted.used.as_ref() != Some(&noted.file) {
            self.found.uses.push(noted);
        }
    }

    /// A path outside a `use`.
    fn mention(&mut self, mut path: Vec<String>, span: Span) {
        // Imports of the function itself.
        if let Some((_, import)) = self.blocks.iter().rev().find(|(name, _)| *name == path[0]) {
            path.splice(..1, import.iter().cloned());
            return self.note(&path, span);
        }
        let module = self.module();
        let first = &path[0];
        // A module's imports were recorded at the `use`, except re-exports and modules.
        let leads_on = starts_here(&path)
            || path.len() > 1 && self.code.module_named(self.module, first).is_some()
            || module.exports.contains(first);
        if leads_on {
            self.note(&path, span);
        }
    }

    /// A `use`, in a module or a function.
    fn import(&mut self, tree: &UseTree, exported: bool) {
        // A module does not use its children's names by re-exporting them.
        if exported && !self.module().children.is_empty() {
            return;
        }
        each_leaf(tree, &mut |path, name, span| {
            // A glob imports everything.
            if name.is_none()
                && let Some(Target::Module(id)) = self.code.follow(self.module, &path)
            {
                let module = &self.code.modules[id];
                for name in module.items.iter().chain(&module.exports) {
                    self.note(&[&path[..], std::slice::from_ref(name)].concat(), span);
                }
            }
            self.note(&path, span);
        });
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if only_tests(attributes(item)) {
            return;
        }
        match item {
            Item::Mod(module) => {
                let Some((_, items)) = &module.content else { return };
                let outer = self.module;
                self.module = self.code.modules[outer].children[&module.ident.to_string()];
                items.iter().for_each(|item| self.visit_item(item));
                self.module = outer;
            }
            Item::Use(used) => {
                self.import(&used.tree, !matches!(used.vis, Visibility::Inherited));
            }
            item => visit::visit_item(self, item),
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        let before = self.blocks.len();
        for statement in &block.stmts {
            if let syn::Stmt::Item(Item::Use(used)) = statement {
                each_leaf(&used.tree, &mut |path, name, _| {
                    if let Some(name) = name {
                        self.blocks.push((name, path));
                    }
                });
            }
        }
        visit::visit_block(self, block);
        self.blocks.truncate(before);
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let attributes: &[Attribute] = match item {
            syn::ImplItem::Const(item) => &item.attrs,
            syn::ImplItem::Fn(item) => &item.attrs,
            syn::ImplItem::Type(item) => &item.attrs,
            syn::ImplItem::Macro(item) => &item.attrs,
            _ => &[],
        };
        if !only_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        // A single lower-case name is usually a variable; as a function it is followed by arguments.
        match expression {
            Expr::Path(alone) if is_small_name(&alone.path) => return,
            Expr::Call(call) => {
                if let Expr::Path(function) = &*call.func
                    && is_small_name(&function.path)
                {
                    self.visit_path(&function.path);
                }
            }
            _ => {}
        }
        visit::visit_expr(self, expression);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(first) = path.segments.first()
            && path.leading_colon.is_none()
        {
            self.mention(names(path), first.ident.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.visit_path(&called.path);
        each_path(&called.tokens, &mut |path, span| {
            if path.len() > 1 || path[0].starts_with(char::is_uppercase) {
                self.mention(path, span);
            }
        });
    }

    /// `pub(in crate::a)` uses nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    /// Attributes name items of other crates, except for paths in their strings.
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            each_text(&list.tokens, &mut |text, span| {
                if let Ok(path) = syn::parse_str::<syn::Path>(text) {
                    self.mention(names(&path), span);
                }
            });
        }
    }
}
