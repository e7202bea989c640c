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

/// Functions and their parameters.
type Listed = Vec<((Variant, String), Parameters)>;

/// The functions with the list `A` and its parameters, as written in the sources.
fn listed<A: Arguments>() -> Listed {
    let in_source = |type_name: String, name: &str| (type_name, name.to_owned());
    let of_each = A::FUNCTIONS.iter().map(|&function| {
        let parameters = A::parameters().into_iter().map(|(t, name)| in_source(t, name));
        ((A::VARIANT, function.to_owned()), parameters.collect())
    });
    of_each.collect()
}

/// Those with values of one type.
fn listed_with_values<T: Real + Value>() -> Listed {
    [
        listed::<EllOfWidth<'_, T>>(),
        listed::<EllOfLengths<'_, T>>(),
        listed::<Hll<'_, T>>(),
        listed::<HllSharedX<'_, T>>(),
        listed::<CooBegin<'_, T>>(),
        listed::<CooSegmented<'_, T>>(),
        listed::<CooCarry<'_, T>>(),
        listed::<HllColumnMajor<'_, T>>(),
        listed::<HllSigma<'_, T>>(),
        listed::<BsrWarp<'_, T, u32>>(),
        listed::<BsrWarp<'_, T, u64>>(),
        listed::<Dia<'_, T>>(),
        listed::<SpmmHll<'_, T>>(),
        listed::<ConvertHll<'_, T, u32>>(),
        listed::<ConvertHll<'_, T, u64>>(),
        listed::<ConvertTransposed<'_, T, u32>>(),
        listed::<ConvertTransposed<'_, T, u64>>(),
        listed_solvers::<T>(),
        listed_sweeps::<T, u32>(),
        listed_sweeps::<T, u64>(),
        listed::<SweepOfLevels<'_, T>>(),
        listed::<SweepOfColor<'_, T>>(),
        listed::<ToPlaces<'_, T>>(),
        listed::<FromPlaces<'_, T>>(),
        listed::<SweepOfSlices<'_, T>>(),
    ]
    .concat()
}

