#!/usr/bin/env bash
# Builds the wheel, installs it in a new virtual environment, and uses it from another folder: README's quickstart, the
# tests, the types and the tour. The packages that pyproject.toml lists are installed while the wheel is built; a test
# then compares them with those that the wheel requires. With `web/dist`, which `cargo web` makes, the viewer is in the
# wheel, and with Chromium and `npm ci` in tests/browser it is tried in JupyterLab. Arguments go to maturin.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD folder=$(mktemp -d)
trap 'wait; rm -rf "$folder" "$root/python/sparsescope/web"' EXIT
most_bytes=25000000

rm -rf python/sparsescope/web
[[ ! -d web/dist ]] || cp -r web/dist python/sparsescope/web

# Compiled when they are imported: most of what is installed never is.
install=("$folder/venv/bin/pip" install -q --disable-pip-version-check --no-compile)

# With Python 3.10, which cannot read pyproject.toml, they are installed with the wheel, and nothing is compared.
packages() {
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/python" -c '
import sys
if sys.version_info >= (3, 11):
    import tomllib
    project = tomllib.load(open("python/pyproject.toml", "rb"))["project"]
    print(*project["dependencies"], *project["optional-dependencies"]["test"], sep="\n")
' >"$folder/asked"
    [[ ! -s $folder/asked ]] || "${install[@]}" -r "$folder/asked"
}
packages &
packages=$!

maturin=$(command -v maturin || true)
if [[ -z $maturin || ! $("$maturin" --version) =~ ' 1.'(1[6-9]|[2-9][0-9])\. ]]; then
    python3 -m venv "$folder/build"
    "$folder/build/bin/pip" install -q --disable-pip-version-check 'maturin>=1.16,<2'
    maturin=$folder/build/bin/maturin
fi
"$maturin" build --release -m python/Cargo.toml --out "$folder/dist" "$@"
wheel=$(ls "$folder"/dist/*.whl)
bytes=$(stat -c %s "$wheel" 2>/dev/null || stat -f %z "$wheel")
echo "$(basename "$wheel"): $bytes bytes"
if ((bytes > most_bytes)); then
    echo "the wheel has more than $most_bytes bytes" >&2
    exit 1
fi

wait "$packages"
"${install[@]}" "$wheel[test]"
"$folder/venv/bin/pip" --disable-pip-version-check check
quickstart=$(sed -n 's/^cargo run --release -- //p' README.md)
cp -r python/tests python/examples python/pyproject.toml "$folder"
cd "$folder"
export PATH="$folder/venv/bin:$PATH"
sparsescope info 'gen:poisson2d?n=8' >info.txt
python -m sparsescope info 'gen:poisson2d?n=8' | grep -v '^file' | cmp - <(grep -v '^file' info.txt)
echo "$ sparsescope $quickstart"
# shellcheck disable=SC2086 # words of a command
sparsescope $quickstart
if compgen -G 'venv/lib/python3*/site-packages/sparsescope/web' >/dev/null; then
    sparsescope bench 'gen:diagonal?m=9' --kernels cpu/csr/serial --runs 2 -q -o page.zip >/dev/null
    sparsescope export page.zip --html viewer.html >/dev/null
fi
python -m pytest -q
jupyter nbconvert --to notebook --execute --inplace examples/tour.ipynb
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [[ -f viewer.html && -n $chromium && -d $root/tests/browser/node_modules ]]; then
    "${install[@]}" jupyterlab
    node "$root/tests/browser/notebook.mjs" "$chromium" "$(command -v python)"
else
    echo "not tried in JupyterLab: it needs the viewer, Chromium, and npm ci in tests/browser"
fi
