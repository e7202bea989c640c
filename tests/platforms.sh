#!/usr/bin/env bash
# Tests here what is built for other systems: `tests/platforms.sh [--build] [PART]...`, by default all parts. With
# `--build` it only builds what `arm`, `windows` and `macos` need.
#   arm      for Linux on ARM: the commands of the program, in QEMU
#   windows  the commands of the program, in Wine
#   tests    with `arm` also the tests of vectors, with `windows` those of files, memory and threads
#   macos    the program is compiled for both kinds of Mac; nothing is linked or run
#   glibc    the release program, linked as for a release, needs no glibc newer than 2.28
#   window   the program with its window is compiled for Windows and both kinds of Mac; nothing is linked or run
# It needs rustup, of Debian gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user for `arm`, gcc-mingw-w64-x86-64
# and wine64 for `windows`, curl for both, and of PyPI what .ci/release.txt names for `glibc`. Emulators say nothing
# about speed.
set -euo pipefail
exec </dev/null
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C.UTF-8 # Wine reads the names of files in it
export CARGO_INCREMENTAL=0
unset "${!SPARSESCOPE_@}" # what is installed here is of this system
arm=aarch64-unknown-linux-gnu
windows=x86_64-pc-windows-gnu
macs=(aarch64-apple-darwin x86_64-apple-darwin)
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
in_qemu=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
in_wine=("$(command -v wine64 || echo /usr/lib/wine/wine64)")

only_builds=false
if [[ ${1:-} == --build ]]; then
    only_builds=true
    shift
