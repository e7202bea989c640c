#!/usr/bin/env bash
# Unpacks a release archive, which `./dist` makes, in an empty folder, and uses it there: `tests/archive.sh ARCHIVE`.
set -euo pipefail
archive=$(realpath "$1")
quickstart=$(sed -n 's/^cargo run --release -- //p' "$(dirname "${BASH_SOURCE[0]}")/../README.md")
most_bytes=25000000
most_seconds=0.020
unset SPARSESCOPE_WEB
export LC_ALL=C

folder=$(mktemp -d)
server=
finish() {
    [[ -z $server ]] || { kill "$server" && wait "$server"; } || true
    cd /
    rm -rf "$folder"
}
trap finish EXIT

fail() {
    echo "$archive: $*" >&2
    exit 1
}

bytes=$(wc -c <"$archive")
((bytes <= most_bytes)) || fail "expected at most $most_bytes bytes, found $bytes"
mkdir "$folder/an ümläut"
cd "$folder/an ümläut"
case $archive in
*.zip) unzip -q "$archive" ;;
*) tar -xzf "$archive" ;;
esac
cd sparsescope-*

for file in README.md LICENSE-MIT LICENSE-APACHE man/man1/sparsescope-bench.1 completions/sparsescope.bash \
    completions/_sparsescope completions/sparsescope.fish completions/_sparsescope.ps1; do
    [[ -s $file ]] || fail "expected the file $file"
done
# Crates of the window and of downloads, which only the feature `full` has.
for crate in egui rustls; do
    grep -q "^$crate [0-9]" notices.txt || fail "notices.txt does not name the crate $crate"
done

./sparsescope --version
TIMEFORMAT=%3R
least=9
for _ in 1 2 3 4 5 6 7 8 9 10; do
    took=$({ time ./sparsescope --version >/dev/null; } 2>&1)
    [[ ! $took < $least ]] || least=$took
done
echo "starts in $least s"
# Git's bash takes longer to start any program of Windows.
[[ $OSTYPE == msys || ! $least > $most_seconds ]] || fail "expected a start in $most_seconds s, took $least s"

echo "$ sparsescope $quickstart"
# shellcheck disable=SC2086 # words of a command
./sparsescope $quickstart
bundle=$(ls sparsescope-*.zip)
./sparsescope export "$bundle" --html viewer.html
./sparsescope serve "$bundle" >address &
server=$!
for _ in $(seq 100); do
    [[ ! -s address ]] || break
    sleep 0.1
done
address=$(sed 's,/?.*,,' address)
[[ -n $address ]] || fail "serve has printed no address"
curl -fsS "$address/" -o page.html
grep -q '<title>Sparsescope</title>' page.html || fail "serve shows no page"
curl -fsS "$address/bundles/1/$bundle" | cmp - "$bundle"
echo "$(basename "$archive"): $bytes bytes, works"
