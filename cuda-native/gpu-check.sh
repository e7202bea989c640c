#!/usr/bin/env bash
# Checks and measures the GPU of this machine with programs that were built elsewhere; it needs
# neither Rust nor a network.
#
#   cuda-native/gpu-check.sh FOLDER OUT [MATRIX...]
#
# FOLDER holds what `cuda-native/gpu-check.sh build FOLDER` put there on a machine with Rust: the
# program `sparsescope` without a window and the tests `gpu-tests`. OUT gets the logs and the bundles.
# MATRIX are further matrices to measure, as `sparsescope bench` takes them.
#
# BENCH_SECONDS (default 600) bounds each measurement; one that is cut short leaves a valid bundle.
# STEPS chooses among: devices correctness sanitizer mini paper scale matrices (default: all).
# BLOCKS are the block sizes (default: the papers'), RUNS the samples of each run, MEMORY what the
# formats of a matrix may take, SPY what the picture of a matrix may. Real matrices of the suites are
# taken from $SPARSESCOPE_MATRICES.
# The exit status is 0 only if every step passed.
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
    local target=${CARGO_TARGET_DIR:-target}
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
export SPARSESCOPE_REQUIRE=gpu
failed=()
steps=" ${STEPS:-devices correctness sanitizer mini paper scale matrices} "
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
    # Interrupted, it still writes what it has, and exits 130.
    timeout --signal=INT "${BENCH_SECONDS:-600}" "$folder/sparsescope" bench "$@" --backend cpu,cuda \
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
        step "$1" timeout 900 "$sanitizer" --tool "$1" --error-exitcode 9 --print-limit 20 \
            "$folder/gpu-tests" --test-threads=1 "$2"
    }
    checked memcheck kernels_pass_the_gate
    checked racecheck our_kernels_pass_the_gate
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

if ((${#failed[@]} > 0)); then
    echo "failed: ${failed[*]}"
    exit 1
fi
echo "every step passed"