fi
parts=("$@")
((${#parts[@]})) || parts=(arm windows tests macos glibc window)

# Building takes longer than the tests. Level 0 is built a little sooner, but too slow in QEMU.
quickly=(--locked --config profile.dev.debug=false)
for crate in bench bundle kernels matrix model record; do
    quickly+=(--config "profile.dev.package.sparsescope-$crate.opt-level=1")
done
quickly+=(--config profile.dev.package.sparsescope-figures.opt-level=0)

folder=$(mktemp -d)
finish() {
    local status=$? jobs
    jobs=$(jobs -p)
    # shellcheck disable=SC2086 # numbers
    [[ -z $jobs ]] || kill $jobs || true
    [[ ! -d $folder/wine ]] || "${in_wine[@]}" wineboot --kill >/dev/null 2>&1 || true
    rm -rf "$folder"
    ((status == 0)) || echo "platforms: failed in: $current" >&2
}
trap finish EXIT

current="the start"
timed() {
    local what=$1 start=$SECONDS
    current=$what
    shift
    "$@"
    echo "    $what: $((SECONDS - start)) s"
}

# Also shows what the last command printed.
fail() {
    [[ ! -s printed ]] || cat printed >&2
    echo "platforms: $*" >&2
    exit 1
}

# Whether the part $1 is asked for.
asked() {
    [[ " ${parts[*]} " == *" $1 "* ]]
}

targets() {
    local target
    for target in "$@"; do
        [[ -d $(rustc --print target-libdir --target "$target") ]] || rustup target add "$target"
    done
}

# ---- Wine ---------------------------------------------------------------------------------------

# A Windows of Wine in which Rust's programs start: they take random numbers from a function that Wine 8 lacks.
wine_prefix() {
    "${in_wine[@]}" wineboot --init >/dev/null 2>&1 || fail "wineboot failed"
    x86_64-w64-mingw32-gcc -O2 -shared -x c - -ladvapi32 \
        -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG bytes);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T bytes) {
    return SystemFunction036(buffer, (ULONG)bytes);
}
C
}

# A program that keeps the file of its first argument open until its input ends, as other programs do: they share it
# with readers, and nobody can replace it.
holder() {
    x86_64-w64-mingw32-gcc -O2 -municode -x c - -o "$folder/hold.exe" <<'C'
#include <stdio.h>
#include <windows.h>
int wmain(int count, wchar_t **arguments) {
    HANDLE file = CreateFileW(arguments[1], GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    puts(count == 2 && file != INVALID_HANDLE_VALUE ? "held" : "not held");
    fflush(stdout);
    getchar();
    return 0;
}
C
}

# ---- the program --------------------------------------------------------------------------------

# Builds the program for all targets at once: the crates of one wait for each other.
build_programs() {
    local options=()
    ! asked arm || options+=(--target "$arm")
    ! asked windows || options+=(--target "$windows")
    cargo build "${quickly[@]}" -p sparsescope --message-format=json-render-diagnostics "${options[@]}" \
        >"$folder/messages"
}

# The path of the program for the target $1.
program() {
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' "$folder/messages" | grep -F "/$1/"
}

# Fails unless the command exits with $1.
exits() {
    local expected=$1 found=0
    shift
    "$@" >printed 2>&1 || found=$?
    ((found == expected)) || fail "expected the exit code $expected, found $found, of: $*"
}

# Fails unless the command prints $1.
prints() {
    says "$1" 0 "${@:2}"
}

# Fails unless the command prints $1 and exits with $2.
says() {
    local text=$1
    shift
    exits "$@"
    grep -q -- "$text" printed || fail "expected '$text' from: ${*:2}"
}

# Waits for the text $2 in the file $1.
appears() {
    for _ in $(seq 2000); do
        ! grep -qs "$2" "$1" || return 0
        sleep 0.1
    done
    fail "expected $2 in $1 within 200 s"
}

# Uses the program $@ without pictures, in an empty folder whose name has a space and letters beyond ASCII. A 5-point
# stencil on 20 × 20 points has 5·400 − 4·20 nonzeros.
commands() {
    mkdir "$folder/an ümläut $current"
    cd "$folder/an ümläut $current"
    prints '^sparsescope [0-9]' "$@" --version
    exits 0 "$@" generate 'poisson2d?n=20' -o 'Größe 1.mtx'
    prints '\b1920\b' "$@" info 'Größe 1.mtx' --json
    exits 0 "$@" convert 'Größe 1.mtx' 'Größe 1.npz'
    prints '\b1920\b' "$@" info 'Größe 1.npz' --json
    exits 0 "$@" spmv 'Größe 1.npz' -o 'y 1.mtx'
    exits 0 "$@" spmv 'Größe 1.mtx' --kernel cpu/csr/simd --expect 'y 1.mtx' --tol 1e-12
    exits 0 "$@" spmm 'Größe 1.mtx' -o 'Y 1.npy'
    prints '^check *pass' "$@" symgs 'Größe 1.mtx' -o 'x 1.mtx'
    prints '^check *pass' "$@" solve 'Größe 1.mtx' --precond jacobi
    exits 0 "$@" skyline 'gen:points-anticorrelated?n=1000&d=3' -o 'best.csv'
    prints cpu/csr/simd "$@" kernels
    prints '^SIMD' "$@" devices --threads 1
    grep '^SIMD' printed
    local bench=(bench 'Größe 1.mtx' --backend cpu --runs 2 --no-report -q -o 'Läufe 1.zip')
    prints ': 1[0-9] passed the check' "$@" "${bench[@]}" --threads 2
    exits 1 "$@" "${bench[@]}" --kernels 'cpu/csr/*'
    exits 0 "$@" "${bench[@]}" --kernels 'cpu/csr/*' --threads 1 --force
    interrupted "$@"
    exits 0 "$@" export 'Läufe 1.zip' --csv 'Läufe 1.csv'
    grep -q 'cpu/csr/simd' 'Läufe 1.csv'
    exits 0 "$@" compare 'Läufe 1.zip' 'Läufe 1.zip'
    exits 0 "$@" merge 'Läufe 1.zip' 'Strg C.zip' --prefer last -o 'beide.zip'
    exits 0 "$@" track add 'Läufe 1.zip' --to 'Verlauf 1'
    exits 0 "$@" track check 'Läufe 1.zip' --against 'Verlauf 1'
    exits 0 "$@" man 'Seiten 1'
    prints sparsescope "$@" completions powershell
    left_out "$@"
    exits 1 "$@" info 'none.mtx'
    exits 2 "$@" info --none
    served "$@"
    local left
    left=$(find . -name '*.partial.jsonl' -o -name '.sparsescope-*')
    [[ -z $left ]] || fail "expected no journal and no unfinished file, found $left"
    cd "$OLDPWD"
}

# What the build of these tests leaves out is a sentence that names the feature.
left_out() {
    printf '\x89HDF\r\n\x1a\n' >leer.h5
    says 'build with --features hdf5' 1 "$@" info leer.h5
    says '`--features fetch`' 1 "$@" fetch cant
    says '`--features gui`' 1 "$@" view 'Läufe 1.zip'
    says '`--features mpi`' 2 "$@" bench 'Größe 1.mtx' --kernels 'mpi/*' -o none.zip
    says '`--features wgpu`' 1 "$@" bench 'Größe 1.mtx' --backend wgpu -o none.zip
    prints '--features faer' "$@" bench --operation batched-dense 'gen:spd-batch?n=4&count=9' \
        --kernels 'cpu/dense/gauss,vendor/faer/cholesky' --threads 1 --runs 2 --no-report -q -o dense.zip
}

# Ctrl-C while the second matrix is measured. The exit code is 130 on every system.
interrupted() {
    local found=0
    "$@" bench 'Größe 1.mtx' 'gen:poisson2d?n=300' --kernels 'cpu/csr/{serial,rows}' --threads 1 --runs 20000 \
        --warmup 0 --no-report -q -o 'Strg C.zip' >printed 2>&1 &
    appears 'Strg C.zip.partial.jsonl' '"samples"'
    kill -INT $!
    wait $! || found=$?
    ((found == 130)) || fail "Ctrl-C: expected the exit code 130, found $found"
    [[ -s 'Strg C.zip' && ! -e 'Strg C.zip.partial.jsonl' ]] || fail "Ctrl-C: expected a bundle and no journal"
}

# A page and a bundle of a path with letters beyond ASCII, from the program's own server.
served() {
    local address pid
    mkdir 'Seite 1'
    echo 'a page' >'Seite 1/index.html'
    SPARSESCOPE_WEB='Seite 1' "$@" serve 'Läufe 1.zip' >address &
    pid=$!
    appears address http
    address=$(sed 's,/?.*,,' address | tr -d '\r')
    curl -fsS --noproxy '*' "$address/" | grep -q 'a page'
    curl -fsS --noproxy '*' "$address/bundles/1/L%C3%A4ufe%201.zip" | cmp - 'Läufe 1.zip'
    kill "$pid"
    wait "$pid" || true
}

# The commands with pictures, after the others: at level 0 a picture takes a second, and in QEMU too long.
pictures() {
    cd "$folder/an ümläut $current"
    exits 0 "$@" export 'Läufe 1.zip' --report 'Läufe 1.html'
    exits 0 "$@" export 'Läufe 1.zip' --chart roofline --svg 'Bild 1.svg'
    exits 0 "$@" export 'Läufe 1.zip' --chart roofline --pdf 'Bild 1.pdf'
    says '`--features png`' 1 "$@" export 'Läufe 1.zip' --chart roofline --png 'Bild 1.png'
    exits 0 "$@" track report 'Verlauf 1' -o 'Verlauf 1.html'
    exits 0 "$@" board 'Verlauf 1'
    cd "$OLDPWD"
}

# Every command but view.
all_commands() {
    commands "$@"
    pictures "$@"
}

# ---- the parts ----------------------------------------------------------------------------------

arm_tests() {
    # Those of skylines take minutes in QEMU, and have no vectors of ARM.
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="${in_qemu[*]}" \
        cargo test "${quickly[@]}" --target "$arm" -p sparsescope-kernels --lib -- spmv:: spmm:: dense::tests::
}

on_arm() {
    timed "the program for ARM" commands "${in_qemu[@]}" "$(program "$arm")"
    ! asked tests || timed "tests of vectors for ARM" arm_tests
}

# What reads the system or its files. The rest computes the same everywhere.
windows_tests() {
    local tests=(files::tests io::atomic io::open io::unpack memory:: parallel:: measure:: libraries:: mkl::)
    CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=${in_wine[*]} cargo test "${quickly[@]}" --target "$windows" \
        -p sparsescope-matrix -p sparsescope-bench --lib --no-fail-fast -- "${tests[@]}"
}

# All matrices of the suite `mini`, made small.
windows_mini() {
    cat >"mini small.txt" <<'SUITE'
gen:poisson2d?n=20
gen:stencil27?n=6
gen:fem-hex?n=4&dof=3
gen:banded?m=500&half=50&row=20
gen:random?m=1000&row=10
gen:powerlaw?m=2000&nnz=7000&max=250
gen:road?m=3000
gen:circuit?m=1168&nnz=7663&dense=1141
gen:kkt?n=4
gen:diagonal?m=1000
SUITE
    prints 'runs on 10 matrices: .* passed the check' \
        "$@" bench --suite 'mini small.txt' --backend cpu --threads 2 --runs 2 --warmup 0 --no-report -q -o mini.zip
    if grep 'failed' printed; then
        fail "expected no failed run"
    fi
}

# A bundle that another program has open is not replaced, and no run is lost.
windows_locked() {
    local bench=("$@" bench 'gen:poisson2d?n=20' --kernels cpu/csr/serial --runs 2 --no-report -q -o open.zip) holder
    exits 0 "${bench[@]}"
    cp open.zip before.zip
    mkfifo input
    "${in_wine[@]}" "$folder/hold.exe" open.zip <input >held &
    holder=$!
    exec 3>input
    appears held '^held'
    exits 1 "${bench[@]}" --force 3>&-
    cmp open.zip before.zip
    exec 3>&-
    wait "$holder"
    mv open.zip.partial.jsonl rest.zip.partial.jsonl
    exits 0 "$@" bench --resume rest.zip --no-report -q
    [[ -s rest.zip && ! -e rest.zip.partial.jsonl ]] || fail "expected a bundle of the runs in the journal"
}

on_windows() {
    local program
    program=$(program "$windows")
    wait "$prefix"
    timed "the program for Windows" all_commands "${in_wine[@]}" "$program"
    cd "$folder"
    timed "the suite mini for Windows" windows_mini "${in_wine[@]}" "$program"
    timed "open files for Windows" windows_locked "${in_wine[@]}" "$program"
    cd "$OLDPWD"
    ! asked tests || timed "tests for Windows" windows_tests
}

on_macos() {
    cargo check "${quickly[@]}" -p sparsescope "${macs[@]/#/--target=}"
}

# Without the feature `fetch`, whose TLS has parts in C, which need Apple's SDK.
on_window() {
    local targets=("$windows" "${macs[@]}")
    cargo check "${quickly[@]}" -p sparsescope --features faer,gui,hdf5,png,wgpu "${targets[@]/#/--target=}"
}

# `cargo zigbuild` would build all crates again, which are the same: only the linker knows the version of glibc.
on_glibc() {
    local program newest
    printf '#!/bin/sh\nexec cargo-zigbuild zig cc -- -target x86_64-linux-gnu.2.28 "$@"\n' >"$folder/linker"
    chmod +x "$folder/linker"
    cargo rustc --locked --release -p sparsescope --bin sparsescope --message-format=json-render-diagnostics -- \
        -C linker="$folder/linker" >"$folder/messages"
    program=$(program release)
    newest=$(objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
    [[ $(printf '%s\n' "$newest" GLIBC_2.28 | sort -V | tail -n 1) == GLIBC_2.28 ]] ||
        fail "expected functions of glibc 2.28 or older, found $newest in $program"
    echo "$newest"
    timed "the program for glibc 2.28" all_commands "$program"
}

for part in "${parts[@]}"; do
    case $part in
    arm) targets "$arm" ;;
    windows)
        targets "$windows"
        ! $only_builds || continue
        export WINEPREFIX=$folder/wine WINEDEBUG=-all
        holder
        wine_prefix &
        prefix=$!
        ;;
    macos) targets "${macs[@]}" ;;
    glibc | tests) ;;
    window) targets "$windows" "${macs[@]}" ;;
    *) fail "expected arm, windows, tests, macos, glibc or window, found $part" ;;
    esac
done
! asked tests || asked arm || asked windows || fail "the part tests needs arm or windows"
if asked arm || asked windows; then
    timed "building the program" build_programs
fi
if $only_builds; then
    ! asked macos || on_macos
    exit
fi
for part in "${parts[@]}"; do
    [[ $part == tests ]] || timed "$part" "on_$part"
done
