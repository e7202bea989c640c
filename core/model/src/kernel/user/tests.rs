//! Files that are user kernels, and the messages for those that are not.

use super::*;
use crate::kernel::{
    DeviceKind, Format, GridMapping, KernelDescriptor, Mapping, Origin, all_kernels, kernel,
};
use sparsescope_matrix::matrix::{Order, sha256};
use sparsescope_record::{MOST_SOURCE_BYTES, Operation, Precision, Run};

const HEADER: &str = "// sparsescope kernel\n// family: csr\n// mapping: warp-per-row\n";
const LIST: &str =
    "u32 rows, const offset* row_ptr, const u32* col, const real* val, const real* x, real* y";

/// A file with this header, and a function with this name and these parameters.
fn file(header: &str, function: &str, list: &str) -> String {
    format!("{header}\nextern \"C\" __global__ void {function}({list})\n{{\n}}\n")
}

fn read(text: &str) -> Result<Vec<&'static KernelDescriptor>, String> {
    user_kernels("My CSR.cu", text.as_bytes()).map_err(|error| error.to_string())
}

fn one(text: &str) -> &'static KernelDescriptor {
    let kernels = read(text).unwrap();
    let [kernel] = kernels[..] else { panic!("{} kernels", kernels.len()) };
    kernel
}

#[test]
fn a_file_becomes_a_kernel_with_the_format_mapping_and_settings_of_its_header() {
    let header = "// A first try.\n//\n// sparsescope kernel\n// family: hll-column-major\n\
                  // mapping: thread-per-row\n// shared: value-per-thread\n// block-sizes: 256, 64,256\n//\n\
                  // shared: nothing, for the header has ended\n";
    let list = "unsigned int rows, u32 hack_size, u32 hacks,\n const u64 * __restrict__ offsets, \
                u32 const* max_nzr, const u32* col, const real* /* values */ val, const real *const x, real *y";
    let text = file(header, "My_Sum", list);
    let kernel = one(&text);
    assert_eq!((kernel.id, kernel.operation), ("user/my-csr/my_sum", Operation::Spmv));
    assert_eq!((kernel.device, kernel.origin), (DeviceKind::Cuda, &[Origin::User][..]));
    assert_eq!(kernel.format(), Some(Format::Hll(Order::ColumnMajor)));
    assert_eq!(kernel.mapping, Mapping::Grid(GridMapping::ThreadPerRow));
    assert!(kernel.needs.finite_x && kernel.model.is_some() && kernel.takes.block);
    assert_eq!(kernel.precisions, Precision::UNIFORM);
    let user = kernel.user.unwrap();
    assert_eq!((user.function(), user.family()), ("My_Sum", UserFamily::HllColumnMajor));
    assert_eq!((user.blocks(), user.shared_bytes(64, 8)), (Some(&[64, 256][..]), 512));
    let source = user.record();
    assert_eq!((source.file.as_str(), source.sha256), ("My CSR.cu", sha256(text.as_bytes())));
    assert_eq!(
        (source.family.as_str(), source.mapping.as_str()),
        ("hll-column-major", "thread-per-row")
    );

    let run = Run { kernel: kernel.id.into(), source: Some(user.record()), ..Run::default() };
    assert_eq!((run.format(), mapping_of(&run)), ("hll", Some(kernel.mapping)));
}

#[test]
fn only_functions_that_are_launched_by_name_are_kernels() {
    let more = "\n// extern \"C\" __global__ void not_this(u32 rows) {}\n\
                template <int N> __global__ void nor_this(u32 rows) {}\n\
                extern \"C\" __global__ void __launch_bounds__(256, 2) first(LIST) {}\n\
                extern\n\"C\" __global__ __launch_bounds__(128) void second(LIST) {}\n\
                const char* text = \"extern \\\" // __global__ void\";\n";
    let kernels = read(&format!("{HEADER}{}", more.replace("LIST", LIST))).unwrap();
    let ids: Vec<&str> = kernels.iter().map(|kernel| kernel.id).collect();
    assert_eq!(ids, ["user/my-csr/first", "user/my-csr/second"]);
    // Without such a line, the requested block size is used.
    assert_eq!(kernels[0].user.unwrap().blocks(), None);
}

#[test]
fn values_of_one_precision_run_in_that_alone() {
    for (name, precisions) in [
        ("double", &[Precision::F64][..]),
        ("float", &[Precision::F32]),
        ("real", &Precision::UNIFORM),
    ] {
        let kernel = one(&file(HEADER, "f", &LIST.replace("real", name)));
        assert_eq!(kernel.precisions, precisions);
    }
}

