//! y = alpha·op(A)·x + beta·y through the whole program: `spmv` and `bench` with `--op` and `--scale`.

use sparsescope_core::kernel::parameters::{OP, SCALE};
use sparsescope_core::kernel::{KernelDescriptor, kernel};
use sparsescope_core::record::{Operation, Run, Verdict};
use sparsescope_tests::Program;

use crate::common::{elements, on_cpu, open, products_here, program};

/// The 5 x 5 example of the papers and a 2 x 3 matrix, with vectors.
fn example() -> Program {
    let p = program();
    p.write(
        "five.mtx",
        "%%MatrixMarket matrix coordinate real general\n5 5 10\n1 1 3\n1 2 4\n2 2 5\n2 3 1\n3 2 1\n\
        3 3 2\n4 3 2\n4 4 3\n5 4 1\n5 5 6\n",
    );
    p.write(
        "wide.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1\n1 3 2\n2 2 3\n",
    );
    p.write("x.txt", "1\n2\n3\n4\n5\n");
    p.write("y.txt", "2\n4\n6\n8\n10\n");
    p.write("two.txt", "10\n20\n");
    p
}

#[test]
fn spmv_multiplies_by_the_transpose_in_every_format() {
    let p = example();
    let takes = |k: &&KernelDescriptor| k.allowed(OP.id()).is_some_and(|all| all.contains("t"));
    let only = kernel("cpu/csr/transposed");
    let kernels: Vec<&KernelDescriptor> = products_here().filter(takes).chain(only).collect();
    assert!(kernels.len() > 10, "{}", kernels.len());
    for k in kernels {
        let run = |matrix: &str, x: &str| {
            let args = ["spmv", matrix, "--kernel", k.id, "--op", "t", "--x", x, "-o", "y.mtx"];
            p.succeed(&[&args[..], &["--min-fill", "0", "--force"]].concat());
            elements(&p, "y.mtx")
        };
        // Column by column: 3·1, 4·1 + 5·2 + 1·3, 1·2 + 2·3 + 2·4, 3·4 + 1·5, 6·5.
        assert_eq!(run("five.mtx", "x.txt"), [3.0, 17.0, 16.0, 17.0, 30.0], "{}", k.id);
        assert_eq!(run("wide.mtx", "two.txt"), [10.0, 60.0, 20.0], "{}", k.id);
    }
}

#[test]
fn spmv_scales_the_product_and_adds_it_to_y() {
    let p = example();
    let takes = |k: &KernelDescriptor| k.allowed(SCALE.id()).is_some_and(|all| all.contains("2"));
    assert!(on_cpu(Operation::Spmv).all(takes));
    for kernel in products_here().map(|k| k.id) {
        let run = |more: &[&str]| {
            let args = ["spmv", "five.mtx", "--kernel", kernel, "--x", "x.txt", "-o", "z.mtx"];
            p.succeed(&[&args[..], &["--min-fill", "0", "--force"], more].concat());
            elements(&p, "z.mtx")
        };
        assert_eq!(run(&["--scale", "2"]), [22.0, 26.0, 16.0, 36.0, 68.0], "{kernel}");
        let both = ["--scale", "2:0.5", "--y", "y.txt"];
        assert_eq!(run(&both), [23.0, 28.0, 19.0, 40.0, 73.0], "{kernel}");
        let transposed = run(&[&both[..], &["--op", "t"]].concat());
        assert_eq!(transposed, [7.0, 36.0, 35.0, 38.0, 65.0], "{kernel}");
    }
}

#[test]
fn what_a_kernel_does_not_compute_is_refused_in_a_sentence() {
    let p = example();
    let refused = |code: i32, args: &[&str]| {
        let ran = p.run(&[&["spmv", "five.mtx", "-o", "z.mtx"], args].concat());
        assert_eq!(ran.code, Some(code), "{}", ran.err);
        ran.err
    };
    let error = refused(2, &["--y", "y.txt"]);
    assert!(error.contains("--y needs --scale ALPHA:BETA"), "{error}");
    let error = refused(2, &["--scale", "2,3"]);
    assert!(error.contains("one value per parameter"), "{error}");
    let error = refused(1, &["--kernel", "cpu/csr/transposed"]);
    assert!(error.contains("op cannot be n: expected t"), "{error}");
}

#[test]
fn bench_measures_each_of_them_against_its_own_serial_run() {
    let p = example();
    let what = ["bench", "five.mtx", "wide.mtx", "--kernels"];
    let kernels = ["cpu/csr/{serial,rows,nnz,transposed},cpu/spmv/auto"];
    let how = ["--op", "n,t", "--scale", "1,0.5:1", "--precision", "f64,f32"];
    let more = ["--threads", "1,2", "--runs", "3", "-o", "out.zip"];
    p.succeed(&[&what[..], &kernels, &how, &more].concat());
    let runs = open(&p, "out.zip").runs;
    // Two matrices, operators, scales and precisions; serial once, the others with two thread counts, one of them with
    // one operator.
    assert_eq!(runs.len(), 2 * 2 * 2 * (2 * (1 + 2 + 2 + 2) + 2));
    let of = |run: &Run| {
        let param = |name: &str| run.params.get(name).cloned();
        (run.matrix.clone(), run.precision.clone(), param("op"), param("scale"))
    };
    for run in &runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{} {:?}", run.kernel, run.check.reason);
        let figures = run.figures.as_ref().unwrap();
        let is_its = |other: &&Run| other.kernel == "cpu/csr/serial" && of(other) == of(run);
        let serial = runs.iter().find(is_its).unwrap().figures.as_ref().unwrap();
        let speedup = figures.speedup.unwrap();
        assert!((speedup * figures.median_s / serial.median_s - 1.0).abs() < 1e-9);
        // Runs that add to y start from the same y each time.
        let adds = run.params.contains_key("scale");
        assert_eq!(run.costs.clock_s.is_some(), adds, "{}", run.kernel);
        assert_ne!(run.params.get("op").map(String::as_str), Some("n"));
    }
}
