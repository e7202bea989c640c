#!/usr/bin/env bash
# Checks and measures the GPU of this machine with programs that were built elsewhere; it needs
# neither Rust nor a network.
#
#   cuda-native/gpu-check.sh FOLDER OUT [MATRIX...]
#
# FOLDER holds what `cuda-native/gpu-check.sh build FOLDER` put there on a machine with Rust: the
# program `sparsescope` without a window, the tests `gpu-tests` and the model's `sectors`. OUT gets the
# logs and the bundles.
# MATRIX are further matrices to measure, as `sparsescope bench` takes them.
#
# BENCH_SECONDS (default 600) bounds each measurement; one that is cut short leaves a valid bundle.
# STEPS chooses among: devices correctness sanitizer mini paper scale matrices symgs skyline dense spmm solve setup
# peers nccl sectors (default: all up to spmm; nccl needs several GPUs, sectors needs Nsight Compute and leave to read
# the GPU's counters: it holds the sectors that the model predicts against those counted, on gen:poisson2d?n=300 and
# MATRIX, and writes sectors.csv).
# symgs measures symmetric Gauss-Seidel on what its targets are about and on MATRIX; skyline measures skylines of
# generated points, and of those in the files that POINTS names, separated by spaces; dense solves batches of
# 20 000 systems and those of the suite; spmm multiplies the suites that SUITES names (default: mini) by VECTORS vectors
# (default: 1 to 128) in PRECISIONS (default: f64,f32); setup solves large systems
# with Jacobi and FSAI in HLL and prints the milliseconds of each phase of the setup, and the phase format as a multiple
# of what its bytes take at copy bandwidth; peers measures the suites paper and gpu with cuda/spmv/auto and each
# algorithm of cuSPARSE, which must have SpMVOp (12.8 or newer, see docs/platforms.md). nccl runs what several GPUs
# share on GPUS of them (default: 1 and 2): weak scaling on grids of WEAK x WEAK x WEAK points per GPU (default: 200),
# strong scaling on STRONG x STRONG x STRONG (default: 256).
# BLOCKS are the block sizes (default: the papers'), RUNS the samples of each run, MEMORY what the
# formats of a matrix may take, SPY what the picture of a matrix may. Real matrices of the suites are
# taken from $SPARSESCOPE_MATRICES.
# SPARSESCOPE_REQUIRE names what the tests must find (default: gpu,cusparse; `gpu` where the vendor's
# library is not installed, whose kernels are then skipped). The exit status is 0 only if every step
# passed.
set -uo pipefail

