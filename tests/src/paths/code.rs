//! The modules of a crate, and the targets of paths in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::{Item, UseTree, Visibility};

use super::syntax::{attributes, each_leaf, each_word, has, line, name_of, only_tests};

/// A module: a file, or an inline `mod` in one.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// Its path in the crate; empty for the root.
    pub(super) path: Vec<String>,
    pub(super) file: PathBuf,
    parent: Option<usize>,
    pub(super) children: BTreeMap<String, usize>,
    /// Names that the module itself defines.
    pub(super) items: BTreeSet<String>,
    /// The words in macro calls, which may define anything with these names.
    words: BTreeSet<String>,
    /// The paths that `use` imports, by their local names.
    imports: Vec<(String, Vec<String>)>,
    /// The paths of glob imports.
    globs: Vec<Vec<String>>,
    /// The names of `imports` that are re-exported.
    pub(super) exports: BTreeSet<String>,
}

/// The target of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Module(usize),
    /// An item of this module.
    Item(usize),
    /// An item of another crate.
    Foreign,
}

/// Maximum number of imports that are followed before a name counts as lost.
const PATIENCE: usize = 16;

/// All modules of a crate.
#[derive(Default)]
pub(super) struct Code {
    workspace: PathBuf,
    pub(super) modules: Vec<Module>,
    /// Each file and its module.
    pub(super) files: BTreeMap<PathBuf, usize>,
    pub(super) parsed: BTreeMap<PathBuf, syn::File>,
    /// Macros with `#[macro_export]`, which are in the crate's root whatever module defines them.
    macros: BTreeMap<String, usize>,
}

impl Code {
    /// Reads the crate's root, a file below `workspace`, and the files of its modules.
    pub(super) fn read(workspace: &Path, root: &Path) -> Result<Self, String> {
        let mut code = Self { workspace: workspace.to_owned(), ..Self::default() };
        code.add_file(root, None, &[])?;
        Ok(code)
    }

    fn add_file(
        &mut self,
        file: &Path,
        parent: Option<usize>,
        path: &[String],
    ) -> Result<usize, String> {
        let text = std::fs::read_to_string(self.workspace.join(file))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let parsed = syn::parse_file(&text)
            .map_err(|error| format!("{}:{}: {error}", file.display(), line(error.span())))?;
        let id = self.add_module(file, parent, path, &parsed.items)?;
        self.files.insert(file.to_owned(), id);
        self.parsed.insert(file.to_owned(), parsed);
        Ok(id)
    }

    fn add_module(
        &mut self,
        file: &Path,
        parent: Option<usize>,
        path: &[String],
        items: &[Item],
    ) -> Result<usize, String> {
        let id = self.modules.len();
        let path = path.to_vec();
        self.modules.push(Module { path, file: file.to_owned(), parent, ..Module::default() });
        for item in items.iter().filter(|item| !only_tests(attributes(item))) {
            match item {
                Item::Mod(module) => self.add_child(id, module)?,
                Item::Use(used) => {
                    let exported = !matches!(used.vis, Visibility::Inherited);
                    self.modules[id].import(&used.tree, exported);
                }
                Item::Macro(called) if called.ident.is_none() => {
                    each_word(&called.mac.tokens, &mut |word| {
                        self.modules[id].words.insert(word);
                    });
                }
                Item::Macro(defined) if has(&defined.attrs, "macro_export") => {
                    self.macros.extend(name_of(item).map(|name| (name, id)));
                }
                item => self.modules[id].items.extend(name_of(item)),
            }
        }
        Ok(id)
    }

