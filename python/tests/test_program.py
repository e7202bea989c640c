"""Files, errors, measurements and the command line."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope import _bench


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


def test_a_file_that_does_not_exist_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        ss.read(tmp_path / "none.mtx")
    error, path = caught.value, str(tmp_path / "none.mtx")
    assert isinstance(error, ss.ReadError) and error.line is None
    assert (error.errno, error.filename, error.path) == (errno.ENOENT, path, path)
    assert error.strerror == os.strerror(errno.ENOENT) and path in str(error)


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


def test_several_matrices_and_files(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 3\n")
    single = np.eye(3, dtype=np.float32)
    b = ss.bench([path, single, "gen:diagonal?m=9"], kernels="cpu/csr/serial", runs=2)
    assert len(b.to_dict()["matrix"]) == 3


def test_a_measurement_that_cannot_begin_is_an_error():
    with pytest.raises(ValueError, match="kernel matches `cpu/none`"):
        ss.bench(np.eye(3), kernels="cpu/none")
    with pytest.raises(ss.ReadError):
        ss.open(__file__)


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


def test_types_are_complete(tmp_path):
    pytest.importorskip("mypy")
    config = Path(__file__).parent.parent / "pyproject.toml"
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(config), "-p", "sparsescope"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
