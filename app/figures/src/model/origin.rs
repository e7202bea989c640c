//! What the origins of kernels mean. Bundles, tables in files and links have the words.

/// An origin of kernels.
struct Origin {
    word: &'static str,
    name: &'static str,
    source: &'static str,
}

#[rustfmt::skip]
const ORIGINS: [Origin; 8] = [
    Origin { word: "paper:000", name: "CSR/HLL report (Martorelli, Cortese)",
        source: "Luca Martorelli, Alessandro Cortese: Parallel Sparse Matrix-Vector Product, report, Tor Vergata" },
    Origin { word: "paper:001", name: "Gauss–Seidel report (Galbiati)",
        source: "Francesco Galbiati: the symgs smoother in CUDA and C++, report, December 2022" },
    Origin { word: "paper:002", name: "CSR/ELLPACK report (Fraga)",
        source: "António Pedro Araújo Fraga: Sparse Matrix-Vector Product Kernel, report, Cranfield, April 2018" },
    Origin { word: "paper:003", name: "FSAI thesis (Castronuovo)",
        source: "Andrea Castronuovo: conjugate gradients with the preconditioner FSAI on GPUs, thesis, Padova, 2013" },
    Origin { word: "paper:004", name: "Skyline report (Fabri)",
        source: "Luca Fabri: the skyline operator with OpenMP and CUDA, report, July 2021" },
    Origin { word: "ours", name: "Sparsescope", source: "Kernels written for Sparsescope" },
    Origin { word: "vendor", name: "Vendor library",
        source: "Kernels of libraries that others provide, such as cuSPARSE" },
    Origin { word: "user", name: "Your own kernel", source: "A source file given on the command line" },
];

fn find(word: &str) -> Option<&'static Origin> {
    ORIGINS.iter().find(|origin| origin.word == word)
}

/// The name of an origin; the word itself if it is unknown.
pub fn origin_name(word: &str) -> &str {
    find(word).map_or(word, |origin| origin.name)
}

/// Author, title and year of an origin, for a tooltip.
pub fn origin_source(word: &str) -> Option<&'static str> {
    find(word).map(|origin| origin.source)
}

#[cfg(test)]
mod tests {
    use sparsescope_core::kernel::all_kernels;

    use super::*;

    #[test]
    fn every_origin_of_a_kernel_has_a_name_and_a_source() {
        for kernel in all_kernels() {
            for word in kernel.origin.iter().map(|origin| origin.as_str()) {
                assert_ne!(origin_name(word), word);
                assert!(origin_source(word).is_some(), "{word}");
            }
        }
        assert_eq!(origin_name("paper:000"), "CSR/HLL report (Martorelli, Cortese)");
        assert_eq!((origin_name("paper:9"), origin_source("paper:9")), ("paper:9", None));
    }
}
