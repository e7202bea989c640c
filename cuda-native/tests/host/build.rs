//! Builds the kernels with every NVRTC that is found, for every generation of architectures that it
//! knows. No GPU is needed.

use std::path::PathBuf;

use sparsescope_core::kernel::{Scale, user_kernels};
use sparsescope_core::matrix::Precision;
use sparsescope_cuda::{CompileError, Family, KernelCache, Nvrtc, check_user_kernel};
use sparsescope_test_support::{Need, skip};

/// Every compiler in the folders that `SPARSESCOPE_CUDA_LIBRARIES` lists, or the one that the
/// program finds by default.
fn compilers() -> Vec<Nvrtc> {
    let folders = std::env::var_os(sparsescope_cuda::LIBRARY_FOLDERS).unwrap_or_default();
    let names = ["libnvrtc.so.13", "libnvrtc.so.12", "nvrtc64_130_0.dll", "nvrtc64_120_0.dll"];
    let files = std::env::split_paths(&folders).flat_map(|f| names.map(|name| f.join(name)));
    let listed: Vec<PathBuf> = files.filter(|file| file.is_file()).collect();
    if listed.is_empty() {
        return Nvrtc::find(None).into_iter().collect();
    }
    listed.into_iter().map(|file| Nvrtc::load(file).unwrap()).collect()
}

/// The machine field of an ELF file; 190 is CUDA.
fn elf_machine(cubin: &[u8]) -> Option<u16> {
    cubin.starts_with(b"\x7fELF").then(|| u16::from_le_bytes([cubin[18], cubin[19]]))
}

/// The first architecture of each generation, and the newest of all: those between do not differ in
/// anything that the kernels need.
fn generations(architectures: &[u32]) -> Vec<u32> {
    let mut firsts = architectures.to_vec();
    firsts.dedup_by_key(|architecture| *architecture / 10);
    let newest = architectures.last().filter(|newest| firsts.last() != Some(newest));
    firsts.extend(newest);
    firsts
}

/// Whether values have as many bits as vectors.
fn is_whole(precision: Precision) -> bool {
    matches!(precision, Precision::F64 | Precision::F32)
}

#[test]
fn every_kernel_is_built_and_those_in_f64_for_every_generation() {
    let compilers = compilers();
    if compilers.is_empty() {
        skip!(Need::Nvrtc, "no NVRTC was found; SPARSESCOPE_CUDA_LIBRARIES can list its folders");
    }
    // Of the generations that several compilers know, the one that knows the lowest architecture builds it, and each
    // the newest that it knows, which shows that it takes the language: one its first architecture, the next its
    // newest.
    let known: Vec<Vec<u32>> =
        compilers.iter().map(|nvrtc| generations(nvrtc.architectures())).collect();
    let count = compilers.len();
    std::thread::scope(|scope| {
        for (k, (nvrtc, own)) in compilers.iter().zip(&known).enumerate() {
            let newest = own.last().map(|one| one / 10);
            let is_own = |one: &u32| {
                let generation = one / 10;
                let is_of_it = |other: &&u32| *other / 10 == generation;
                let lowest = |k: usize| Some((known[k].iter().find(is_of_it)?, k));
                let several: Vec<(&u32, usize)> = (0..count).filter_map(lowest).collect();
                if newest == Some(generation) && several.len() > 1 {
                    let of_it: Vec<&u32> = own.iter().filter(is_of_it).collect();
                    return of_it[k % of_it.len()] == one;
                }
                several.iter().min().is_some_and(|(_, builder)| *builder == k)
            };
            let share: Vec<u32> = own.iter().copied().filter(is_own).collect();
            let is_turn = move |turn: usize| turn % count == k;
            scope.spawn(move || every_kernel_is_built_by(nvrtc, &share, is_turn));
        }
    });
}

/// Builds variants for the oldest or the newest of these architectures, or for both if no other compiler takes a turn,
/// and those that stand for others for all of them.
fn every_kernel_is_built_by(nvrtc: &Nvrtc, share: &[u32], is_turn: impl Fn(usize) -> bool) {
    let cache = tempfile::tempdir().unwrap();
    let cache = KernelCache::in_folder(cache.path().to_owned());
    for family in Family::ALL {
        let least = family.least_architecture();
        let able: Vec<u32> = share.iter().copied().filter(|one| *one >= least).collect();
        // Kernels unrolled for each size take many seconds: the ends stand for those between.
        let is_long = [Family::DenseCholesky, Family::FsaiSolve].contains(&family);
        let widths = || family.variants().map(|variant| variant.width);
        let extremes = [widths().min(), widths().max()];
        let most_bits = family.variants().map(|variant| variant.offset_bits).max();
        for (k, variant) in family.variants().enumerate() {
            // What depends on the architecture depends neither on the types of values and offsets nor on widths,
            // except for conversions of values in fewer bits.
            let is_for_others =
                Some(variant.offset_bits) == most_bits && extremes.contains(&Some(variant.width));
            let is_typical = !is_long && is_for_others && variant.precision == Precision::F64;
            // Offsets of 32 and 64 bits alternate: each has turns at both ends.
            let turn = k / 2 + k % 2;
            let ends = [able.first(), able.last()];
            for architecture in &able {
                let is_end = |end: usize| ends[end] == Some(architecture) && is_turn(turn + end);
                // The others alternate between the ends, too.
                let is_built =
                    is_typical || is_end(k / 4 % 2) || is_for_others && (is_end(0) || is_end(1));
                if !is_built {
                    continue;
                }
                let what = format!("{variant:?} {architecture} {}", nvrtc.version_name());
                let cubin = variant.build(nvrtc, &cache, *architecture);
                let cubin = cubin.unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_eq!(elf_machine(&cubin), Some(190), "{what}");
                assert_eq!(variant.build(nvrtc, &cache, *architecture), Ok(cubin), "{what}");
            }
        }
    }
    eprintln!("NVRTC {} built for {share:?}", nvrtc.version_name());
}

