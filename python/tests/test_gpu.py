"""Products on a GPU with vectors of CuPy and PyTorch, against SciPy."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss

KERNELS = [
    "cuda/csr/adaptive",
    "cuda/csr/warp-shuffle",
    "cuda/hll/column-major",
    "cuda/coo/segmented",
    "cuda/hll/compact",
    "cuda/spmv/auto",
]

SEVERAL = ["cuda/spmm/row-split", "cuda/spmm/merge", "cuda/spmm/hll"]


def integers(rows: int, cols: int, dtype=np.float64) -> sp.csr_array:
    """A matrix of small integers, whose sums are exact in any order."""
    random = np.random.default_rng(rows)
    dense = random.integers(1, 6, (rows, cols)) * (random.random((rows, cols)) < 0.2)
    return sp.csr_array(dense.astype(dtype))


def vector(size: int, seed: int = 1, dtype=np.float64):
    return np.random.default_rng(seed).integers(-9, 9, size).astype(dtype)


def columns(rows: int, k: int, dtype=np.float64):
    return vector(rows * k, k, dtype).reshape(rows, k)


def why_no_gpu() -> str | None:
    try:
        ss.Operator(np.eye(2), "cuda/csr/adaptive")
    except ValueError as error:
        return str(error)
    return None


@pytest.fixture(scope="module")
def gpu():
    why = why_no_gpu()
    if why:
        pytest.skip(why)


def of_cupy() -> SimpleNamespace:
    cupy = pytest.importorskip("cupy", reason="there is no CuPy")
    return SimpleNamespace(
        array=cupy.asarray,
        host=cupy.asnumpy,
        address=lambda y: y.data.ptr,
        device=lambda y: y.device.id,
        type=cupy.ndarray,
        stream=lambda: cupy.cuda.Stream(non_blocking=True),
        ones=lambda size: cupy.ones(size),
        integers=lambda size: cupy.ones(size, dtype=int),
        busy=lambda: cupy.ones((4000, 4000)) @ cupy.ones((4000, 4000)),
    )


def of_torch() -> SimpleNamespace:
    torch = pytest.importorskip("torch", reason="there is no PyTorch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no GPU")
    on = {"device": "cuda:0"}
    return SimpleNamespace(
        array=lambda x: torch.from_numpy(x.copy()).to("cuda:0"),
        host=lambda y: y.cpu().numpy(),
        address=lambda y: y.data_ptr(),
        device=lambda y: y.device.index,
        type=torch.Tensor,
        stream=lambda: torch.cuda.stream(torch.cuda.Stream()),
        ones=lambda size: torch.ones(size, dtype=torch.float64, **on),
        integers=lambda size: torch.ones(size, dtype=torch.int64, **on),
        busy=lambda: torch.ones((4000, 4000), **on) @ torch.ones((4000, 4000), **on),
    )


@pytest.fixture(params=[of_cupy, of_torch], ids=["cupy", "torch"])
def library(request, gpu):
    return request.param()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_product_on_the_gpu_is_that_of_scipy_and_stays_there(library, kernel, dtype):
    a = integers(300, 200, dtype)
    product = ss.Operator(a, kernel)
    assert product.kernel.startswith("cuda/") and product.kernel != "cuda/spmv/auto"
    for seed in range(3):
        x = vector(200, seed, dtype)
        y = product @ library.array(x)
        assert isinstance(y, library.type) and library.device(y) == 0
        assert library.host(y).dtype == dtype
        assert np.array_equal(library.host(y), a @ x)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_vector_of_numpy_goes_to_the_gpu_and_back(gpu, kernel):
    a, x = integers(300, 200), vector(200)
    product = ss.Operator(a, kernel)
    assert np.array_equal(product @ x, a @ x)
    assert np.array_equal(product @ np.eye(200), a.toarray())


def test_the_current_stream_orders_the_product(library):
    a = integers(300, 200)
    product = ss.Operator(a, "cuda/csr/adaptive")
    with library.stream():
        for seed in range(20):
            x = vector(200, seed)
            there = library.array(np.zeros(200))
            library.busy()
            there += library.array(x)
            y = product @ there
            there *= 0
            assert np.array_equal(library.host(y), a @ x)


def test_x_may_be_freed_after_the_call(library):
    a, x = integers(300, 200), vector(200)
    product = ss.Operator(a, "cuda/csr/adaptive")
    found = []
    for _ in range(50):
        found.append(product @ library.array(x))
        # Likely in the memory that x had.
        library.ones(200)
    assert all(np.array_equal(library.host(y), a @ x) for y in found)


def test_every_second_element_is_a_vector(library):
    a, x = integers(300, 200), vector(400)
    y = ss.Operator(a, "cuda/csr/adaptive") @ library.array(x)[::2]
    assert np.array_equal(library.host(y), a @ x[::2])


def test_vectors_that_do_not_fit_are_refused(library):
    product = ss.Operator(integers(300, 200), "cuda/csr/adaptive")
    with pytest.raises(ValueError, match="x has 4 elements, but the matrix has 200 columns"):
        product @ library.ones(4)
    with pytest.raises(TypeError, match="x must be a vector of float64"):
        product @ library.integers(200)
    with pytest.raises(ValueError, match="x must have one or two dimensions, found 3"):
        product @ library.ones((200, 1, 1))
    with pytest.raises(ValueError, match="x has 4 rows, but the matrix has 200 columns"):
        product @ library.ones((4, 2))
    with pytest.raises(TypeError, match="x must be an array of float64"):
        product @ library.integers((200, 2))
    assert (product @ library.ones((200, 2))).shape == (300, 2)
    kept = product._several
    with pytest.raises(ValueError, match="X has 1025 columns, expected a whole number from 1 to 1024"):
        product @ library.ones((200, 1025))
    assert product._several is kept
    single = ss.Operator(integers(300, 200, np.float32), "cuda/csr/adaptive")
    with pytest.raises(TypeError, match="x must be a vector of float32"):
        single @ library.ones(200)


@pytest.mark.parametrize("kernel", SEVERAL)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_several_vectors_on_the_gpu_are_multiplied_together_and_stay_there(library, kernel, dtype):
    a = integers(300, 200, dtype)
    product = ss.Operator(a, "cuda/csr/adaptive", spmm=kernel)
    for k in (0, 8, 1, 33, 8):
        x = columns(200, k, dtype)
        y = product @ library.array(x)
        assert isinstance(y, library.type) and library.device(y) == 0
        assert tuple(y.shape) == (300, k) and library.host(y).dtype == dtype
        assert np.array_equal(library.host(y), a @ x)
    # On the host, the kernel of SpMV computes one after the other.
    assert np.array_equal(product @ x, a @ x)
    x = columns(300, 3, dtype)
    assert np.array_equal(library.host(product.T @ library.array(x)), a.T @ x)


def test_several_vectors_are_in_the_order_of_the_current_stream(library):
    a = integers(300, 200)
    product = ss.Operator(a, "cuda/csr/adaptive")
    with library.stream():
        for k in (4, 4, 9, 4):
            x = columns(200, k)
            there = library.array(np.zeros((200, k)))
            library.busy()
            there += library.array(x)
            y = product @ there
            there *= 0
            assert np.array_equal(library.host(y), a @ x)


def test_several_vectors_must_be_contiguous_in_c_order(library):
    product = ss.Operator(integers(300, 200), "cuda/csr/adaptive")
    for x, steps in (
        (library.ones((3, 200)).T, "1 and 200"),
        (library.ones((200, 6))[:, ::2], "6 and 2"),
        (library.ones((200, 6))[:, :3], "6 and 1"),
    ):
        found = f"x must be contiguous in C order, found strides of {steps} elements: pass a contiguous copy"
        with pytest.raises(ValueError, match=found):
            product @ x


def test_a_kernel_for_several_vectors_on_the_gpu_takes_them_by_rows_and_is_of_cuda(library):
    a = np.ones((300, 200))
    for kernel, why in (
        ("cpu/spmm/simd", "this Operator takes kernels of CUDA for several vectors"),
        ("cuda/spmm/bsr", "it multiplies padding by x, and an x on the GPU is not checked"),
        ("vendor/cusparse/spmm-columns-alg1", "it takes X by columns, expected a kernel that takes X by rows"),
        ("cuda/csr/adaptive", "computes spmv, not spmm"),
    ):
        product = ss.Operator(a, "cuda/csr/adaptive", spmm=kernel)
        with pytest.raises(ValueError, match=why):
            product @ library.ones((200, 4))
        assert np.array_equal(library.host(product @ library.array(vector(200))), a @ vector(200))


def test_a_kernel_that_multiplies_padding_takes_no_vector_of_the_gpu(library):
    a, x = integers(300, 200), vector(200)
    product = ss.Operator(a, "cuda/ell/thread-per-row")
    with pytest.raises(ValueError, match="it multiplies padding by x, and an x on the GPU is not checked"):
        product @ library.ones(200)
    assert np.array_equal(product @ x, a @ x)


def test_a_kernel_on_the_cpu_takes_no_vector_of_the_gpu(library):
    product = ss.Operator(integers(300, 200), "cpu/csr/serial")
    with pytest.raises(ValueError, match="x is on another device than the matrix, which is on the CPU"):
        product @ library.ones(200)


def test_a_tensor_on_the_host_stays_there():
    torch = pytest.importorskip("torch", reason="there is no PyTorch")
    a, x = integers(30, 20), vector(20)
    kernels = ["cpu/csr/serial"] + ([] if why_no_gpu() else ["cuda/csr/adaptive"])
    for kernel in kernels:
        y = ss.Operator(a, kernel) @ torch.from_numpy(x)
        assert isinstance(y, torch.Tensor) and y.device.type == "cpu"
        assert np.array_equal(y.numpy(), a @ x)


def test_without_a_gpu_the_error_is_a_sentence():
    why = why_no_gpu()
    if why is None:
        pytest.skip("there is a GPU")
    assert why.startswith("cuda/csr/adaptive cannot run here: ") and "\n" not in why


def test_a_gpu_that_does_not_exist_is_named(gpu):
    with pytest.raises(ValueError, match="cuda/csr/adaptive cannot run here: .*99"):
        ss.Operator(np.eye(2), "cuda/csr/adaptive", device=99)


def test_only_what_the_kernel_can_read_is_passed_by_its_address():
    product = ss.Operator(integers(300, 200), "cpu/csr/serial")
    with pytest.raises(ValueError, match="x is on another device than the matrix, which is on the CPU"):
        product._check_there(0, (200,), True)
    product._gpu = 1
    product._check_there(1, (200,), True)
    with pytest.raises(ValueError, match="x is on another device than the matrix, which is on GPU 1"):
        product._check_there(0, (200,), True)
    with pytest.raises(ValueError, match="x must have one or two dimensions, found 0"):
        product._check_there(1, (), True)
    with pytest.raises(TypeError, match="x must be a vector of float64"):
        product._check_there(1, (200,), False)
    with pytest.raises(ValueError, match="x has 199 elements, but the matrix has 200 columns"):
        product._check_there(1, (199,), True)
    # Several vectors are not made contiguous.
    product._check_there(1, (200,), True, (2,))
    product._check_there(1, (200, 3), True)
    with pytest.raises(TypeError, match="x must be an array of float64"):
        product._check_there(1, (200, 3), False)
    with pytest.raises(ValueError, match="x has 3 rows, but the matrix has 200 columns"):
        product._check_there(1, (3, 200), True)
    found = "x must be contiguous in C order, found strides of 1 and 200 elements: pass a contiguous copy"
    with pytest.raises(ValueError, match=found):
        product._check_there(1, (200, 3), True, (1, 200))


def test_a_vector_whose_gradient_is_required_is_refused():
    torch = pytest.importorskip("torch", reason="there is no PyTorch")
    product = ss.Operator(integers(30, 20), "cpu/csr/serial")
    with pytest.raises(ValueError, match="pass x.detach"):
        product @ torch.ones(20, dtype=torch.float64, requires_grad=True)


def test_a_lazily_negated_vector_is_negated(gpu):
    torch = pytest.importorskip("torch", reason="there is no PyTorch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no GPU")
    a, x = integers(300, 200), vector(200)
    lazy = torch.from_numpy(1j * x).to("cuda:0").conj().imag
    assert lazy.is_neg()
    assert np.array_equal((ss.Operator(a, "cuda/csr/adaptive") @ lazy).cpu().numpy(), a @ -x)
