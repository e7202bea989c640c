//! The files that are broken.

/// Matrix Market files, and matrices in other text.
pub(super) const SEEDS: [&str; 13] = [
    "%%MatrixMarket matrix coordinate real general\n% c\n3 4 4\n3 1 5\n1 4 2.5e-3\n3 2 -1\n1 1 1\n",
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 1 5\n1 2 5\n3 3 1\n",
    "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 5\n3 1 -7\n",
    "%%MatrixMarket matrix coordinate pattern general\r\n2 2 2\r\n1 1\r\n2 2\r\n",
    "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 2\n",
    "%%MatrixMarket matrix array real general\n2 2\n1\n2\n0\n4\n",
    "%%MatrixMarket matrix coordinate real general\n%%AMGX 1 1 rhs solution\n2 2 1\n2 1 5\n1\n2\n3\n4\n",
    "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 5\n%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
    "3 4 4\n3 1 5\n1 4 2.5e-3\n3 2 -1\n1 1 1\n",
    "2 3\n1 1 4\n1 2 -1\n2 2 4\n",
    "3 3 2\n1 2\n3 3\n",
    "# Nodes: 4 Edges: 3\n0\t1\n0\t2\n3\t3\n",
    "0 1 0.5\n2 1 -1e3\n",
];

/// Graphs in METIS format.
pub(super) const GRAPHS: [&str; 3] = [
    "4 4\n2 4\n1 3\n2 4\n1 3\n",
    "% c\n3 2 1\n2 5\n1 5 3 7\n2 7\n",
    "3 1 111 2\n4 1 2 2 9\n4 1 2 1 9\n4 1 2\n",
];

/// Rutherford-Boeing and Harwell-Boeing files.
pub(super) const BOEING: [&str; 4] = [
    "title\n3 1 1 1\nrra 2 3 3 0\n(4I3) (3I3) (3E9.1)\n  1  2  3  4\n  1  2  1\n  1.0E+00 -3.0E+00  2.5E+00\n",
    "title\n7 1 1 1 4\nRSA 2 2 2 0\n(3I2)(2I2)(2F4.1)(2F4.1)\nFG  2 0\n 1 3 3\n 1 2\n 4.0-1.0\n 1.0 2.0\n 3.0 4.0\n 5.0 6.0\n 7.0 8.0\n",
    "title\n4 1 1 2\ncha 2 2 2 0\n(3I2) (2I2) (1P,2D8.1)\n 1 3 3\n 1 2\n 4.0D+00  .0D+00\n 1.5D+00-2.0-001\n",
    "title\n2 1 1 0\npza 2 2 1 0\n(3(I2,1X)) (2I2)\n 1  2  2 \n 2\n",
];

/// Edge lists.
pub(super) const EDGES: [&str; 6] = [
    "# Directed graph: a\n# Nodes: 4 Edges: 3\n0\t1\n0\t2\n3\t3\n",
    "% sym posweighted\n% 2 3 3\n1 2 5 1082040961\n3 1 2 1082040962\n",
    "% bip unweighted\n% 2 2 3\n1 3\n2 1\n",
    "src,dst,weight\n1,2,0.5\n# c\n2,3,1.5\n",
    "1;2\n\n4;1\n",
    "weight,\"label\",Target,Source\n0.5,\"a, b\",2,1\n1.5,c,3,2\n",
];

/// Binary triplets: real and complex.
pub(super) const TRIPLES: [&str; 2] = [
    "SSTRIPLE\x01\0\0\0\x01\0\0\0\x02\0\0\0\x02\0\0\0\x02\0\0\0\0\0\0\0\
     \x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\x08\x40",
    "SSTRIPLE\x01\0\0\0\x02\0\0\0\x02\0\0\0\x02\0\0\0\x01\0\0\0\0\0\0\0\
     \x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\x08\x40",
];

/// Files of NumPy and SciPy.
pub(super) const ARRAYS: [&[u8]; 7] = [
    include_bytes!("../../../../fuzz/corpus/numpy/csr"),
    include_bytes!("../../../../fuzz/corpus/numpy/csc"),
    include_bytes!("../../../../fuzz/corpus/numpy/coo"),
    include_bytes!("../../../../fuzz/corpus/numpy/bsr"),
    include_bytes!("../../../../fuzz/corpus/numpy/dia"),
    include_bytes!("../../../../fuzz/corpus/numpy/vector"),
    include_bytes!("../../../../fuzz/corpus/numpy/dense"),
];

