"""SciPy as writer and reader of sparse matrices: check_forms.py write COUNT, or check_forms.py read FILE...

`write` writes, into the current folder, COUNT random matrices in every form of SciPy that holds them, and
for each file NAME what it holds as NAME.words: rows and columns, then row, column and the bits of the value
per nonzero. The matrices k.mtx are square. `read` compares each FILE with what FILE.words says.
"""

import random
import struct
import sys

import numpy
import scipy.io
import scipy.sparse

FORMS = ["csr", "csc", "coo", "bsr", "dia"]


def bits(value):
    parts = [value.real, value.imag] if isinstance(value, complex) else [value]
    return " ".join(f"{struct.unpack('<Q', struct.pack('<d', part))[0]:016x}" for part in parts)


def words(shape, entries):
    lines = [f"{i} {j} {bits(v)}\n" for (i, j), v in sorted(entries.items())]
    return f"{shape[0]} {shape[1]}\n" + "".join(lines)


def values(kind, chance):
    """Values with all digits, of which none is zero."""
    real = lambda: float(kind(chance.gauss(0, 1) * 10.0 ** chance.choice([-30, -3, 0, 2, 30])))
    if numpy.issubdtype(kind, numpy.complexfloating):
        part = numpy.float32 if kind == numpy.complex64 else numpy.float64
        real = lambda: float(part(chance.gauss(0, 1) * 10.0 ** chance.randint(-30, 30)))
        return lambda: complex(real(), real())
    if kind == numpy.bool_:
        return lambda: 1.0
    if numpy.issubdtype(kind, numpy.integer):
        return lambda: float(chance.randint(1, min(numpy.iinfo(kind).max, 2**53)))
    return real


KINDS = [numpy.float64, numpy.float32, numpy.complex128, numpy.complex64, numpy.bool_]
KINDS += [numpy.int8, numpy.uint8, numpy.int16, numpy.uint16, numpy.int32, numpy.uint32, numpy.int64]


def write(count):
    chance = random.Random(20)
    for k in range(int(count)):
        kind = KINDS[k % len(KINDS)]
        value = values(kind, chance)
        rows, cols = chance.randint(1, 12), chance.randint(1, 12)
        nnz = chance.randint(0, rows * cols)
        places = chance.sample([(i, j) for i in range(rows) for j in range(cols)], nnz)
        entries = {place: value() for place in places}
        save(str(k), kind, (rows, cols), entries, chance)
        # What `convert` reads: real, square, of every magnitude.
        size = chance.randint(1, 12)
        number = lambda: chance.gauss(0, 1) * 10.0 ** chance.choice([-300, -8, 0, 3, 300])
        entries = {(i, j): number() for i in range(size) for j in range(size) if chance.random() < 0.4}
        entries[0, 0] = number()
        text = f"%%MatrixMarket matrix coordinate real general\n{size} {size} {len(entries)}\n"
        text += "".join(f"{i + 1} {j + 1} {v!r}\n" for (i, j), v in entries.items())
        put(f"{k}.mtx", text)
        put(f"{k}.mtx.words", words((size, size), entries))


def save(name, kind, shape, entries, chance):
    places, numbers = list(entries), numpy.array(list(entries.values()), dtype=kind)
    width = chance.choice(["int32", "int64"])
    rows, cols = (numpy.array([place[k] for place in places], dtype=width) for k in (0, 1))
    a = scipy.sparse.coo_array((numpy.array(numbers, dtype=kind), (rows, cols)), shape=shape)
    said = words(shape, entries)
    wrapped = chance.choice([lambda b: b, scipy.sparse.csr_matrix])
    for form in FORMS:
        b = a if form == "coo" else a.asformat(form)
        if form == "bsr":
            b = a.tocsr().tobsr((1, 1))
        if form == "csr":
            b = wrapped(b)
        scipy.sparse.save_npz(f"{name}-{form}.npz", b, compressed=chance.random() < 0.5)
        put(f"{name}-{form}.npz.words", said)
    # These keep double precision, complex or not, and logical values.
    is_logical = kind == numpy.bool_
    kept = a if is_logical else a.astype(complex if a.dtype.kind == "c" else float)
    for level in "45":
        if is_logical and level == "4":
            continue
        for packed in [False, True] if level == "5" else [False]:
            path = f"{name}-level{level}{'-packed' if packed else ''}.mat"
            scipy.io.savemat(path, {"A": kept.tocsc()}, format=level, do_compression=packed)
            put(path + ".words", said)


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def read_petsc(path):
    """The matrix of a binary file of PETSc with 32-bit indices and real values."""
    with open(path, "rb") as file:
        data = file.read()
    kind, rows, cols, nnz = numpy.frombuffer(data, ">i4", 4)
    assert kind == 1211216, kind
    lengths = numpy.frombuffer(data, ">i4", rows, 16)
    indices = numpy.frombuffer(data, ">i4", nnz, 16 + 4 * rows)
    values = numpy.frombuffer(data, ">f8", nnz, 16 + 4 * rows + 4 * nnz)
    assert len(data) == 16 + 4 * rows + 12 * nnz
    begins = numpy.concatenate(([0], numpy.cumsum(lengths)))
    return scipy.sparse.csr_array((values.astype(float), indices.astype("i4"), begins), (rows, cols))


READERS = {
    "npz": scipy.sparse.load_npz,
    "rb": lambda path: scipy.io.hb_read(path, spmatrix=False),
    "mtx": lambda path: scipy.io.mmread(path, spmatrix=False),
    "petsc": read_petsc,
}


def read(paths):
    for path in paths:
        a = scipy.sparse.coo_array(READERS[path.rsplit(".", 1)[1]](path))
        rows, cols = (index.tolist() for index in a.coords)
        entries = dict(zip(zip(rows, cols), a.data.tolist()))
        assert len(entries) == a.nnz, f"{path}: duplicates"
        with open(path + ".words") as file:
            if words(a.shape, entries) != file.read():
                sys.exit(f"{path} holds\n{words(a.shape, entries)}")


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2])
    else:
        read(sys.argv[2:])