#[test]
fn kernels_of_spmv_are_built_with_alpha_and_beta() {
    let compilers = compilers();
    if compilers.is_empty() {
        skip!(Need::Nvrtc, "no NVRTC was found; SPARSESCOPE_CUDA_LIBRARIES can list its folders");
    }
    let families = [
        Family::Csr,
        Family::Ell,
        Family::Hll,
        Family::Coo,
        Family::CsrAdaptive,
        Family::CsrWindows,
        Family::HllColumnMajor,
        Family::HllCompact,
        Family::Bsr,
        Family::Dia,
    ];
    let scale = Scale { alpha: -0.5, beta: 2e-9 };
    let folder = tempfile::tempdir().unwrap();
    let cache = KernelCache::in_folder(folder.path().to_owned());
    let variants = families.into_iter().flat_map(Family::variants);
    let whole = variants.filter(|variant| is_whole(variant.precision));
    // The compilers take turns.
    for (variant, nvrtc) in whole.zip(compilers.iter().cycle()) {
        let what = format!("{variant:?} {}", nvrtc.version_name());
        let newest = *nvrtc.architectures().last().unwrap();
        let cubin = variant.scaled(scale).build(nvrtc, &cache, newest);
        let cubin = cubin.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(elf_machine(&cubin), Some(190), "{what}");
    }
}

#[test]
fn an_error_shows_the_source_line_and_what_the_compiler_said() {
    let compilers = compilers();
    if compilers.is_empty() {
        skip!(Need::Nvrtc, "no NVRTC was found; SPARSESCOPE_CUDA_LIBRARIES can list its folders");
    }
    for nvrtc in &compilers {
        let options = [format!("--gpu-architecture=sm_{}", nvrtc.architectures().last().unwrap())];
        let prelude = ("common.cuh", "typedef double real;\n");
        let source = "\n__global__ void k(real* y)\n{\n    y[0] = undefined_name;\n}\n";
        let error = nvrtc.compile(prelude, ("broken.cu", source), &options).unwrap_err();
        let text = error.to_string();
        let begin = "broken.cu does not compile at `y[0] = undefined_name;`: broken.cu(4): error";
        assert!(text.starts_with(begin), "{text}");

        let error = nvrtc.compile(prelude, ("k.cu", ""), &["--nonsense".to_owned()]).unwrap_err();
        assert!(matches!(&error, CompileError::Compiler { .. }), "{error}");
        let error = nvrtc.architecture_for(3, 5).unwrap_err().to_string();
        assert!(error.contains(", not 3.5"), "{error}");
        let newest = *nvrtc.architectures().last().unwrap();
        assert_eq!(nvrtc.architecture_for(newest / 10, newest % 10 + 1), Ok(newest));
    }
}

#[test]
fn a_users_kernel_is_built_and_its_errors_have_its_own_lines() {
    let compilers = compilers();
    if compilers.is_empty() {
        skip!(Need::Nvrtc, "no NVRTC was found; SPARSESCOPE_CUDA_LIBRARIES can list its folders");
    }
    let example = include_str!("../../../docs/examples/my-csr.cu");
    for nvrtc in &compilers {
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache::in_folder(folder.path().to_owned());
        let check = |text: &str| {
            let kernels = user_kernels("my.cu", text.as_bytes()).unwrap();
            kernels.iter().try_for_each(|kernel| check_user_kernel(kernel, nvrtc, &cache))
        };
        check(example).unwrap_or_else(|error| panic!("{}: {error}", nvrtc.version_name()));
        let line = 1 + example.lines().position(|line| line.contains("y[row] = sum")).unwrap();
        let error = check(&example.replace("y[row] = sum", "y[row] = sums")).unwrap_err();
        let begin = "my.cu does not compile at `if (lane == 0) y[row] = sums;`: ";
        let text = error.to_string();
        assert!(text.starts_with(&format!("{begin}my.cu({line}): error")), "{text}");
    }
}
