//! Checks that kernels agree with the structures of their arguments.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// Types and names of parameters.
type Parameters = Vec<(String, String)>;

/// Every kernel of a source, with its parameters.
fn signatures(source: &str) -> BTreeMap<String, Parameters> {
    let begin = "extern \"C\" __global__ void ";
    assert_eq!(source.matches("__global__").count(), source.matches(begin).count());
    let kernels = source.split(begin).skip(1).map(|kernel| {
        // The launch bounds are not part of the signature.
        let bounded = kernel.strip_prefix("__launch_bounds__(").map(|kernel| {
            let (_, kernel) = kernel.split_once(") ").unwrap();
            kernel
        });
        let (name, rest) = bounded.unwrap_or(kernel).split_once('(').unwrap();
        let (list, _) = rest.split_once(')').unwrap();
        let parameters = list.split(',').map(str::trim).filter(|p| !p.is_empty());
        let parameters = parameters.map(|parameter| {
            let (type_name, name) = parameter.rsplit_once(' ').unwrap();
            (type_name.to_owned(), name.to_owned())
        });
        (name.to_owned(), parameters.collect())
    });
    kernels.collect()
}

/// The functions with the list `A` and its parameters, as written in the sources.
fn listed<A: Arguments>() -> impl Iterator<Item = ((Variant, String), Parameters)> {
    let in_source = |type_name: String, name: &str| (type_name, name.to_owned());
    A::FUNCTIONS.iter().map(move |&function| {
        let parameters = A::parameters().into_iter().map(|(t, name)| in_source(t, name));
        ((A::VARIANT, function.to_owned()), parameters.collect())
    })
}

