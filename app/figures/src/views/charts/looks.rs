//! Colour and mark of every series: everything of a format has the format's colour, and its kernels
//! differ by mark; where all kernels have one format, each has a colour. A known kernel looks the same
//! in every chart, under every filter and whichever bundles are open.

use std::collections::{BTreeMap, BTreeSet};

use ecolor::Color32;
use sparsescope_core::kernel::{CHOSEN_FAMILY, KernelDescriptor, KernelName, USER_FAMILY, kernels};
use sparsescope_core::record::{Operation, Run};

use crate::figure::Mark;
use crate::model::Model;
use crate::theme::{Ink, blend, family_of, family_place, format_color, has_color, series};

/// How the kernels of an operation look.
pub struct Looks {
    /// The index of the mark of each kernel id.
    places: BTreeMap<String, usize>,
    /// Whether the operation's formats have colours that tell its kernels apart.
    by_format: bool,
}

impl Looks {
    /// The looks of an operation's kernels: the known ones by rank, then others of the opened
    /// bundles.
    pub fn of(model: &Model, operation: &str) -> Self {
        let mut known: Vec<&KernelDescriptor> =
            Operation::of(operation).map_or(&[][..], kernels).iter().collect();
        sparsescope_core::order::sort_by(&mut known, |a, b| a.rank.cmp(&b.rank));
        let formats = known.iter().map(|kernel| family_of(format_of(kernel.id)));
        let formats: BTreeSet<&str> = formats.filter(|format| has_color(format)).collect();
        let by_format = formats.len() != 1;
        let opened = model.values(operation).kernels.iter().map(String::as_str);
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut places = BTreeMap::new();
        for id in known.into_iter().map(|kernel| kernel.id).chain(opened) {
            if !places.contains_key(id) {
                let format = format_of(id);
                // Formats without a colour of their own share one numbering.
                let family = if by_format && has_color(format) { family_of(format) } else { "" };
                let place = seen.entry(family.to_owned()).or_default();
                places.insert(id.to_owned(), *place);
                *place += 1;
            }
        }
        Self { places, by_format }
    }

    /// The look of the series with this name; `index` is used if it is neither a kernel nor a
    /// format.
    pub(crate) fn find(&self, name: &str, index: usize, ink: &Ink) -> (Color32, Mark) {
        let format = format_of(name);
        // A kernel that chooses a format has no format's colour, and neither has a user's kernel.
        let is_plain = [CHOSEN_FAMILY, USER_FAMILY].contains(&format);
        // `(f32)` or `(op t)` after a kernel's id makes it a separate series.
        let kernel = name.split(' ').next().unwrap_or(name);
        let (color, place) = match self.places.get(kernel) {
            Some(place) if self.by_format && has_color(format) => (format_color(format), *place),
            Some(place) if is_plain => (ink.text, *place),
            // An operation without several formats, or an unknown format.
            Some(place) => (series(*place), *place),
            // A format by itself.
            None if has_color(format) => {
                (format_color(format), format_place(format) + name.matches('-').count())
            }
            None if is_plain => (ink.text, index),
            None => (series(index), index),
        };
        let count = Mark::ALL.len();
        let mark = Mark::ALL.get(place % count).copied().unwrap_or(Mark::Circle);
        // When marks repeat, they are darker on a light background and lighter on dark, more so the
        // third time. `(and …)` names kernels that share a line.
        let is_other = name.split(' ').nth(1).is_some_and(|word| word != "(and");
        let is_other = is_other && self.places.contains_key(kernel);
        let color = match (place / count).max(usize::from(is_other)) {
            0 => color,
            1 => blend(color, ink.text, 0.45),
            _ => blend(color, ink.text, 0.7),
        };
        (color, mark)
    }
}

/// The place of the mark of a format itself.
fn format_place(format: &str) -> usize {
    // Unlike HLL, with whose kernels its kernels are counted.
    let format = if format == "sell" { "dense" } else { format };
    family_place(format).unwrap_or_default()
}