/// Those with stored values of any type.
fn listed_stored<T: Real + Value, V: Stored<T>>() -> Listed {
    [
        listed::<Csr<'_, T, V, u32>>(),
        listed::<Csr<'_, T, V, u64>>(),
        listed::<CsrTiles<'_, T, V, u32>>(),
        listed::<CsrTiles<'_, T, V, u64>>(),
        listed::<CsrWindows<'_, T, V>>(),
        listed::<CsrBands<'_, T, V>>(),
        listed::<CsrTilesSolver<'_, T, V, u32>>(),
        listed::<CsrTilesSolver<'_, T, V, u64>>(),
        listed::<Spmm<'_, T, V, u32>>(),
        listed::<Spmm<'_, T, V, u64>>(),
        listed::<SpmmStaged<'_, T, V, u32>>(),
        listed::<SpmmStaged<'_, T, V, u64>>(),
        listed::<SpmmEqual<'_, T, V, u32>>(),
        listed::<SpmmEqual<'_, T, V, u64>>(),
        listed::<SpmmLong<'_, T, V, u32>>(),
        listed::<SpmmLong<'_, T, V, u64>>(),
        listed::<SpmmMerge<'_, T, V, u32>>(),
        listed::<SpmmMerge<'_, T, V, u64>>(),
        listed::<SpmmBsr<'_, T, V, u32>>(),
        listed::<SpmmBsr<'_, T, V, u64>>(),
        listed::<HllCompactPlain<'_, T, V>>(),
        listed_for::<V, T>(listed::<HllCompactByte<'_, T>>()),
        listed_for::<V, T>(listed::<HllCompactShort<'_, T>>()),
        listed_for::<V, T>(listed::<SpmmMergeCarry<'_, T, u32>>()),
        listed_for::<V, T>(listed::<SpmmMergeCarry<'_, T, u64>>()),
    ]
    .concat()
}

/// Those that read no stored values, in the variant for stored values of a type.
fn listed_for<V: Stored<T>, T: Real + Value>(all: Listed) -> Listed {
    let of_variant = |((variant, name), parameters): ((Variant, String), Parameters)| {
        ((Variant { precision: V::TYPES, ..variant }, name), parameters)
    };
    all.into_iter().map(of_variant).collect()
}

/// Those of SpMV within solvers.
fn listed_solvers<T: Real + Value>() -> Listed {
    [
        listed::<EllSolver<'_, T>>(),
        listed::<CooSegmentedSolver<'_, T>>(),
        listed::<CooCarrySolver<'_, T>>(),
    ]
    .concat()
}

/// Those of the vectors of solvers, and of their f64-only SpMV.
fn listed_vectors() -> Listed {
    [
        listed::<PcgBegin<'_>>(),
        listed::<HllColumnMajorSolver<'_>>(),
        listed::<HllDistances<'_>>(),
        listed::<PcgReduce<'_>>(),
        listed::<PcgAdvance<'_>>(),
        listed::<PcgDot<'_>>(),
        listed::<PcgFinish<'_>>(),
        listed::<PcgScale<'_>>(),
        listed::<PcgShareBegin<'_>>(),
        listed::<PcgShareReduce<'_>>(),
        listed::<PcgConclude<'_>>(),
        listed::<HaloPack<'_>>(),
    ]
    .concat()
}

/// Those of sweeps over CSR.
fn listed_sweeps<T: Real + Value, O: Offset + Element>() -> Listed {
    [
        listed::<SweepOfThreads<'_, T, O>>(),
        listed::<SweepOfRows<'_, T, O>>(),
        listed::<SweepRest<'_, T, O>>(),
        listed::<SweepOfNodes<'_, T, O>>(),
        listed::<ReadyDone<'_, T, O>>(),
        listed::<ReadyCompact<'_, T, O>>(),
        listed::<FillSlices<'_, T, O>>(),
    ]
    .concat()
}

/// Those of the structure analysis for sweeps, and of setups.
fn listed_plans<O: Offset + Element>() -> Listed {
    [
        listed::<Ready<'_, O>>(),
        listed::<ReadyList<'_, O>>(),
        listed::<PlanRows<'_, O>>(),
        listed::<PlanWave<'_, O>>(),
        listed::<PlanAbove<'_, O>>(),
        listed::<PlanLevels<'_, O>>(),
        listed::<PlanEarlier<'_, O>>(),
        listed::<PlanWidths<'_, O>>(),
        listed::<PlanHacks<'_, O>>(),
        listed::<CsrRange<'_, O>>(),
        listed::<CsrDistinct<'_, O>>(),
        listed::<CsrHacks<'_, O>>(),
        listed::<Reciprocals<'_, O>>(),
    ]
    .concat()
}

/// Those of factorised inverses whose kernels take offsets.
fn listed_inverses<O: Offset + Element>() -> Listed {
    [
        listed::<FsaiLower<'_, O>>(),
        listed::<FsaiKept<'_, O>>(),
        listed::<FsaiSame<'_, O>>(),
        listed::<FsaiFirst<'_, O>>(),
        listed::<FsaiReach<'_, O>>(),
        listed::<FsaiReachLong<'_, O>>(),
        listed::<FsaiSolve<'_, O>>(),
        listed::<FsaiLong<'_, O>>(),
        listed::<FsaiDrop<'_, O>>(),
    ]
    .concat()
}

/// The others of factorised inverses.
fn listed_groups() -> Listed {
    [
        listed::<FsaiGroupFind<'_>>(),
        listed::<FsaiGroupOpens<'_>>(),
        listed::<FsaiGroupNumber<'_>>(),
        listed::<FsaiGroupSort<'_>>(),
        listed::<FsaiGroupPlace<'_>>(),
        listed::<FsaiTotal<'_>>(),
        listed::<FsaiClass<'_>>(),
        listed::<FsaiKeep<'_>>(),
        listed::<FsaiRows<'_>>(),
        listed::<FsaiTranspose<'_>>(),
    ]
    .concat()
}

/// Those of skylines.
fn listed_skylines() -> Listed {
    [
        listed::<SkylinePoints<'_>>(),
        listed::<SkylineLocalPoints<'_>>(),
        listed::<SkylineTranspose<'_>>(),
        listed::<SkylineSample<'_>>(),
        listed::<SkylineChoose<'_>>(),
        listed::<SkylineScore<'_>>(),
        listed::<SkylineCut<'_>>(),
        listed::<SkylineChampions<'_>>(),
        listed::<SkylineStarts<'_>>(),
        listed::<SkylineOrder<'_>>(),
        listed::<SkylineTiles<'_>>(),
        listed::<SkylineKeep<'_>>(),
        listed::<SkylineSteps<'_>>(),
        listed::<SkylineFilter<'_>>(),
        listed::<SkylineEquals<'_>>(),
        listed::<SkylineSweep<'_>>(),
    ]
    .concat()
}

#[test]
fn argument_lists_are_the_kernels_signatures_by_type_name_and_order() {
    let lists = [
        listed_with_values::<f64>(),
        listed_with_values::<f32>(),
        listed_stored::<f64, f64>(),
        listed_stored::<f32, f32>(),
        listed_stored::<f64, f32>(),
        listed_stored::<f32, Bf16>(),
        listed_stored::<f32, F16>(),
        listed::<MemoryCopy<'_>>(),
        listed::<MemoryTriad<'_>>(),
        listed::<MemoryRead<'_>>(),
        listed::<MemoryNothing>(),
        listed_plans::<u32>(),
        listed_plans::<u64>(),
        listed::<OrderOpen<'_>>(),
        listed::<OrderUnpack<'_>>(),
        listed::<OrderCount<'_>>(),
        listed::<OrderSums<'_>>(),
        listed::<OrderStarts<'_>>(),
        listed::<OrderScan<'_>>(),
        listed::<OrderDigits<'_>>(),
        listed::<OrderSort<'_>>(),
        listed::<OrderSlices<'_>>(),
        listed::<OrderPlaces<'_>>(),
        listed::<OrderGates<'_>>(),
        listed_skylines(),
        listed::<DenseGauss<'_>>(),
        listed::<DenseLibraryFlags<'_>>(),
        listed::<DenseCholesky<'_>>(),
        listed::<DenseBlocked<'_>>(),
        listed_vectors(),
        listed_inverses::<u32>(),
        listed_inverses::<u64>(),
        listed_groups(),
    ]
    .concat();
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
