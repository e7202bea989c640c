"""Files, errors, measurements and the command line."""

from __future__ import annotations

import copy
import errno
import importlib.metadata
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from packaging.requirements import Requirement

import sparsescope as ss
from sparsescope import _bench, _bundle, _program


def run(*args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, "-m", "sparsescope", *args], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done


def test_a_wrong_file_is_named_with_its_line(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 3\n")
    with pytest.raises(ss.ReadError, match="line 3: expected .*, found") as caught:
        ss.read(path)
    assert (caught.value.path, caught.value.line) == (str(path), 3)
    assert isinstance(caught.value, ValueError)


def test_a_wrong_file_in_an_archive_is_named_with_its_line(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 3\n")
    with pytest.raises(ss.ReadError, match="a.zip: member a/a.mtx, line 3: expected .*, found") as caught:
        ss.read(path)
    assert (caught.value.path, caught.value.line) == (str(path), 3)


def test_a_file_that_does_not_exist_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        ss.read(tmp_path / "none.mtx")
    error, path = caught.value, str(tmp_path / "none.mtx")
    assert isinstance(error, ss.ReadError) and error.line is None
    assert (error.errno, error.filename, error.path) == (errno.ENOENT, path, path)
    assert error.strerror == os.strerror(errno.ENOENT) and path in str(error)
    with pytest.raises(FileNotFoundError, match="^road: cannot open the file: .*did you mean suite:road") as caught:
        ss.read("road")
    assert caught.value.path == "road"


def test_a_bundle_that_does_not_exist_is_named_once(tmp_path):
    path = str(tmp_path / "none.zip")
    with pytest.raises(FileNotFoundError, match="^cannot read .*none.zip: ") as caught:
        ss.open(path)
    assert caught.value.path == path and str(caught.value).count(path) == 1


@pytest.mark.parametrize("name", ["https://example.org/a.mtx", ""])
def test_the_path_of_an_error_is_what_was_given(name):
    with pytest.raises(FileNotFoundError) as caught:
        ss.read(name)
    assert caught.value.path == name


@pytest.mark.skipif(os.name == "nt", reason="names are bytes on POSIX")
def test_names_may_be_bytes_and_need_not_be_utf8(tmp_path):
    folder = os.fsencode(tmp_path)
    with pytest.raises(FileNotFoundError) as caught:
        ss.read(os.path.join(folder, b"\xff.mtx"))
    assert os.fsencode(caught.value.path) == os.path.join(folder, b"\xff.mtx")
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n")
    assert ss.read(os.path.join(folder, b"a.mtx"))[0, 0] == 2.0


def test_a_complex_file_is_no_matrix_here_and_is_named(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 3\n")
    with pytest.raises(ss.ReadError, match="is complex") as caught:
        ss.read(path)
    assert caught.value.path == str(path)


def test_recipes_and_options(tmp_path):
    assert ss.read("gen:poisson2d?n=4").shape == (16, 16)
    path = tmp_path / "edges.txt"
    path.write_text("0 1\n1 2\n")
    assert ss.read(path).nnz == 2
    assert ss.read(path, undirected=True).nnz == 4
    with pytest.raises(TypeError, match="options of files need a file"):
        ss.read("gen:poisson2d?n=4", undirected=True)


def test_info_is_that_of_the_program():
    a = ss.read("gen:poisson2d?n=16")
    found = ss.info(a, name="plane")
    assert (found["rows"], found["cols"], found["nnz"]) == (256, 256, a.nnz)
    assert found["row"]["max"] == 5 and found["lower_bandwidth"] == 16
    assert str(found).startswith("plane\n") and "padding" in str(found)
    assert found.to_dict() == dict(found)


@pytest.mark.parametrize("in_process", [False, True])
def test_a_measurement_is_a_bundle(in_process, tmp_path):
    a = sp.csr_array(np.eye(50))
    b = ss.bench(
        a, kernels=["cpu/csr/serial", "cpu/csr/nnz"], threads=[1], runs=3, name="eye", in_process=in_process
    )
    assert b.complete and len(b) == 2 and b.operations == ["spmv"]
    columns = b.to_dict()
    assert columns["kernel"] == ["cpu/csr/serial", "cpu/csr/nnz"] and columns["nnz"] == [50, 50]
    assert columns["check"] == ["pass", "pass"] and columns["runs"] == [3, 3]
    assert all(seconds > 0 for seconds in columns["median_s"]) and columns["block"] == [None, None]
    (best,) = b.best()
    assert best["kernel"] in columns["kernel"] and best["rate"] > 0
    path = tmp_path / "result.zip"
    b.save(path)
    with pytest.raises(FileExistsError):
        b.save(path)
    assert ss.open(path).to_dict() == columns
    for same in (pickle.loads(pickle.dumps(b)), copy.deepcopy(b)):
        assert same.to_dict() == columns and repr(same) == repr(b)


def test_a_bundle_that_cannot_be_made_leaves_the_file_as_it_was(tmp_path):
    class Native:
        def to_bytes(self):
            raise MemoryError

    path = tmp_path / "result.zip"
    path.write_bytes(b"old")
    with pytest.raises(MemoryError):
        _bundle.Bundle(Native()).save(path, overwrite=True)
    assert path.read_bytes() == b"old"


def test_what_cannot_be_pickled_says_what_to_pickle():
    a = np.eye(3)
    results = [(ss.spy(a), "the matrix"), (ss.info(a), r"to_dict\(\)"), (ss.Operator(a), "the matrix")]
    for result, instead in results:
        with pytest.raises(TypeError, match=f"cannot be pickled: pickle {instead}"):
            pickle.dumps(result)


def test_several_matrices_and_files(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 3\n")
    single = np.eye(3, dtype=np.float32)
    b = ss.bench([path, single, "gen:diagonal?m=9"], kernels="cpu/csr/serial", runs=2)
    assert len(b.to_dict()["matrix"]) == 3


def test_frames_have_the_same_types_without_a_value():
    b = ss.bench(np.eye(3), kernels="cpu/csr/serial", runs=2)
    assert b.to_dict()["block"] == [None]
    try:
        assert str(b.to_pandas().dtypes["block"]) == "Int64" and str(b.to_pandas().dtypes["rel_err"]) == "float64"
    except ImportError:
        pass
    polars = pytest.importorskip("polars")
    assert b.to_polars().schema["block"] == polars.Int64 and b.to_polars().schema["rel_err"] == polars.Float64


def test_the_best_of_an_operation_that_was_not_measured_is_an_error():
    b = ss.bench(np.eye(3), kernels="cpu/csr/serial", runs=2)
    assert b.best("spmv") == b.best()
    with pytest.raises(ValueError, match="there are no runs of 'xx'; the operations of the bundle: spmv"):
        b.best("xx")


def test_the_best_of_spmm_has_the_number_of_columns_as_a_number():
    b = ss.bench(np.eye(3), kernels="cpu/spmm/serial", operation="spmm", vectors=5, runs=2)
    (best,) = b.best()
    assert best["k"] == 5 and best["kernel"] == "cpu/spmm/serial"


def test_a_bundle_is_served_once(monkeypatch):
    opened = []
    monkeypatch.setattr(_bundle.webbrowser, "open", opened.append)
    b = ss.bench(np.eye(3), kernels="cpu/csr/serial", runs=2)
    try:
        address = b.show()
    except RuntimeError:
        pytest.skip("there is no web viewer")
    assert b.show() == address and opened == [address, address]


def test_a_measurement_that_cannot_begin_is_an_error():
    with pytest.raises(ValueError, match="kernel matches `cpu/none`"):
        ss.bench(np.eye(3), kernels="cpu/none")
    with pytest.raises(ss.ReadError):
        ss.open(__file__)


@pytest.mark.parametrize("in_process", [False, True])
def test_a_refused_option_is_named_with_the_reason(in_process):
    for options, text in [
        ({"threads": 0}, "invalid value '0' for '--threads <N,...>': expected a number of threads from 1 to 4096"),
        ({"bogus": 1}, "unexpected argument '--bogus' found"),
    ]:
        with pytest.raises(ValueError) as caught:
            ss.bench(np.eye(3), in_process=in_process, **options)
        assert str(caught.value) == text


@pytest.mark.parametrize("in_process", [False, True])
def test_a_file_that_cannot_be_measured_is_named(in_process, tmp_path):
    missing, wrong = str(tmp_path / "none.mtx"), tmp_path / "a.mtx"
    with pytest.raises(FileNotFoundError, match="none.mtx: cannot open the file") as caught:
        ss.bench(missing, in_process=in_process)
    assert isinstance(caught.value, ss.ReadError) and caught.value.path == missing
    wrong.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 3\n")
    with pytest.raises(ss.ReadError, match="line 3: expected") as wrong_line:
        ss.bench(wrong, in_process=in_process)
    assert wrong_line.value.line == 3 and not isinstance(wrong_line.value, FileNotFoundError)
    with pytest.warns(UserWarning, match="none.mtx: cannot open the file"):
        b = ss.bench([missing, np.eye(3)], kernels="cpu/csr/serial", runs=2, in_process=in_process)
    assert len(b) == 1
    with pytest.warns(UserWarning, match="matrix-2 repeats an earlier input"):
        ss.bench([np.eye(3), np.eye(3)], kernels="cpu/csr/serial", runs=2, in_process=in_process)


def test_a_matrix_has_the_name_that_is_given():
    b = ss.bench(np.eye(3), name="größe (1).npz", kernels="cpu/csr/serial", runs=2)
    assert b.to_dict()["matrix"] == ["größe (1).npz"]
    for name in ("", "-o", "../a", "a/b", "a" * 300, None):
        with pytest.raises(ValueError, match="expected a name"):
            ss.bench(np.eye(3), name=name)


def test_options_that_make_no_sense_are_refused():
    for empty in ({"kernels": []}, {"kernels": ""}, {"threads": []}):
        with pytest.raises(ValueError, match="is empty"):
            ss.bench(np.eye(3), **empty)
    for option in ("help", "quiet", "no_report", "plan"):
        with pytest.raises(ValueError, match=f"`{option}` is an option of the command only"):
            ss.bench(np.eye(3), **{option: True})


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_a_measurement_with_what_was_measured(monkeypatch):
    share_of, pressed = _bench._share, []

    def press_once(line: str) -> float | None:
        share = share_of(line)
        if share and not pressed:
            pressed.append(share)
            os.kill(os.getpid(), signal.SIGINT)
        return share

    monkeypatch.setattr(_bench, "_share", press_once)
    b = ss.bench("gen:stencil27?n=40", kernels="cpu/*", runs=2000)
    assert pressed and not b.complete


def test_a_child_ends_when_its_parent_does(tmp_path):
    words = ["bench", "gen:stencil27?n=40", "--kernels", "cpu/*", "--runs", "2000", "--progress", "json"]
    words += ["-o", str(tmp_path / "result.zip")]
    child = _program.child(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert child.stdin is not None and child.stderr is not None
    with child.stderr:
        assert any(line.startswith("{") for line in child.stderr), "it measures"
        # As the system does for a process that was killed.
        child.stdin.close()
        assert child.wait(timeout=60) == 1


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_a_solve_with_what_it_reached():
    a = ss.read("gen:poisson2d?n=1500")
    threading.Timer(5.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    s = ss.solve(a, np.ones(a.shape[0]), precond="none", tol=1e-300, max_iter=10**9)
    assert not s.converged and s.iterations > 0 and s.residuals.size == s.iterations + 1
    assert np.linalg.norm(a @ s.x - 1.0) == pytest.approx(s.true_residual * 1500, rel=1e-6)


def test_other_threads_run_during_work():
    a = ss.read("gen:poisson2d?n=400")
    counted, done = [0], threading.Event()

    def count() -> None:
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    ss.solve(a, np.ones(a.shape[0]), precond="jacobi")
    done.set()
    other.join()
    assert counted[0] > 5


def test_the_command_line_is_the_program():
    assert run("--version").stdout == f"sparsescope {ss.__version__}\n"
    assert "poisson2d?n=4" in run("info", "gen:poisson2d?n=4").stdout
    assert "`none.mtx` is neither a command nor a file" in run("none.mtx", code=2).stderr
    assert "unexpected argument" in run("bench", "--nothing", code=2).stderr


def test_importing_loads_no_scipy():
    heavy = "{'scipy', 'pandas', 'polars', 'matplotlib', 'tqdm'}"
    program = f"import sys, sparsescope; assert not {heavy} & set(sys.modules), sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_package_requires_what_its_project_file_lists():
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    listed = list(project["dependencies"])
    for extra, packages in project["optional-dependencies"].items():
        listed += [f"{package}; extra == '{extra}'" for package in packages]
    found = importlib.metadata.requires("sparsescope") or []
    assert {str(Requirement(it)) for it in found} == {str(Requirement(it)) for it in listed}


def check_types(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("mypy")
    config = Path(__file__).parent.parent / "pyproject.toml"
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(config)]
    # What one test has read of NumPy, the other need not read.
    command += ["--cache-dir", str(folder.parent / "mypy"), *args]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def test_types_are_complete(tmp_path):
    done = check_types(tmp_path, "-p", "sparsescope")
    assert done.returncode == 0, done.stdout


def test_a_checker_of_types_finds_names_that_do_not_exist(tmp_path):
    (tmp_path / "a.py").write_text("import sparsescope as ss\nss.bench\nss.nope\n")
    done = check_types(tmp_path, "a.py")
    assert 'a.py:3: error: Module has no attribute "nope"' in done.stdout and "a.py:2" not in done.stdout