    fn add_child(&mut self, id: usize, module: &syn::ItemMod) -> Result<(), String> {
        let name = module.ident.to_string();
        let parent = &self.modules[id];
        let path: Vec<String> = parent.path.iter().cloned().chain([name.clone()]).collect();
        let file = parent.file.clone();
        let child = match &module.content {
            Some((_, items)) => self.add_module(&file, Some(id), &path, items)?,
            None => {
                if has(&module.attrs, "path") {
                    let (file, line) = (file.display(), line(module.ident.span()));
                    return Err(format!("{file}:{line}: `mod {name}` lies at a path of its own"));
                }
                // Next to the crate's root or a mod.rs; otherwise in the folder with the file's name.
                let beside = parent.path.is_empty() || file.ends_with("mod.rs");
                let folder = if beside { file.with_file_name("") } else { file.with_extension("") };
                let alone = folder.join(format!("{name}.rs"));
                let is_alone = self.workspace.join(&alone).exists();
                let file = if is_alone { alone } else { folder.join(&name).join("mod.rs") };
                self.add_file(&file, Some(id), &path)?
            }
        };
        self.modules[id].children.insert(name, child);
        Ok(())
    }

    /// Resolves a path as seen from a module.
    pub(super) fn follow(&self, from: usize, path: &[String]) -> Option<Target> {
        self.follow_within(from, path, PATIENCE)
    }

    /// `patience` ends loops: modules that glob-import one another.
    fn follow_within(&self, from: usize, path: &[String], patience: usize) -> Option<Target> {
        let patience = patience.checked_sub(1)?;
        let mut at = from;
        for (place, name) in path.iter().enumerate() {
            let last = place + 1 == path.len();
            let next = match name.as_str() {
                "crate" if place == 0 => Some(Target::Module(0)),
                "self" if place == 0 => Some(Target::Module(from)),
                "super" => self.modules[at].parent.map(Target::Module),
                name => self.named_within(at, name, last, patience),
            }?;
            match next {
                Target::Module(module) if !last => at = module,
                target => return Some(target),
            }
        }
        None
    }

    /// The module of this name into which a path continues.
    pub(super) fn module_named(&self, id: usize, name: &str) -> Option<usize> {
        match self.named_within(id, name, false, PATIENCE)? {
            Target::Module(module) => Some(module),
            Target::Item(_) | Target::Foreign => None,
        }
    }

    /// Resolves a name in a module. A module and a function may share it; with `last` the path ends here and
    /// does not continue into the module.
    fn named_within(&self, id: usize, name: &str, last: bool, patience: usize) -> Option<Target> {
        let module = &self.modules[id];
        let child = module.children.get(name).copied().map(Target::Module);
        if child.is_some() && !last {
            return child;
        }
        if module.items.contains(name) {
            return Some(Target::Item(id));
        }
        for (_, path) in module.imports.iter().filter(|(imported, _)| imported == name) {
            match self.follow_within(id, path, patience) {
                None if !starts_here(path) => return Some(Target::Foreign),
                None => {}
                // `use probe::probe` next to `mod probe` imports the function.
                Some(Target::Module(found)) if Some(Target::Module(found)) == child => {}
                found => return found,
            }
        }
        let glob = || {
            module.globs.iter().find_map(|path| match self.follow_within(id, path, patience)? {
                Target::Module(from) if from != id => {
                    self.named_within(from, name, last, patience - 1)
                }
                _ => None,
            })
        };
        let of_root = || {
            let found = if id == 0 { self.macros.get(name) } else { None };
            found.copied().map(Target::Item)
        };
        let of_macro = || module.words.contains(name).then_some(Target::Item(id));
        let child = child.or_else(|| if patience > 1 { glob() } else { None });
        child.or_else(of_root).or_else(of_macro)
    }
}

impl Module {
    fn import(&mut self, tree: &UseTree, exported: bool) {
        each_leaf(tree, &mut |path, name, _| match name {
            Some(name) => {
                if exported {
                    self.exports.insert(name.clone());
                }
                self.imports.push((name, path));
            }
            None => self.globs.push(path),
        });
    }

    /// The top-level module of the crate that contains this one; none for the root.
    pub(super) fn room(&self) -> Option<&String> {
        self.path.first()
    }
}

/// Whether a path starts explicitly in its own crate.
pub(super) fn starts_here(path: &[String]) -> bool {
    path.first().is_some_and(|first| ["crate", "super", "self"].contains(&first.as_str()))
}