/// Those with values of one type.
fn listed_with_values<T: Real + Value>() -> impl Iterator<Item = ((Variant, String), Parameters)> {
    listed::<EllOfWidth<'_, T>>()
        .chain(listed::<EllOfLengths<'_, T>>())
        .chain(listed::<Hll<'_, T>>())
        .chain(listed::<HllSharedX<'_, T>>())
        .chain(listed::<CooBegin<'_, T>>())
        .chain(listed::<CooSegmented<'_, T>>())
        .chain(listed::<CooCarry<'_, T>>())
        .chain(listed::<HllColumnMajor<'_, T>>())
        .chain(listed::<HllSigma<'_, T>>())
        .chain(listed::<HllCompactPlain<'_, T>>())
        .chain(listed::<HllCompactByte<'_, T>>())
        .chain(listed::<HllCompactShort<'_, T>>())
        .chain(listed::<BsrWarp<'_, T, u32>>())
        .chain(listed::<BsrWarp<'_, T, u64>>())
        .chain(listed::<Dia<'_, T>>())
        .chain(listed::<Spmm<'_, T, u32>>())
        .chain(listed::<Spmm<'_, T, u64>>())
        .chain(listed::<SpmmMerge<'_, T, u32>>())
        .chain(listed::<SpmmMerge<'_, T, u64>>())
        .chain(listed::<SpmmMergeCarry<'_, T, u32>>())
        .chain(listed::<SpmmMergeCarry<'_, T, u64>>())
        .chain(listed::<SpmmBsr<'_, T, u32>>())
        .chain(listed::<SpmmBsr<'_, T, u64>>())
        .chain(listed::<SpmmHll<'_, T>>())
        .chain(listed::<ConvertHll<'_, T, u32>>())
        .chain(listed::<ConvertHll<'_, T, u64>>())
        .chain(listed::<ConvertTransposed<'_, T, u32>>())
        .chain(listed::<ConvertTransposed<'_, T, u64>>())
        .chain(listed_solvers::<T>())
        .chain(listed_sweeps::<T, u32>())
        .chain(listed_sweeps::<T, u64>())
        .chain(listed::<SweepOfLevels<'_, T>>())
        .chain(listed::<SweepOfColor<'_, T>>())
        .chain(listed::<ToPlaces<'_, T>>())
        .chain(listed::<FromPlaces<'_, T>>())
        .chain(listed::<SweepOfSlices<'_, T>>())
}

/// Those of CSR, with stored values of any type.
fn listed_stored<T: Real + Value, V: Stored<T>>()
-> impl Iterator<Item = ((Variant, String), Parameters)> {
    listed::<Csr<'_, T, V, u32>>()
        .chain(listed::<Csr<'_, T, V, u64>>())
        .chain(listed::<CsrTiles<'_, T, V, u32>>())
        .chain(listed::<CsrTiles<'_, T, V, u64>>())
        .chain(listed::<CsrWindows<'_, T, V>>())
        .chain(listed::<CsrTilesSolver<'_, T, V, u32>>())
        .chain(listed::<CsrTilesSolver<'_, T, V, u64>>())
}

/// Those of SpMV within solvers.
fn listed_solvers<T: Real + Value>() -> impl Iterator<Item = ((Variant, String), Parameters)> {
    listed::<EllSolver<'_, T>>()
        .chain(listed::<CooSegmentedSolver<'_, T>>())
        .chain(listed::<CooCarrySolver<'_, T>>())
}

/// Those of the vectors of solvers, and of their f64-only SpMV.
fn listed_vectors() -> impl Iterator<Item = ((Variant, String), Parameters)> {
    listed::<PcgBegin<'_>>()
        .chain(listed::<HllColumnMajorSolver<'_>>())
        .chain(listed::<HllDistanceRange<'_>>())
        .chain(listed::<HllDistances<'_>>())
        .chain(listed::<PcgReduce<'_>>())
        .chain(listed::<PcgAdvance<'_>>())
        .chain(listed::<PcgDot<'_>>())
        .chain(listed::<PcgFinish<'_>>())
        .chain(listed::<PcgScale<'_>>())
        .chain(listed::<PcgShareBegin<'_>>())
        .chain(listed::<PcgShareReduce<'_>>())
        .chain(listed::<PcgConclude<'_>>())
        .chain(listed::<HaloPack<'_>>())
}

/// Those of sweeps over CSR.
fn listed_sweeps<T: Real + Value, O: Offset + Element>()
-> impl Iterator<Item = ((Variant, String), Parameters)> {
    listed::<SweepOfThreads<'_, T, O>>()
        .chain(listed::<SweepOfRows<'_, T, O>>())
        .chain(listed::<SweepRest<'_, T, O>>())
        .chain(listed::<SweepOfNodes<'_, T, O>>())
        .chain(listed::<ReadyDone<'_, T, O>>())
        .chain(listed::<ReadyCompact<'_, T, O>>())
        .chain(listed::<FillSlices<'_, T, O>>())
}

/// Those of the structure analysis for sweeps, and of setups.
fn listed_plans<O: Offset + Element>() -> impl Iterator<Item = ((Variant, String), Parameters)> {
    listed::<Ready<'_, O>>()
        .chain(listed::<ReadyList<'_, O>>())
        .chain(listed::<PlanRows<'_, O>>())
        .chain(listed::<PlanWave<'_, O>>())
        .chain(listed::<PlanAbove<'_, O>>())
        .chain(listed::<PlanLevels<'_, O>>())
        .chain(listed::<PlanEarlier<'_, O>>())
        .chain(listed::<PlanWidths<'_, O>>())
        .chain(listed::<PlanHacks<'_, O>>())
        .chain(listed::<Reciprocals<'_, O>>())
}

/// Those of factorised inverses whose kernels take offsets.
fn listed_inverses<O: Offset + Element>() -> impl Iterator<Item = ((Variant, String), Parameters)> {
    listed::<FsaiLower<'_, O>>()
        .chain(listed::<FsaiKept<'_, O>>())
        .chain(listed::<FsaiSame<'_, O>>())
        .chain(listed::<FsaiFirst<'_, O>>())
        .chain(listed::<FsaiReach<'_, O>>())
        .chain(listed::<FsaiReachLong<'_, O>>())
        .chain(listed::<FsaiSolve<'_, O>>())
        .chain(listed::<FsaiLong<'_, O>>())
        .chain(listed::<FsaiDrop<'_, O>>())
}

/// The others of factorised inverses.
fn listed_groups() -> impl Iterator<Item = ((Variant, String), Parameters)> {
    listed::<FsaiGroupFind<'_>>()
        .chain(listed::<FsaiGroupOpens<'_>>())
        .chain(listed::<FsaiGroupNumber<'_>>())
        .chain(listed::<FsaiGroupSort<'_>>())
        .chain(listed::<FsaiGroupPlace<'_>>())
        .chain(listed::<FsaiTotal<'_>>())
        .chain(listed::<FsaiClass<'_>>())
        .chain(listed::<FsaiKeep<'_>>())
        .chain(listed::<FsaiRows<'_>>())
        .chain(listed::<FsaiTranspose<'_>>())
}

/// Those of skylines.
fn listed_skylines() -> impl Iterator<Item = ((Variant, String), Parameters)> {
    listed::<SkylinePoints<'_>>()
        .chain(listed::<SkylineLocalPoints<'_>>())
        .chain(listed::<SkylineTranspose<'_>>())
        .chain(listed::<SkylineSample<'_>>())
        .chain(listed::<SkylineChoose<'_>>())
        .chain(listed::<SkylineScore<'_>>())
        .chain(listed::<SkylineCut<'_>>())
        .chain(listed::<SkylineChampions<'_>>())
        .chain(listed::<SkylineStarts<'_>>())
        .chain(listed::<SkylineOrder<'_>>())
        .chain(listed::<SkylineTiles<'_>>())
        .chain(listed::<SkylineKeep<'_>>())
        .chain(listed::<SkylineSteps<'_>>())
        .chain(listed::<SkylineFilter<'_>>())
        .chain(listed::<SkylineEquals<'_>>())
        .chain(listed::<SkylineSweep<'_>>())
}

#[test]
fn argument_lists_are_the_kernels_signatures_by_type_name_and_order() {
    let lists: Vec<_> = listed_with_values::<f64>()
        .chain(listed_with_values::<f32>())
        .chain(listed_stored::<f64, f64>())
        .chain(listed_stored::<f32, f32>())
        .chain(listed_stored::<f64, f32>())
        .chain(listed_stored::<f32, Bf16>())
        .chain(listed_stored::<f32, F16>())
        .chain(listed::<MemoryCopy<'_>>())
        .chain(listed::<MemoryTriad<'_>>())
        .chain(listed::<MemoryRead<'_>>())
        .chain(listed::<MemoryNothing>())
        .chain(listed_plans::<u32>())
        .chain(listed_plans::<u64>())
        .chain(listed::<OrderOpen<'_>>())
        .chain(listed::<OrderUnpack<'_>>())
        .chain(listed::<OrderCount<'_>>())
        .chain(listed::<OrderSums<'_>>())
        .chain(listed::<OrderStarts<'_>>())
        .chain(listed::<OrderScan<'_>>())
        .chain(listed::<OrderDigits<'_>>())
        .chain(listed::<OrderSort<'_>>())
        .chain(listed::<OrderSlices<'_>>())
        .chain(listed::<OrderPlaces<'_>>())
        .chain(listed::<OrderGates<'_>>())
        .chain(listed_skylines())
        .chain(listed::<DenseGauss<'_>>())
        .chain(listed::<DenseLibraryFlags<'_>>())
        .chain(listed::<DenseCholesky<'_>>())
        .chain(listed::<DenseBlocked<'_>>())
        .chain(listed_vectors())
        .chain(listed_inverses::<u32>())
        .chain(listed_inverses::<u64>())
        .chain(listed_groups())
        .collect();
    let mut declared = Vec::new();
    for family in Family::ALL {
        let variants: BTreeSet<_> =
            family.variants().map(|variant| variant.of_width(Variant::NO_WIDTH)).collect();
        for variant in variants {
            // The types as set by the build options and `common.cuh`.
            let resolved = |type_name: &str| {
                let offset = format!("u{}", variant.offset_bits);
                let numbers = type_name.replace("real", variant.real());
                numbers.replace("value", variant.value()).replace("offset", &offset)
            };
            for (name, parameters) in signatures(family.source().1) {
                let parameters = parameters.into_iter().map(|(t, name)| (resolved(&t), name));
                declared.push(((variant, name), parameters.collect::<Parameters>()));
            }
        }
    }
    let sorted = |mut all: Vec<((Variant, String), Parameters)>| {
        all.sort();
        all
    };
    assert_eq!(sorted(lists), sorted(declared));
}

#[test]
fn a_signature_is_read_with_its_types_names_and_order() {
    let source = "__device__ real f(u32 a);\nextern \"C\" __global__ void g(\n    u64 n, \
                  const offset* p,\n    real* y)\n{}\nextern \"C\" __global__ void h() {}\n";
    let parameter = |t: &str, name: &str| (t.to_owned(), name.to_owned());
    let g = vec![parameter("u64", "n"), parameter("const offset*", "p"), parameter("real*", "y")];
    let expected = BTreeMap::from([("g".to_owned(), g), ("h".to_owned(), Vec::new())]);
    assert_eq!(signatures(source), expected);
}
