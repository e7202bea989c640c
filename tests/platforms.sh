#!/usr/bin/env bash
# Runs on this machine what is built for others: `tests/platforms.sh [arm] [windows]`, both by default.
#   arm      the tests of the kernels, with NEON, in QEMU
#   windows  the tests of the core and the commands of the program, in Wine
# It needs rustup, and of Debian gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user, or gcc-mingw-w64-x86-64 and
# wine64. Neither emulator says anything about speed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C.UTF-8 # Wine reads the names of files in it
arm=aarch64-unknown-linux-gnu
windows=x86_64-pc-windows-gnu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

has_target() {
    [[ -d $(rustc --print target-libdir --target "$1") ]] || rustup target add "$1"
}

on_arm() {
    has_target "$arm"
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    cargo test --locked --target "$arm" -p sparsescope-kernels --lib
    cargo test --locked --target "$arm" -p sparsescope-core --test properties formats::
}

# A Windows of Wine in which Rust's programs start: they take random numbers from a function that Wine 8 lacks.
wine_prefix() {
    export WINEPREFIX=$folder/wine WINEDEBUG=-all
    wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
    "$wine" wineboot --init >/dev/null 2>&1
    x86_64-w64-mingw32-gcc -O2 -shared -x c - -ladvapi32 \
        -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG bytes);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T bytes) {
    return SystemFunction036(buffer, (ULONG)bytes);
}
C
}

on_windows() {
    has_target "$windows"
    wine_prefix
    export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=$wine
    local crate packages=()
    for crate in matrix record kernels bundle model bench; do
        packages+=(-p "sparsescope-$crate")
    done
    cargo test --locked --target "$windows" "${packages[@]}" --lib --no-fail-fast
    cargo test --locked --target "$windows" -p sparsescope-core --test properties
    local messages program
    messages=$(cargo build --locked --target "$windows" -p sparsescope --message-format=json-render-diagnostics)
    program=$(sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' <<<"$messages")
    mkdir "$folder/an ümläut"
    (cd "$folder/an ümläut" && commands "$wine" "$program")
}

# The exit code of a command, whose output is not of interest.
code() {
    local code=0
    "$@" >/dev/null 2>&1 || code=$?
    echo "$code"
}

# Uses the program $@ in this folder. A 5-point stencil on 20 × 20 points has 5·400 − 4·20 nonzeros.
commands() {
    "$@" --version
    "$@" generate 'poisson2d?n=20' -o 'Größe 1.mtx'
    "$@" info 'Größe 1.mtx' --json | grep -qw 1920
    "$@" convert 'Größe 1.mtx' 'Größe 1.npz'
    "$@" info 'Größe 1.npz' --json | grep -qw 1920
    "$@" spmv 'Größe 1.npz' -o 'y 1.mtx'
    "$@" spmv 'Größe 1.mtx' --kernel cpu/csr/simd --expect 'y 1.mtx' --tol 1e-12
    "$@" symgs 'Größe 1.mtx' -o 'x 1.mtx'
    "$@" solve 'Größe 1.mtx' --precond jacobi
    "$@" skyline 'gen:points-anticorrelated?n=1000&d=3' -o 'best.csv'
    "$@" kernels >/dev/null
    "$@" devices --threads 1 >/dev/null
    "$@" bench 'Größe 1.mtx' --backend cpu --threads 2 --runs 3 -q -o 'Läufe 1.zip' >/dev/null
    [[ $(code "$@" bench 'Größe 1.mtx' --runs 3 -q -o 'Läufe 1.zip') == 1 ]]
    "$@" bench 'Größe 1.mtx' --backend cpu --threads 2 --runs 3 -q -o 'Läufe 1.zip' --force >/dev/null
    "$@" export 'Läufe 1.zip' --csv 'Läufe 1.csv' --report 'Läufe 1.html' --force
    grep -q 'cpu/csr/simd' 'Läufe 1.csv'
    "$@" compare 'Läufe 1.zip' 'Läufe 1.zip' >/dev/null
    [[ ! -e 'Läufe 1.zip.partial.jsonl' ]]
    [[ $(code "$@" info 'none.mtx') == 1 ]]
    [[ $(code "$@" info --none) == 2 ]]
}

for platform in "${@:-arm windows}"; do
    for one in $platform; do
        "on_$one"
    done
done
