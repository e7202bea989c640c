//! Time per nonzero against the number of nonzeros: flat while the data fits into a cache, higher
//! beyond it.

use std::collections::{BTreeMap, BTreeSet};

use super::best::best;
use super::plot::{Data, Form, Plot, Point, Scale, kernel};
use super::recipes::family;
use crate::model::RunOf;

/// Matrices of any kind.
const ANY: &str = "all matrices";

/// The recipe of a run's matrix without its size; `None` for a matrix that was not generated.
fn family_of(run: &RunOf<'_>) -> Option<String> {
    let sizes = ["n", "m", "nx", "ny", "nz", "rows", "cols", "nnz"];
    run.matrix()?.generator.as_deref().map(|generator| family(generator, &sizes))
}

fn entries(run: &RunOf<'_>) -> Option<u64> {
    run.matrix().map(|matrix| matrix.statistics.nnz).filter(|nnz| *nnz > 0)
}

/// All matrices, and each family of generated ones with different numbers of nonzeros, the family
/// with the most sizes first.
pub(super) fn families(data: &Data<'_>) -> Vec<String> {
    let mut found: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for run in &data.runs {
        if let (Some(family), Some(nnz)) = (family_of(run), entries(run)) {
            found.entry(family).or_default().insert(nnz);
        }
    }
    let mut families: Vec<(String, usize)> =
        found.into_iter().map(|(family, sizes)| (family, sizes.len())).collect();
    families.retain(|(_, sizes)| *sizes > 1);
    sparsescope_core::order::sort_by(&mut families, |a, b| b.1.cmp(&a.1));
    let names = families.into_iter().map(|(family, _)| family);
    std::iter::once(ANY.to_owned()).chain(names).collect()
}

/// The fastest run of each kernel on each matrix: nanoseconds per nonzero against nonzeros.
pub(super) fn time<'a>(data: &Data<'a>) -> Plot<'a> {
    let chosen = data.chosen(&families(data));
    let mut plot = Plot::plane(
        Scale::new("nonzeros", data.state.log),
        Scale::new("time per nonzero, ns (lower is better)", data.state.log),
    );
    // A line joins sizes of one structure; matrices of different kinds are not joined.
    plot.form = if chosen == ANY { Form::Marks } else { Form::Lines };
    let is_of = |run: &RunOf<'_>| chosen == ANY || family_of(run).as_ref() == Some(&chosen);
    for ((.., (order, name)), run) in best(&data.runs, &|run| is_of(run).then(|| (0, kernel(run))))
    {
        let (Some(nnz), Some(figures)) = (entries(&run), run.figures()) else { continue };
        let each = figures.median_s / nnz as f64 * 1e9;
        plot.add(order, &name, Some(run.bundle), Point::of(&run, nnz as f64, each));
    }
    for series in plot.series.values_mut() {
        sparsescope_core::order::sort_by(&mut series.points, |a, b| a.at[0].total_cmp(&b.at[0]));
    }
    plot
}

#[cfg(test)]
mod tests {
    use sparsescope_core::bundle::Bundle;

    use super::*;
    use crate::views::charts::tests::{NNZ, bundle, drawn, model_of, serial, state};

    /// A bundle in which `small`, `middle` and `large` have these recipes.
    fn made_by(recipes: [Option<&str>; 3]) -> Bundle {
        let mut bundle = bundle("a", 1.0);
        for (folder, recipe) in bundle.matrices.iter_mut().zip(recipes) {
            folder.record.generator = recipe.map(str::to_owned);
        }
        bundle
    }

    #[test]
    fn the_time_of_an_entry_is_the_best_median_over_entries_and_lines_join_one_structure() {
        let recipes = [Some("poisson2d?n=64"), Some("gen:poisson2d?n=128"), Some("grid?n=9&k=2")];
        let model = model_of(made_by(recipes));
        let state_of = |of: &str| state(&format!("time-entries;of={of}"));
        let data_of = state_of("");
        assert_eq!(families(&Data::of(&model, &data_of)), [ANY, "poisson2d"]);
        // cpu/csr/serial takes 1 ns per nonzero everywhere.
        let serials = |of: &str| -> Vec<(f64, f64)> {
            let state = state_of(of);
            let plot = time(&Data::of(&model, &state));
            let all = plot.points().filter(|(name, ..)| *name == "cpu/csr/serial");
            all.map(|(_, _, point)| (point.at[0], point.at[1])).collect()
        };
        let expected =
            |nnz: &[u64]| -> Vec<(f64, f64)> { nnz.iter().map(|nnz| (*nnz as f64, 1.0)).collect() };
        let near = |found: Vec<(f64, f64)>, expected: Vec<(f64, f64)>| {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (found, expected) in found.iter().zip(&expected) {
                assert!(found.0 == expected.0 && (found.1 - expected.1).abs() < 1e-9, "{found:?}");
            }
        };
        assert_eq!(serial(0), NNZ[0] as f64 * 1e-9);
        near(serials(ANY), expected(&NNZ));
        near(serials("poisson2d"), expected(&NNZ[..2]));
        let lines = state_of("poisson2d");
        assert_eq!(time(&Data::of(&model, &lines)).form, Form::Lines);
        assert!(!drawn(&model, &state_of(ANY)).is_empty());
    }

    #[test]
    fn files_have_no_family() {
        let model = model_of(made_by([None, None, Some("poisson2d?n=64")]));
        let state = state("time-entries");
        assert_eq!(families(&Data::of(&model, &state)), [ANY]);
        assert_eq!(time(&Data::of(&model, &state)).form, Form::Marks);
    }
}
