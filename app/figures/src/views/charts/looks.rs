//! Format, colour and form of every series: everything of a format has its colour, and the kernels of
//! a format differ in form. A kernel that the program knows looks the same in every chart,
//! under every filter and whatever is open.

use std::collections::BTreeMap;

use ecolor::Color32;
use sparsescope_core::kernel::{is_user_id, kernels};
use sparsescope_core::record::{Operation, Run};

use crate::figure::Mark;
use crate::model::Model;
use crate::theme::{Ink, blend, family_of, format_color, has_color, series};

/// Kernels that came after bundles were shown with the forms of the others, which they must not take: they
/// are listed among these, and have their forms after them.
const LATER: [&str; 16] = [
    "cpu/csr/simd",
    "cpu/hll/simd",
    "cpu/csr/compact",
    "cpu/hll/compact",
    "cpu/spmv/auto",
    "vendor/mkl/csr",
    "vendor/mkl/optimized",
    "cuda/csr/adaptive",
    "cuda/hll/column-major",
    "cuda/hll/sigma",
    "cuda/hll/compact",
    "cuda/bsr/warp",
    "cuda/dia/thread-per-row",
    "cuda/spmv/auto",
    "nccl/csr/halo-overlap",
    "nccl/hll/halo-overlap",
];

/// The forms of kernels by their ids.
pub struct Looks(BTreeMap<String, usize>);

impl Looks {
    /// Of the kernels of an operation: those that the program knows in its own order, the later ones after
    /// them, then others of the opened bundles.
    pub fn of(model: &Model, operation: &str) -> Self {
        let known = Operation::of(operation).map_or(&[][..], kernels);
        let opened = model.values(operation).kernels.iter().map(String::as_str);
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut places = BTreeMap::new();
        let known = || known.iter().map(|kernel| kernel.id);
        // Those in WGSL came after all of these.
        let round = |id: &&str| match id.starts_with("wgpu/") {
            true => 2,
            false => usize::from(LATER.contains(id)),
        };
        let listed = (0..3).flat_map(|of| known().filter(move |id| round(id) == of));
        for id in listed.chain(opened) {
            if !places.contains_key(id) {
                let format = format_of(id);
                // What has no colour of its own is told apart among all that have none.
                let family = if has_color(format) { family_of(format) } else { "" };
                let place = seen.entry(family.to_owned()).or_default();
                places.insert(id.to_owned(), *place);
                *place += 1;
            }
        }
        Self(places)
    }

    /// Of the series of this name; `index` is its place where it is no kernel and no format.
    pub(crate) fn find(&self, name: &str, index: usize, ink: &Ink) -> (Color32, Mark) {
        let format = format_of(name);
        // `(f32)` after a kernel's id makes it another series.
        let kernel = name.split(' ').next().unwrap_or(name);
        let (color, place) = match self.0.get(kernel) {
            Some(place) if has_color(format) => (format_color(format), *place),
            // What chooses among formats has the colour of none, nor has a user's kernel one of ours.
            Some(place) if ["spmv", USER].contains(&format) => (ink.text, *place),
            // Of an operation without formats, or of a format that nobody knows.
            Some(place) => (series(*place), *place),
            None if has_color(format) => (format_color(format), name.matches('-').count()),
            None => (series(index), index),
        };
        let count = Mark::ALL.len();
        let mark = Mark::ALL.get(place % count).copied().unwrap_or(Mark::Circle);
        // A second round of the forms is darker on light paper and lighter on dark, a third even more so. `(and …)` names
        // kernels that share a line.
        let is_other = name.split(' ').nth(1).is_some_and(|word| word != "(and");
        let is_other = is_other && self.0.contains_key(kernel);
        let color = match (place / count).max(usize::from(is_other)) {
            0 => color,
            1 => blend(color, ink.text, 0.45),
            _ => blend(color, ink.text, 0.7),
        };
        (color, mark)
    }
}

/// What stands for the format in the ids of users' kernels, which do not say it.
pub(super) const USER: &str = "user";

/// The format that a run's kernel reads.
pub(super) fn format_of_run(run: &Run) -> &str {
    match &run.source {
        Some(_) => run.format(),
        None => format_of(&run.kernel),
    }
}

/// The format in a kernel's id; a format is its own. What MKL makes of a matrix it makes of CSR.
pub(super) fn format_of(name: &str) -> &str {
    if is_user_id(name) {
        return USER;
    }
    let part = usize::from(name.contains('/')) + usize::from(name.starts_with("vendor/"));
    let format = name.split('/').nth(part).unwrap_or(name);
    match format {
        "optimized" => "csr",
        _ => format.split('-').next().unwrap_or(format),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_kernels_look_alike_and_what_is_open_changes_nothing() {
        let ink = crate::state::Theme::Light.ink();
        let looks = Looks::of(&Model::default(), "spmv");
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        for kernel in kernels(Operation::Spmv) {
            let look = format!("{:?}", looks.find(kernel.id, 0, &ink));
            let other = seen.insert(look, kernel.id);
            assert_eq!(other, None, "looks as {}", kernel.id);
        }
        // A library's kernel neither, where formats have no colours.
        let looks_of_dense = Looks::of(&Model::default(), "batched-dense");
        let dense = kernels(Operation::BatchedDense).iter();
        let dense: BTreeSet<_> =
            dense.map(|k| format!("{:?}", looks_of_dense.find(k.id, 0, &ink))).collect();
        assert_eq!(dense.len(), kernels(Operation::BatchedDense).len());
        let mut model = Model::default();
        model.open("h200.zip", include_bytes!("../../../../example/h200.zip")).unwrap();
        let opened = Looks::of(&model, "spmv");
        for kernel in kernels(Operation::Spmv) {
            assert_eq!(opened.find(kernel.id, 0, &ink), looks.find(kernel.id, 3, &ink));
        }
    }

    #[test]
    fn a_users_kernel_looks_like_none_of_ours_and_counts_among_its_format() {
        let ink = crate::state::Theme::Light.ink();
        let (mut run, statistics, environment) = crate::why::tests::run("cuda/csr/warp-shuffle");
        // Named as a format is, which says nothing.
        run.kernel = "user/csr/hll".into();
        run.source = Some(sparsescope_core::record::KernelSource {
            family: "ell-column-major".into(),
            ..Default::default()
        });
        assert_eq!((format_of(&run.kernel), format_of_run(&run)), (USER, "ell"));
        let id = run.kernel.clone();
        let model = crate::why::tests::model(vec![run], statistics, environment);
        let looks = Looks::of(&model, "spmv");
        let own = looks.find(&id, 0, &ink);
        let ours = kernels(Operation::Spmv).iter().map(|kernel| looks.find(kernel.id, 0, &ink));
        assert!(ours.into_iter().all(|look| look != own));
    }

    #[test]
    fn looks_that_bundles_were_shown_with_stay() {
        let ink = crate::state::Theme::Light.ink();
        let looks = Looks::of(&Model::default(), "spmv");
        let forms = [
            ("cpu/csr/serial", Mark::Circle),
            ("cpu/csr/nnz", Mark::Triangle),
            ("cpu/hll/guided", Mark::Square),
            ("cuda/hll/thread-per-hack", Mark::Triangle),
            ("cuda/csr/thread-per-row", Mark::Down),
            ("vendor/cusparse/coo", Mark::Triangle),
        ];
        for (kernel, mark) in forms {
            assert_eq!(
                looks.find(kernel, 0, &ink),
                (format_color(format_of(kernel)), mark),
                "{kernel}"
            );
        }
    }
}
