//! Users' kernels: correct ones pass in every family, wrong ones fail the check.

use sparsescope_core::kernel::{KernelDescriptor, user_kernels};

use super::*;

/// The only kernel of a file.
fn user(file: &str, text: &str) -> &'static KernelDescriptor {
    let kernels = user_kernels(file, text.as_bytes()).unwrap();
    let [kernel] = kernels[..] else { panic!("{} kernels", kernels.len()) };
    kernel
}

const EXAMPLE: &str = include_str!("../../../docs/examples/my-csr.cu");

/// A source of this family and mapping, with the parameters between `rows` and `col`.
fn source(family: &str, mapping: &str, own: &str, body: &str) -> String {
    format!(
        "// sparsescope kernel\n// family: {family}\n// mapping: {mapping}\n// shared: value-per-thread\n\n\
         extern \"C\" __global__ void f(u32 rows, {own}, const u32* col, const real* val, const real* x, \
         real* y)\n{{\n{body}\n}}\n"
    )
}

/// Correct kernels, one per family, with the simplest loops.
fn right() -> Vec<(String, String)> {
    let hll = "u32 hack_size, u32 hacks, const u64* offsets, const u32* max_nzr";
    let row = "const u64 row = thread_in_grid(); if (row >= rows) return; real sum = 0;";
    let hack = "const u64 hack = row / hack_size, r = row % hack_size;";
    // Through shared memory, with one value per thread.
    let end = "extern __shared__ real kept[]; kept[threadIdx.x] = sum; y[row] = kept[threadIdx.x];";
    [
        ("csr", "thread-per-row", "const offset* row_ptr", format!("{row} \
            for (u64 k = row_ptr[row]; k < row_ptr[row + 1]; k++) sum += val[k] * x[col[k]]; {end}")),
        ("ell", "thread-per-row", "u32 width", format!("{row} \
            for (u64 k = row * width; k < (row + 1) * width; k++) sum += val[k] * x[col[k]]; {end}")),
        ("ell-column-major", "thread-per-row", "const u32* row_len", format!("{row} \
            for (u64 j = 0; j < row_len[row]; j++) sum += val[j * rows + row] * x[col[j * rows + row]]; {end}")),
        ("hll", "thread-per-row", hll, format!("{row} {hack} \
            const u64 k = offsets[hack] + r * max_nzr[hack]; \
            for (u64 j = 0; j < max_nzr[hack]; j++) sum += val[k + j] * x[col[k + j]]; {end}")),
        ("hll-column-major", "thread-per-row", hll, format!("{row} {hack} \
            for (u64 j = 0; j < max_nzr[hack]; j++) {{ \
                const u64 k = offsets[hack] + j * hack_size + r; sum += val[k] * x[col[k]]; }} {end}")),
    ]
    .into_iter()
    .map(|(family, mapping, own, body)| (family.to_owned(), source(family, mapping, own, &body)))
    .chain([("example".to_owned(), EXAMPLE.to_owned())])
    .collect()
}

#[test]
fn right_kernels_of_users_pass_the_gate_in_every_family() {
    let backend = gpu!();
    for (what, a) in matrices() {
        let problem = problem(a);
        for (name, text) in right() {
            let kernel = user(&format!("{name}.cu"), &text);
            assert_eq!(backend.availability(kernel), Availability::Available, "{name}");
            for &precision in kernel.precisions {
                for block in [32, 160, 1024] {
                    let configuration = configured((kernel, Some(block), precision), 8);
                    let mut prepared = backend
                        .prepare(&configuration, &problem, MemoryLimit::unlimited())
                        .unwrap();
                    let output = output(&mut prepared).unwrap();
                    let check = problem.check(&configuration, &output);
                    let what = format!("{name} on {what}, {precision:?} in blocks of {block}");
                    assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
                    let costs = prepared.costs();
                    for launch in &costs.launches {
                        assert_eq!(launch.function, kernel.user.unwrap().function());
                    }
                }
            }
        }
    }
}

#[test]
fn wrong_kernels_of_users_fail_the_gate_and_those_that_are_not_built_say_why() {
    let backend = gpu!();
    let problem = problem(matrix(500, (0..500).map(|i| 1 + i % 41)));
    let run = |text: &str| {
        let configuration = configured((user("my.cu", text), Some(64), Precision::F64), 8);
        let mut prepared =
            backend.prepare(&configuration, &problem, MemoryLimit::unlimited()).unwrap();
        problem.check(&configuration, &output(&mut prepared).unwrap()).verdict
    };
    assert_eq!(run(EXAMPLE), Verdict::Pass);
    // Without the last nonzeros of some rows; without any result.
    assert_eq!(
        run(&EXAMPLE.replace("if (k < end) first", "if (k + 1 < end) first")),
        Verdict::Fail
    );
    assert_eq!(
        run(&EXAMPLE.replace("if (lane == 0) y[row]", "if (lane == 99) y[row]")),
        Verdict::Fail
    );

    let broken = user("my.cu", &EXAMPLE.replace("y[row] = sum;", "y[row] = sums;"));
    let Availability::Missing(why) = backend.availability(broken) else { panic!("it was built") };
    assert!(why.starts_with("my.cu does not compile at `if (lane == 0) y[row] = sums;`"), "{why}");
}

#[test]
fn what_a_kernel_writes_before_and_after_its_result_is_seen() {
    let backend = gpu!();
    let problem = problem(matrix(500, (0..500).map(|i| 1 + i % 41)));
    for beside in ["*(y - 1)", "y[rows]"] {
        let text = EXAMPLE.replace("y[row] = sum;", &format!("y[row] = {beside} = sum;"));
        let configuration = configured((user("my.cu", &text), Some(64), Precision::F64), 8);
        let mut prepared =
            backend.prepare(&configuration, &problem, MemoryLimit::unlimited()).unwrap();
        let error = output(&mut prepared).unwrap_err().to_string();
        assert!(error.ends_with("it wrote outside its result"), "{beside}: {error}");
    }
}
