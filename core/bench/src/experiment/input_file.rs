//! A file that the user names, and its name in results.

use std::ops::Deref;
use std::path::{Component, Path, PathBuf};

/// A path, and how many of its folders belong to its name in results.
#[derive(Clone, Debug)]
pub struct InputFile {
    path: PathBuf,
    folders: usize,
}

impl From<PathBuf> for InputFile {
    fn from(path: PathBuf) -> Self {
        Self { path, folders: 0 }
    }
}

impl Deref for InputFile {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl InputFile {
    /// The last folders of the path, if they belong to the name, then the file name without the extension
    /// that `stem` removes.
    pub(super) fn name(&self, stem: fn(&str) -> &str) -> String {
        let file = self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy();
        let parts = self.parts();
        let first = parts.len().saturating_sub(self.folders);
        let mut name: String = parts.iter().skip(first).map(|part| format!("{part}/")).collect();
        name += stem(&file);
        name
    }

    /// Adds the next folder of the path to the name; returns false if there is none.
    pub(super) fn add_folder(&mut self) -> bool {
        let has_more = self.folders < self.parts().len();
        self.folders += usize::from(has_more);
        has_more
    }

    /// Removes all folders from the name.
    pub(super) fn drop_folders(&mut self) {
        self.folders = 0;
    }

    /// The folders of the path that have names.
    fn parts(&self) -> Vec<String> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let named =
            |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
        let named = folder.components().filter(named);
        named.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    }
}