/// The format that a run's kernel reads.
pub(super) fn format_of_run(run: &Run) -> &str {
    match &run.source {
        Some(_) => run.format(),
        None => format_of(&run.kernel),
    }
}

/// The format in a kernel's id; for a format, itself. MKL's optimised format counts as CSR.
pub(super) fn format_of(name: &str) -> &str {
    KernelName::of(name).family()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_kernels_look_alike_and_what_is_open_changes_nothing() {
        let ink = crate::state::Theme::Light.ink();
        for operation in Operation::ALL {
            let looks = Looks::of(&Model::default(), operation.as_str());
            let mut seen: BTreeMap<String, &str> = BTreeMap::new();
            for kernel in kernels(*operation) {
                let look = format!("{:?}", looks.find(kernel.id, 0, &ink));
                let other = seen.insert(look, kernel.id);
                assert_eq!(other, None, "looks as {}", kernel.id);
            }
        }
        let looks = Looks::of(&Model::default(), "spmv");
        let mut model = Model::default();
        model.open("h200.zip", include_bytes!("../../../../example/gpu.zip")).unwrap();
        let opened = Looks::of(&model, "spmv");
        for kernel in kernels(Operation::Spmv) {
            assert_eq!(opened.find(kernel.id, 0, &ink), looks.find(kernel.id, 3, &ink));
        }
    }

    #[test]
    fn kernels_of_one_format_on_one_device_differ_by_mark_and_not_only_by_shade() {
        let ink = crate::state::Theme::Light.ink();
        let looks = Looks::of(&Model::default(), "spmv");
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        for kernel in kernels(Operation::Spmv) {
            let ((_, mark), color) =
                (looks.find(kernel.id, 0, &ink), format_color(format_of(kernel.id)));
            let other = seen.insert(format!("{:?} {color:?} {mark:?}", kernel.device), kernel.id);
            assert_eq!(other, None, "has the mark of {}", kernel.id);
        }
    }

    #[test]
    fn kernels_that_all_have_one_format_differ_in_colour() {
        let ink = crate::state::Theme::Light.ink();
        let operation = Operation::BatchedDense;
        let looks = Looks::of(&Model::default(), operation.as_str());
        let colors = kernels(operation).iter().map(|kernel| looks.find(kernel.id, 0, &ink).0);
        let colors: Vec<Color32> = colors.collect();
        for (k, color) in colors.iter().enumerate() {
            assert!(!colors[..k].contains(color), "{}", kernels(operation)[k].id);
        }
    }

    #[test]
    fn formats_differ_in_colour_and_mark_and_choosing_has_no_formats_colour() {
        let ink = crate::state::Theme::Light.ink();
        let looks = Looks::of(&Model::default(), "spmv");
        let formats = ["csr", "coo", "hll", "ell", "hyb", "bsr", "dia", "sell"];
        let found: Vec<_> = formats.iter().map(|format| looks.find(format, 0, &ink)).collect();
        for (k, (color, mark)) in found.iter().enumerate() {
            for (other_color, other_mark) in found.iter().skip(k + 1) {
                assert!(color != other_color && mark != other_mark, "{}", formats[k]);
            }
        }
        assert_eq!(looks.find("spmv", 3, &ink).0, ink.text);
    }

    #[test]
    fn a_users_kernel_looks_like_none_of_ours_and_counts_among_its_format() {
        let ink = crate::state::Theme::Light.ink();
        let (mut run, statistics, environment) = crate::why::tests::run("cuda/csr/warp-shuffle");
        // Named like a format, which has no effect.
        run.kernel = "user/csr/hll".into();
        run.source = Some(sparsescope_core::record::KernelSource {
            family: "ell-column-major".into(),
            ..Default::default()
        });
        assert_eq!((format_of(&run.kernel), format_of_run(&run)), (USER_FAMILY, "ell"));
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
