"""What the process allows: memory, and copies of itself."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

BEGIN = """
import os
import resource
import numpy as np
import scipy.sparse as sp
import sparsescope as ss

def tell(work):
    try:
        work()
        print("done", flush=True)
    except Exception as error:
        print(type(error).__name__, error, flush=True)

def limit(gigabytes):
    with open("/proc/self/statm") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    most = mapped + int(gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
"""


def lines(script: str) -> list[str]:
    """What another process prints."""
    args = [sys.executable, "-W", "ignore", "-c", BEGIN + script]
    done = subprocess.run(args, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_is_refused_instead_of_waiting_forever():
    found = lines("""
a, x = sp.csr_array(np.eye(4)), np.ones(4)
product, inverse = ss.Operator(a, "cpu/csr/serial"), ss.fsai(a)
if os.fork() == 0:
    for work in (lambda: ss.info(a), lambda: product @ x, lambda: inverse @ x):
        tell(work)
    os._exit(0)
os.wait()
tell(lambda: product @ x)
""")
    assert [line.split()[0] for line in found] == ["RuntimeError"] * 3 + ["done"]
    assert all("use the start method `spawn`" in line for line in found[:3])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it limits the address space")
def test_what_does_not_fit_is_an_error_and_does_not_end_the_process():
    found = lines("""
wide = sp.csr_array((np.ones(2), ([0, 1], [0, 2**31 - 2])), shape=(2, 2**31 - 1))
tall = sp.csr_array((2**26, 4))
ss.info(np.eye(2))
limit(1)
tell(lambda: ss.Operator(wide, "cpu/csr/serial"))
tell(lambda: ss.Operator(tall, "cpu/csr/serial"))
""")
    assert [line.split()[0] for line in found] == ["MemoryError"] * 2
    assert "SpMV with x, y and its check needs" in found[0]
    assert "the copy of the matrix needs 1073741840 bytes" in found[1]
