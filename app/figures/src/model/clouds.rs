//! The pictures of point sets.

use std::sync::Arc;

use sparsescope_core::bundle::SubjectFolder;

use super::Model;
use super::open::subject_key;
use crate::cloud::{Cloud, CloudOrWhy};

impl Model {
    /// The picture of a point set from the first bundle that holds one, or why there is none.
    pub(crate) fn cloud(&self, key: &str) -> CloudOrWhy {
        self.found.clouds.get(key.to_owned(), |key| {
            let folders = self.bundles.iter().flat_map(|open| &open.bundle.subjects);
            let of_key = |folder: &&SubjectFolder| subject_key((&folder.record).into()) == *key;
            let mut found = Err("no open bundle contains these points".into());
            for folder in folders.filter(of_key) {
                found = Cloud::from_files(&folder.files).map(Arc::new);
                if found.is_ok() {
                    break;
                }
            }
            found
        })
    }

    /// The picture of points that are in no bundle, cached like the others.
    pub(crate) fn own_cloud(
        &self,
        key: String,
        of: impl FnOnce() -> Result<Cloud, String>,
    ) -> CloudOrWhy {
        self.found.clouds.get(key, |_| of().map(Arc::new))
    }
}