/// Dense matrices.
pub(super) const DENSE: [&[u8]; 9] = [
    include_bytes!("../../../../fuzz/corpus/dense/rows"),
    include_bytes!("../../../../fuzz/corpus/dense/csv"),
    include_bytes!("../../../../fuzz/corpus/dense/semicolons"),
    include_bytes!("../../../../fuzz/corpus/dense/savetxt"),
    include_bytes!("../../../../fuzz/corpus/dense/array"),
    include_bytes!("../../../../fuzz/corpus/dense/symmetric"),
    include_bytes!("../../../../fuzz/corpus/dense/sparse"),
    include_bytes!("../../../../fuzz/corpus/dense/fortran"),
    include_bytes!("../../../../fuzz/corpus/dense/column"),
];

/// MATLAB files of level 5 and 4, each after the byte that chooses the variable.
pub(super) const MATLAB: [&[u8]; 3] = [
    include_bytes!("../../../../fuzz/corpus/matlab/level5"),
    include_bytes!("../../../../fuzz/corpus/matlab/problem"),
    include_bytes!("../../../../fuzz/corpus/matlab/level4"),
];

/// A matrix and a vector of PETSc, a matrix of hypre, graphs of DIMACS.
pub(super) const STORED: [(&str, &[u8]); 4] = [
    (
        "a.petsc",
        b"\0\x12\x7b\x50\0\0\0\x02\0\0\0\x02\0\0\0\x03\0\0\0\x02\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\x01\x3f\xf8\0\0\0\0\0\0\xbf\xf0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\0\x12\x7b\x4e\0\0\0\x02\x3f\xf0\0\0\0\0\0\0\x3f\xe0\0\0\0\0\0\0",
    ),
    ("a.00000", b"0 2 0 2\n0 0 4\n0 1 -1.0e+00\n2 0 2\n2 2 5e-1\n"),
    ("a.gr", b"c roads\np sp 3 3\na 1 2 7\nc\na 3 1 2\na 1 2 3\n"),
    ("a.col", b"p edge 3 2\nn 1 4\ne 1 2\ne 3 2\n"),
];

/// Points as text, as CSV and as bytes.
pub(super) const POINTS: [&str; 6] = [
    "3 rbox 2 D3\n2\n0.5 -0.25 1e-3\n1 2 3\n",
    "price; distance\n1,5;2\n3;4,25\n",
    "1.5\t2\nNA\t4\n",
    "x,y\n1,-2.5\n3,4e2\n",
    "1,\"2\"\r\n3,inf\r\n",
    "SSPOINTS\x01\0\0\0\x02\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\x08\x40",
];

/// Results in all past formats of Ginkgo's benchmark, and of Google Benchmark and nvbench.
pub(super) const RESULTS: [&str; 6] = [
    include_str!("../../../../tests/golden/ginkgo-seconds.json"),
    include_str!("../../../../tests/golden/ginkgo-nanoseconds.json"),
    include_str!("../../../../tests/golden/ginkgo-plain.json"),
    include_str!("../../../../tests/golden/ginkgo-variants.json"),
    include_str!("../../../../tests/golden/google-benchmark.json"),
    include_str!("../../../../tests/golden/nvbench.json"),
];

/// A matrix as other programs compressed it.
pub(super) const COMPRESSED: [&[u8]; 6] = [
    include_bytes!("../../../matrix/src/io/unpack/samples/members.gz"),
    include_bytes!("../../../matrix/src/io/unpack/samples/streams.bz2"),
    include_bytes!("../../../matrix/src/io/unpack/samples/streams.xz"),
    include_bytes!("../../../matrix/src/io/unpack/samples/frames.zst"),
    include_bytes!("../../../matrix/src/io/unpack/samples/matrix.zip"),
    include_bytes!("../../../matrix/src/io/unpack/samples/edges.zip"),
];

/// A bundle.
pub(super) const GOLDEN: &[u8] = include_bytes!("../../../../tests/golden/bundle-1.0.zip");