#[test]
fn a_header_that_is_wrong_says_where_and_what_was_expected() {
    let wrong = |header: &str| read(&file(header, "f", LIST)).unwrap_err();
    let mark = "// sparsescope kernel\n";
    let none = "My CSR.cu has no header: expected the line `// sparsescope kernel` in the comments at the top";
    assert!(wrong("").starts_with(none) && wrong("// family: csr\n").starts_with(none));
    assert!(wrong(&format!("#define N 1\n{HEADER}")).starts_with(none));
    for (lines, sentence) in [
        (
            "// mapping: warp-per-row\n",
            "My CSR.cu: the header has no family: expected a line `// family: …` with one of csr, ell, \
             ell-column-major, hll, hll-column-major",
        ),
        (
            "// family: coo\n",
            "My CSR.cu, line 2: family is `coo`: expected one of csr, ell, ell-column-major, hll, hll-column-major",
        ),
        (
            "// family: csr\n",
            "My CSR.cu: the header has no mapping: expected a line `// mapping: …` with one of \
             thread-per-row, warp-per-row",
        ),
        (
            "// family: csr\n// mapping: thread-per-hack\n",
            "My CSR.cu, line 3: mapping is `thread-per-hack`: expected one of thread-per-row, warp-per-row",
        ),
        ("// family: csr\n// family: ell\n", "My CSR.cu, line 3: family is given twice"),
        (
            "// family: csr\n// mapping: warp-per-row\n// shared: 50000\n",
            "My CSR.cu, line 4: shared is `50000`: expected a number of bytes up to 49152, or value-per-thread",
        ),
        (
            "// family: csr\n// mapping: warp-per-row\n// block-sizes: 128, 100\n",
            "My CSR.cu, line 4: block-sizes is `128, 100`: expected multiples of 32 up to 1024, separated by commas",
        ),
    ] {
        assert_eq!(wrong(&format!("{mark}{lines}")), sentence);
    }
    for line in ["// threads: 32", "// a kernel of mine"] {
        let said = wrong(&format!("{mark}{line}\n"));
        let text = line.trim_start_matches("// ");
        let begin =
            format!("My CSR.cu, line 2: `{text}` is not a header line: expected KEY: VALUE");
        assert!(said.starts_with(&begin), "{said}");
    }
}

#[test]
fn parameters_that_are_not_those_of_the_family_are_told_by_place_and_type() {
    let wrong = |list: &str| read(&file(HEADER, "f", list)).unwrap_err();
    assert_eq!(
        wrong("u32 rows, real* y"),
        "My CSR.cu, line 5: f has 2 parameters: kernels of family csr take 6: u32 rows, \
         const offset* row_ptr, const u32* col, const real* val, const real* x, real* y"
    );
    for (from, to, place, found) in [
        ("const offset*", "const u32*", 2, "const u32* row_ptr"),
        ("const u32* col", "u32* col", 3, "u32* col"),
        ("const u32* col", "const int*   col", 3, "const int* col"),
        ("real* y", "const real* y", 6, "const real* y"),
    ] {
        let list = match place {
            6 => LIST.replacen(", real* y", ", const real* y", 1),
            _ => LIST.replacen(from, to, 1),
        };
        let said = wrong(&list);
        let begin = format!(
            "My CSR.cu, line 5: parameter {place} of f is `{found}`: kernels of family csr take"
        );
        assert!(said.starts_with(&begin), "{said}");
    }
    let mixed = wrong(&LIST.replacen("real", "double", 1));
    assert!(mixed.starts_with("My CSR.cu, line 5: f mixes value types"), "{mixed}");
    let none = read(&format!("{HEADER}__global__ void f({LIST}) {{}}")).unwrap_err();
    assert!(none.starts_with("My CSR.cu has no kernel function with C linkage"), "{none}");
    let twice = format!("{}{}", file(HEADER, "f", LIST), file("", "F", LIST));
    assert!(read(&twice).unwrap_err().contains("two functions with the id user/my-csr/f"));
}

#[test]
fn what_is_no_text_or_too_long_is_refused() {
    let said = |file: &str, content: &[u8]| user_kernels(file, content).unwrap_err().to_string();
    assert_eq!(said("a.cu", &[0xff]), "a.cu is not UTF-8 text");
    assert_eq!(said("a.cu", b"// \0"), "a.cu is not UTF-8 text");
    let long = vec![b'/'; MOST_SOURCE_BYTES + 1];
    assert_eq!(said("a.cu", &long), "a.cu has 65537 bytes: a kernel source may have at most 65536");
    assert!(said("a\".cu", b"").contains("rename the file"));
    for broken in ["/*", "//", "\"", "__global__", "extern \"C\" __global__ void f(", "é/\"é"] {
        read(&format!("{HEADER}{broken}")).unwrap_err();
    }
}

#[test]
fn ids_of_users_are_no_ids_of_ours() {
    let text = file(HEADER, "f", LIST);
    for (name, id) in [
        ("ABC.v2.cu", "user/abc.v2/f"),
        ("é ü", "user/kernel/f"),
        ("..", "user/kernel/f"),
        ("noextension", "user/noextension/f"),
    ] {
        let kernels = user_kernels(name, text.as_bytes()).unwrap();
        assert_eq!(kernels[0].id, id);
        assert!(is_user_id(id) && kernel(id).is_none());
    }
    assert!(all_kernels().all(|kernel| !is_user_id(kernel.id) && kernel.user.is_none()));
}

#[test]
fn the_example_is_a_kernel() {
    let text = include_str!("../../../../../docs/examples/my-csr.cu");
    let kernels = user_kernels("my-csr.cu", text.as_bytes()).unwrap();
    assert_eq!(
        kernels.iter().map(|kernel| kernel.id).collect::<Vec<_>>(),
        ["user/my-csr/two_sums"]
    );
}