build() {
    local folder=$1 found
    mkdir -p "$folder"
    cargo build --release -p sparsescope --no-default-features --features cuda || return
    found=$(cargo test -p sparsescope-cuda --test gpu --no-run --message-format=json |
        python3 -c 'import json, sys
for line in sys.stdin:
    made = json.loads(line)
    if made.get("executable") and made["target"]["name"] == "gpu":
        print(made["executable"])') || return
    cargo build --release -p sparsescope-core --example sectors || return
    local target=${CARGO_TARGET_DIR:-target}
    strip -o "$folder/sectors" "$target/release/examples/sectors"
    strip -o "$folder/sparsescope" "$target/release/sparsescope"
    strip -o "$folder/gpu-tests" "$found"
}

if [[ ${1:-} == build && $# -eq 2 ]]; then
    build "$2"
    exit
fi
if (($# < 2)); then
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 2
fi

folder=$(cd "$1" && pwd) || exit 2
out=$2
shift 2
mkdir -p "$out"
export SPARSESCOPE_REQUIRE=${SPARSESCOPE_REQUIRE-gpu,cusparse}
failed=()
steps=" ${STEPS:-devices correctness sanitizer mini paper scale matrices symgs skyline dense spmm} "
blocks=${BLOCKS:-32,64,96,128,160}

wanted() {
    [[ $steps == *" $1 "* ]]
}

# Runs a command with its output in a log; the last lines are shown.
step() {
    local name=$1 start=$SECONDS status
    shift
    echo "==> $name"
    "$@" >"$out/$name.log" 2>&1
    status=$?
    tail -n 4 "$out/$name.log" | cut -c1-300
    echo "    $name: exit $status, $((SECONDS - start)) s"
    if ((status != 0)); then
        failed+=("$name")
    fi
    return "$status"
}

bench() {
    local name=$1
    shift
    # Interrupted once (timeout by itself sends the signal to the group too), it still writes what it
    # has, and exits 130.
    timeout --foreground --signal=INT "${BENCH_SECONDS:-600}" "$folder/sparsescope" bench "$@" --backend cpu,cuda \
        --kernels 'cpu/csr/serial,cuda/*/*,vendor/cusparse/*' --block-sizes "$blocks" --cold \
        --runs "${RUNS:-10}" --memory-limit "${MEMORY:-16G}" --spy-bytes "${SPY:-16KiB}" --force -q -o "$out/$name.zip" \
        --csv "$out/$name.csv"
    local status=$?
    ((status == 0 || status == 130 || status == 124))
}

if wanted devices; then
    step devices "$folder/sparsescope" devices --threads 1
    step kernels "$folder/sparsescope" kernels
fi
if wanted correctness; then
    step correctness "$folder/gpu-tests" --test-threads=1
fi

sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if ! wanted sanitizer; then
    :
elif [[ -x $sanitizer ]]; then
    # Races are looked for in our kernels alone: cuSPARSE 12.6's CSR kernel is reported to write
    # one place of shared memory from several threads.
    checked() {
        step "$1-$2" timeout 900 "$sanitizer" --tool "$1" --error-exitcode 9 --print-limit 20 \
            "$folder/gpu-tests" --test-threads=1 "$2"
    }
    checked memcheck kernels_pass_the_gate
    checked racecheck our_kernels_pass_the_gate
    checked memcheck our_spmm_passes_the_gate
    checked memcheck products_that_are_scaled
    # Not for races: watched so closely, threads that wait for others' results do not get on.
    checked memcheck sweeps_pass_the_gate_on_small_matrices
    checked memcheck skylines_of_points_that_break_kernels
    checked racecheck skylines_of_points_that_break_kernels
    checked memcheck our_kernels_solve_systems_of_every_size
    checked racecheck our_kernels_solve_systems_of_every_size
else
    echo "compute-sanitizer is not here: memory accesses and races were not checked" >&2
    failed+=("compute-sanitizer")
fi

for suite in mini paper scale; do
    if wanted "$suite"; then
        step "bench-$suite" bench "$suite" --suite "$suite"
    fi
done
if (($# > 0)) && wanted matrices; then
    step bench-matrices bench matrices "$@"
fi

# Sweeps: every kernel beside the vendor's, in standard mode, f64 but for trees.
sweeps() {
    local name=$1 precision=$2 kernels=$3
    shift 3
    timeout --foreground --signal=INT "${BENCH_SECONDS:-600}" "$folder/sparsescope" bench "$@" \
        --operation symgs --backend cpu,cuda --precision "$precision" \
        --kernels "$kernels" --runs "${RUNS:-10}" \
        --memory-limit "${MEMORY:-64G}" --spy-bytes 0 --force -q -o "$out/$name.zip" --csv "$out/$name.csv"
    local status=$?
    ((status == 0 || status == 130 || status == 124))
}
if wanted symgs; then
    # The report's passes take minutes where there are thousands of them over millions of rows.
    few='cpu/symgs/serial,cuda/symgs/levels,cuda/symgs/sync-free,cuda/symgs/nodes,cuda/symgs/colored,vendor/cusparse/*'
    all='cpu/symgs/serial,cuda/symgs/*,vendor/cusparse/*'
    step symgs-trees sweeps symgs-trees f32 "$all" 'gen:kmer?m=51813503'
    step symgs-near sweeps symgs-near f32 "$few" 'gen:kmer?m=5000000&near=100'
    step symgs-grids sweeps symgs-grids f64 "$all" 'gen:stencil7?n=128' 'gen:stencil27?n=104'
    step symgs-nodes sweeps symgs-nodes f64 "$few" 'gen:fem-hex?n=50&dof=3&dominant=1' 'gen:fem-hex?n=50&dominant=1' "$@"
    step symgs-cube sweeps symgs-cube f64 "$few" 'gen:stencil27?n=256'
fi

# Skylines: the report's kernels beside the fast one, which alone takes the large sets.
skylines() {
    local name=$1 kernels=$2
    shift 2
    timeout --foreground --signal=INT "${BENCH_SECONDS:-600}" "$folder/sparsescope" bench "$@" \
        --operation skyline --backend cpu,cuda --kernels "$kernels" --runs "${RUNS:-10}" \
        --memory-limit "${MEMORY:-64G}" --force -q -o "$out/$name.zip" --csv "$out/$name.csv"
    local status=$?
    ((status == 0 || status == 130 || status == 124))
}
if wanted skyline; then
    step skyline-all skylines skyline-all 'cpu/skyline/fast,cuda/skyline/*' \
        gen:points-{independent,correlated,anticorrelated}'?n=100000&d=8'
    step skyline-large skylines skyline-large 'cpu/skyline/fast,cuda/skyline/fast' \
        gen:points-{independent,correlated,anticorrelated}'?n=1000000&d=8'
    if [[ -n ${POINTS:-} ]]; then
        # shellcheck disable=SC2086 # several names
        step skyline-files skylines skyline-files 'cpu/skyline/fast,cuda/skyline/*' $POINTS
    fi
fi

# Batches of dense systems: the thesis's elimination and ours beside the libraries.
if wanted dense; then
    batches() {
        local name=$1
        shift
        timeout --foreground --signal=INT "${BENCH_SECONDS:-600}" "$folder/sparsescope" bench "$@" \
            --operation batched-dense --backend cpu,cuda \
            --kernels "${KERNELS:-cpu/dense/*,cuda/dense/*,vendor/cu*/dense}" --runs "${RUNS:-10}" \
            --memory-limit "${MEMORY:-64G}" --force -q -o "$out/$name.zip" --csv "$out/$name.csv"
        local status=$?
        ((status == 0 || status == 130 || status == 124))
    }
    step dense-thesis batches dense-thesis --suite thesis-batches
    step dense-suite batches dense-suite --suite batches --rhs last-unit,random
fi

# Several vectors: ours beside the library.
if wanted spmm; then
    vectors() {
        timeout --foreground --signal=INT "${BENCH_SECONDS:-600}" "$folder/sparsescope" bench \
            --suite "$1" --operation spmm --backend cuda --vectors "${VECTORS:-1,2,4,8,16,32,64,128}" \
            --precision "${PRECISIONS:-f64,f32}" --runs "${RUNS:-10}" --memory-limit "${MEMORY:-64G}" --spy-bytes 0 \
            --force -q -o "$out/spmm-$1.zip" --csv "$out/spmm-$1.csv"
        local status=$?
        ((status == 0 || status == 130 || status == 124))
    }
    for suite in ${SUITES:-mini}; do
        step "spmm-$suite" vectors "$suite"
    done
fi

# Solves: ours in each format beside the vendor's libraries, which the CPU sets up.
if wanted solve; then
    step solve-thesis timeout --foreground --signal=INT "${BENCH_SECONDS:-600}" "$folder/sparsescope" bench \
        suite:Cubo_4 suite:Emilia_grande --operation solve --backend cuda --precond none,jacobi,fsai --power 1 \
        --x0 precond --format-a csr,hyb,hll --format-g csr,hyb,hll --runs "${RUNS:-10}" \
        --memory-limit "${MEMORY:-64G}" --spy-bytes 0 --force -q -o "$out/solve.zip" --csv "$out/solve.csv"
fi

# Setups of large systems by phase. G and its transpose are each read and written (12 bytes per nonzero), and their
# columns are read twice and written as distances (10).
phases() {
    timeout --foreground --signal=INT "${BENCH_SECONDS:-600}" "$folder/sparsescope" bench \
        'gen:fem-hex?n=60&dof=3&dominant=1' 'gen:stencil27?n=140' --operation solve --backend cuda \
        --kernels 'cuda/pcg/device,vendor/cusparse/pcg' --precond jacobi,fsai --power 1 --format-a hll --format-g hll \
        --runs "${RUNS:-10}" --memory-limit "${MEMORY:-64G}" --spy-bytes 0 --force -q -o "$out/setup.zip" || return
    python3 - "$out/setup.zip" <<'END'
import json, sys, zipfile
bundle = zipfile.ZipFile(sys.argv[1])
copy = json.loads(bundle.read("environment.json"))["environments"][0]["gpus"][0]["copy"]
for run in json.loads(bundle.read("runs.json"))["runs"]:
    solve = run.get("solve")
    if not solve:
        print(run["matrix"], run["kernel"], run["check"])
        continue
    phases = {phase["name"]: 1e3 * phase["seconds"] for phase in solve.get("phases", [])}
    text = ", ".join(f"{name} {ms:.3f}" for name, ms in phases.items())
    if "format" in phases and "hll" == run["params"].get("format_g"):
        least = 2 * 34 * solve["sizes"]["factor"] / copy * 1e3
        text += f"; format is {phases['format'] / least:.1f} times its bytes"
    print(run["matrix"], run["kernel"], run["params"]["precond"], f"setup {1e3 * solve.get('setup_s', 0):.1f} ms:", text)
END
}
if wanted setup; then
    step setup phases
fi

# SpMV beside every algorithm of the vendor's, SpMVOp included.
peers() {
    local name=$1
    shift
    "$folder/sparsescope" kernels --json | python3 -c 'import json, sys
op = [k for k in json.load(sys.stdin) if k["id"].startswith("vendor/cusparse/op")]
missing = [k["id"] + ": " + k["reason"] for k in op if not k["available"]]
sys.exit("\n".join(missing) or 0)' || return
    timeout --foreground --signal=INT "${BENCH_SECONDS:-600}" "$folder/sparsescope" bench "$@" --backend cuda \
        --kernels 'cuda/spmv/auto,vendor/cusparse/*' --compact on,off --block-sizes 256 --cold --runs "${RUNS:-10}" \
        --memory-limit "${MEMORY:-64G}" --spy-bytes 0 --force -q -o "$out/$name.zip" --csv "$out/$name.csv"
    local status=$?
    ((status == 0 || status == 130 || status == 124))
}
if wanted peers; then
    step peers-paper peers peers-paper --suite paper
    step peers-gpu peers peers-gpu --suite gpu
    (($# == 0)) || step peers-matrices peers peers-matrices "$@"
fi

# Several GPUs through NCCL, which is looked for where Python packages put it, too.
together() {
    local name=$1
    shift
    timeout --foreground --signal=INT "${BENCH_SECONDS:-600}" "$folder/sparsescope" bench "$@" \
        --kernels 'nccl/*/*' --runs "${RUNS:-10}" --memory-limit "${MEMORY:-200G}" --spy-bytes 0 --force -q \
        -o "$out/$name.zip" --csv "$out/$name.csv"
    local status=$?
    ((status == 0 || status == 130 || status == 124))
}
if wanted nccl; then
    nccl=$(python3 -c 'import glob, os, sys
for folder in sys.path:
    for found in glob.glob(os.path.join(folder, "nvidia/nccl/lib")):
        print(found)' 2>/dev/null | head -n 1)
    [[ -n $nccl ]] && export SPARSESCOPE_CUDA_LIBRARIES=${SPARSESCOPE_CUDA_LIBRARIES:+$SPARSESCOPE_CUDA_LIBRARIES:}$nccl
    SPARSESCOPE_REQUIRE=gpu,nccl step nccl-correctness timeout 300 "$folder/gpu-tests" --test-threads=1 several::
    if wanted sanitizer && [[ -x $sanitizer ]]; then
        step nccl-memcheck timeout 900 "$sanitizer" --tool memcheck --error-exitcode 9 --print-limit 20 \
            "$folder/gpu-tests" --test-threads=1 several::products_on_several_gpus_pass
    fi
    step nccl-devices "$folder/sparsescope" devices --threads 1
    gpus=${GPUS:-1 2} weak=${WEAK:-200} strong=${STRONG:-256}
    for count in $gpus; do
        grid="gen:stencil27?n=$weak&nz=$((weak * count))"
        step "nccl-weak-$count" together "nccl-weak-$count" "$grid" --gpus "$count"
        step "nccl-weak-solve-$count" together "nccl-weak-solve-$count" "$grid" --gpus "$count" \
            --operation solve --precond jacobi
    done
    grid="gen:stencil27?n=$strong"
    step nccl-strong together nccl-strong "$grid" --gpus "${gpus// /,}"
    step nccl-strong-solve together nccl-strong-solve "$grid" --gpus "${gpus// /,}" --operation solve \
        --precond jacobi
fi

# What the model predicts beside what Nsight Compute counts. The program launches its product once; a
# kernel's function is named as its id, some with the form of what they read after it.
counter=l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
sectors() {
    local ncu matrix kernel name predicted counted off=0
    ncu=$(command -v ncu || echo /usr/local/cuda/bin/ncu)
    "$ncu" --version || return
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    echo "matrix,kernel,block,sectors,predicted" >"$out/sectors.csv"
    for matrix in "$@"; do
        "$folder/sectors" "$matrix" 128 >"$out/model.csv" || return
        while IFS=, read -r kernel _ predicted; do
            name=${kernel#cuda/}
            name=${name//[\/-]/_}
            counted=$("$ncu" --clock-control none --metrics "$counter" --csv \
                --kernel-name "regex:^${name}(_|\$)" --launch-count 1 "$folder/sparsescope" spmv "$matrix" --kernel "$kernel" \
                --block-size 128 -q -o "$out/y.mtx" --force |
                awk -F'","' -v counter="$counter" 'index($0, counter) {
                    gsub(/[",]/, "", $NF); print $NF; exit
                }')
            echo "$matrix,$kernel,128,$counted,$predicted" | tee -a "$out/sectors.csv"
            # Within 2 %, and something was counted.
            awk -v a="$counted" -v b="$predicted" \
                'BEGIN { d = a - b; exit !(a > 0 && d * d <= (0.02 * a) ^ 2) }' || off=1
        done < <(awk -F, '$3 == "Rows" && $4 == "all" && $1 != "cuda/hyb/ell-coo" { print $1 "," $2 "," $6 }' \
            "$out/model.csv")
    done
    return "$off"
}
if wanted sectors; then
    step sectors sectors 'gen:poisson2d?n=300' "$@"
fi

if ((${#failed[@]} > 0)); then
    echo "failed: ${failed[*]}"
    exit 1
fi
echo "every step passed"
