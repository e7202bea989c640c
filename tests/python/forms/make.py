"""Writes the files of other programs that tests/tests/program/forms.rs reads: make.py

Needs SciPy, h5py and NetworkX, and from Debian: gcc, octave-cli, libsuitesparse-dev, libhypre-dev, mpirun and
mpicc, python3-petsc4py in its four builds, bzip2, xz-utils, zstd, zip. Each function writes with one program
and states what it gave to it; expected.json keeps that, not what was read back. Numbers in it are hexadecimal
floats.
"""

import bz2
import gzip
import json
import lzma
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import h5py
import networkx
import numpy
import scipy.io
import scipy.sparse

HERE = pathlib.Path(__file__).parent
FILES = HERE / "files"
WRITERS = HERE / "writers"
PETSC = "/usr/lib/petscdir/petsc{}/x86_64-linux-gnu-{}/lib/python3/dist-packages"

matrices, files, versions = {}, {}, {}


class Matrix:
    """Rows, columns and a list of (row, column, value), from 0, in the order in which writers get them."""

    def __init__(self, shape, entries):
        self.shape, self.entries = shape, entries

    def summed(self):
        """The entries sorted by row and column, duplicates summed."""
        sums = {}
        for row, col, value in self.entries:
            sums[row, col] = sums[row, col] + value if (row, col) in sums else value
        return [(*place, sums[place]) for place in sorted(sums)]

    def map(self, change):
        return Matrix(self.shape, [(row, col, change(value)) for row, col, value in self.entries])

    def by_column(self):
        return sorted(self.summed(), key=lambda entry: (entry[1], entry[0]))

    def coo(self, kind=scipy.sparse.coo_array, dtype=None):
        rows, cols, values = zip(*self.entries)
        places = numpy.array(rows, dtype="int32"), numpy.array(cols, dtype="int32")
        return kind((numpy.array(values, dtype=dtype), places), shape=self.shape)

    def dense(self):
        return self.coo().toarray()


def hexadecimal(value):
    if isinstance(value, complex):
        return [value.real.hex(), value.imag.hex()]
    return [float(value).hex()]


def expect(name, form, matrix, stored=None, rhs=None):
    """States the matrix that the file holds, the number of stored entries if duplicates are among them, and the
    vector beside the matrix."""
    entries = [[row, col, *hexadecimal(value)] for row, col, value in matrix.summed()]
    rows, cols = matrix.shape
    content = {"rows": rows, "cols": cols, "entries": entries}
    known = next((key for key, value in matrices.items() if value == content), None)
    if known is None:
        known = f"m{len(matrices)}"
        matrices[known] = content
    files[name] = {"form": form, "matrix": known}
    if stored is not None:
        files[name]["stored"] = stored
    if rhs is not None:
        files[name]["rhs"] = [v.hex() for v in rhs]


def expect_vector(name, values):
    files[name] = {"vector": [float(value).hex() for value in values]}


def expect_refusal(name, sentence, **more):
    """States what the error says; `of` says whether a vector is wanted."""
    files[name] = {"refused": sentence} | more


def run(*words, text="", **more):
    """What a program says."""
    ran = subprocess.run(words, input=text, capture_output=True, text=True, **more)
    if ran.returncode != 0:
        sys.exit(f"{words}: {ran.stdout}{ran.stderr}")
    return ran.stdout


def check(again, matrix):
    """Compares what a program reads back of its own file bit for bit."""
    again = scipy.sparse.coo_array(again)
    rows, cols = (numpy.asarray(index).tolist() for index in again.coords)
    read = Matrix(again.shape, list(zip(rows, cols, again.data.tolist())))
    assert read.shape == matrix.shape, (read.shape, matrix.shape)
    words = lambda m: [(row, col, hexadecimal(value)) for row, col, value in m.summed()]
    assert words(read) == words(matrix), (words(read), words(matrix))


chance = random.Random(50)
value = lambda: chance.gauss(0, 1) * 10.0 ** chance.randint(-3, 3)

# Row 2 and column 3 are empty.
PLACES = [(0, 0), (0, 2), (0, 4), (1, 1), (3, 0), (3, 4), (4, 2), (5, 0), (5, 1), (5, 4)]
REAL = Matrix((6, 5), [(i, j, value()) for i, j in PLACES])
REAL.entries[2:5] = [(0, 4, -1.7e308), (1, 1, 3.3e-308), (3, 0, 2.0**-60)]
# Binary forms keep what is below the smallest normal number.
TINY = Matrix(REAL.shape, REAL.entries[:-1] + [(5, 4, -5e-324)])
# The order of entries within rows; a place occurs twice.
SHUFFLED = Matrix(TINY.shape, chance.sample(TINY.entries, len(TINY.entries)) + [(0, 0, value())])
COMPLEX = Matrix(REAL.shape, [(i, j, complex(v, value())) for i, j, v in REAL.entries])
INTEGER = Matrix(REAL.shape, [(i, j, chance.randint(1, 99) * (-1) ** (i + j)) for i, j in PLACES])
PATTERN = REAL.map(lambda _: 1)
SINGLE = Matrix(REAL.shape, [(i, j, float(numpy.float32(value()))) for i, j in PLACES])
LOWER = [(0, 0), (1, 1), (2, 0), (2, 2), (4, 1), (4, 2), (4, 4)]


def mirrored(lower, change=lambda v: v):
    upper = [(j, i, change(v)) for i, j, v in lower if i != j]
    return Matrix((5, 5), sorted(lower + upper, key=lambda entry: entry[:2]))


HALF = [(i, j, value()) for i, j in LOWER]
SYMMETRIC = mirrored(HALF)
SKEW = mirrored([entry for entry in HALF if entry[0] != entry[1]], lambda v: -v)
HERMITIAN = mirrored(
    [(i, j, complex(v, 0.0 if i == j else value())) for i, j, v in HALF], lambda v: v.conjugate()
)
SQUARE = Matrix((5, 5), [(i, j, value()) for i, j, _ in SYMMETRIC.entries[1:]])
VECTOR = [value() for _ in range(6)]


def scipy_npz():
    form = "SciPy sparse array (.npz)"
    versions["SciPy"], versions["NumPy"] = scipy.__version__, numpy.__version__

    def save(name, a, matrix, stored=None, compressed=True):
        scipy.sparse.save_npz(FILES / name, a, compressed=compressed)
        check(scipy.sparse.load_npz(FILES / name), matrix)
        expect(name, form, matrix, stored)

    coo = TINY.coo()
    save("scipy-csr.npz", coo.tocsr(), TINY)
    save("scipy-csc.npz", coo.tocsc(), TINY)
    save("scipy-coo.npz", SHUFFLED.coo(), SHUFFLED, len(SHUFFLED.entries))
    save("scipy-csr-matrix.npz", scipy.sparse.csr_matrix(coo), TINY, compressed=False)
    save("scipy-csc-stored.npz", coo.tocsc(), TINY, compressed=False)
    rows = [[(j, v) for i, j, v in SHUFFLED.entries if i == row] for row in range(6)]
    flat = [entry for row in rows for entry in row]
    ends = numpy.cumsum([0] + [len(row) for row in rows])
    unsorted = scipy.sparse.csr_array(([v for _, v in flat], [j for j, _ in flat], ends), TINY.shape)
    save("scipy-csr-unsorted.npz", unsorted, SHUFFLED, len(SHUFFLED.entries))
    wide = coo.tocsr()
    wide.indices, wide.indptr = wide.indices.astype("int64"), wide.indptr.astype("int64")
    save("scipy-csr-int64-indices.npz", wide, TINY)
    for dtype in ("int8", "uint16", "int32", "int64"):
        m = INTEGER if dtype != "uint16" else INTEGER.map(abs)
        save(f"scipy-csr-{dtype}.npz", m.coo(dtype=dtype).tocsr(), m)
    save("scipy-csr-float32.npz", SINGLE.coo(dtype="float32").tocsr(), SINGLE)
    save("scipy-csr-bool.npz", PATTERN.coo(dtype=bool).tocsr(), PATTERN)
    save("scipy-csr-complex.npz", COMPLEX.coo().tocsr(), COMPLEX)
    single = Matrix(SINGLE.shape, [(i, j, complex(v, -2 * v)) for i, j, v in SINGLE.entries])
    save("scipy-coo-complex64.npz", single.coo(dtype="complex64"), single)
    # Blocks of 3 x 2 without zeros; diagonals without zeros within the matrix.
    places = [(i + a, j + b) for i, j in [(0, 2), (3, 0), (3, 2)] for a in range(3) for b in range(2)]
    blocks = Matrix((6, 4), [(i, j, value()) for i, j in places])
    save("scipy-bsr.npz", blocks.coo().tobsr((3, 2)), blocks)
    places = [(i, i + k) for k in (-4, 0, 2) for i in range(6) if 0 <= i + k < 5]
    diagonals = Matrix((6, 5), [(i, j, value()) for i, j in places])
    save("scipy-dia.npz", diagonals.coo().todia(), diagonals)
    # What is beyond the last column of an array of diagonals is not part of the matrix, nor are zeros within it.
    data = numpy.array([[chance.gauss(0, 1) for _ in range(8)] for _ in range(2)])
    data[0, 1] = 0.0
    wide = scipy.sparse.dia_array((data, [1, -2]), shape=(6, 5))
    places = [(j - 1, j, 0) for j in range(1, 5) if j != 1] + [(j + 2, j, 1) for j in range(4)]
    inside = Matrix((6, 5), [(i, j, data[k, j].item()) for i, j, k in places])
    save("scipy-dia-wide.npz", wide, inside)
    # Zeros within blocks are stored.
    data = numpy.array([[[value(), 0.0], [0.0, value()]], [[0.0, 0.0], [value(), 0.0]]])
    places = [(b, i, j) for b in range(2) for i in range(2) for j in range(2)]
    block_row, block_col = [0, 1], [1, 0]
    some = [(2 * block_row[b] + i, 2 * block_col[b] + j, data[b, i, j].item()) for b, i, j in places]
    zeros = scipy.sparse.bsr_array((data, block_col, [0, 1, 2]), shape=(4, 4))
    save("scipy-bsr-zeros.npz", zeros, Matrix((4, 4), some))
    # Arrays may be longer than the last pointer says.
    a = TINY.coo().tocsr()
    a.data, a.indices = numpy.append(a.data, [7.0, 8.0]), numpy.append(a.indices, [0, 9]).astype("int32")
    save("scipy-csr-spare.npz", a, TINY)
    one = [(i, 0, value()) for i in (4, 0, 2)]
    vector = scipy.sparse.coo_array(([v for _, _, v in one], ([i for i, _, _ in one],)), shape=(6,))
    scipy.sparse.save_npz(FILES / "scipy-coo-one-dimension.npz", vector)
    assert (scipy.sparse.load_npz(FILES / "scipy-coo-one-dimension.npz") != vector).nnz == 0
    expect("scipy-coo-one-dimension.npz", form, Matrix((6, 1), one))
    empty = scipy.sparse.csr_array((3, 0))
    scipy.sparse.save_npz(FILES / "scipy-csr-empty.npz", empty)
    expect("scipy-csr-empty.npz", form, Matrix((3, 0), []))


def numpy_npy():
    form = "NumPy array (.npy)"
    # The zeros of an array are not nonzeros.
    for name, array in [
        ("numpy-c.npy", TINY.dense()),
        ("numpy-fortran.npy", numpy.asfortranarray(TINY.dense())),
    ]:
        numpy.save(FILES / name, array)
        check(numpy.load(FILES / name), TINY)
        expect(name, form, TINY)
    numpy.save(FILES / "numpy-vector.npy", numpy.array(VECTOR))
    expect_vector("numpy-vector.npy", VECTOR)
    numpy.save(FILES / "numpy-column.npy", numpy.array(VECTOR, dtype=">f8")[:, None])
    expect_vector("numpy-column.npy", VECTOR)
    numpy.save(FILES / "numpy-integers.npy", numpy.arange(-3, 4, dtype="int16"))
    expect_vector("numpy-integers.npy", range(-3, 4))
    single = [v for _, _, v in SINGLE.entries]
    numpy.save(FILES / "numpy-single.npy", numpy.array(single, dtype="float32"))
    expect_vector("numpy-single.npy", single)


def scipy_mat():
    for level in "45":
        form = f"MATLAB level {level}"
        for kind, matrix in [("real", TINY), ("complex", COMPLEX), ("logical", PATTERN)]:
            a = matrix.coo(dtype=bool if kind == "logical" else None).tocsc()
            for packed in [False, True] if level == "5" else [False]:
                name = f"scipy-{level}-{kind}{'-compressed' if packed else ''}.mat"
                if level == "4" and kind == "logical":
                    continue
                scipy.io.savemat(FILES / name, {"A": a}, format=level, do_compression=packed)
                check(scipy.io.loadmat(FILES / name, spmatrix=False)["A"], matrix)
                expect(name, form, matrix)
    both = {"A": TINY.coo().tocsc(), "b": numpy.array(VECTOR)}
    scipy.io.savemat(FILES / "scipy-5-struct.mat", {"Problem": both})
    expect("scipy-5-struct.mat", "MATLAB level 5", TINY, rhs=VECTOR)


def scipy_text():
    for name, matrix in [("scipy.hb", SINGLE), ("scipy-no-blanks.hb", REAL)]:
        scipy.io.hb_write(FILES / name, matrix.coo().tocsc())
    # Four counts as in Rutherford-Boeing files, by a program for Harwell-Boeing: either name is right.
    expect("scipy.hb", None, SINGLE)
    # Numbers are one column narrower than the file says, and long exponents leave no blank between them: no
    # program can read them, SciPy neither.
    expect_refusal("scipy-no-blanks.hb", "line 9: expected value 7 of 10")
    check(scipy.io.hb_read(FILES / "scipy.hb", spmatrix=False), SINGLE)
    for kind, matrix, how in [
        ("real", TINY, {}),
        ("complex", COMPLEX, {}),
        ("integer", INTEGER, {}),
        ("pattern", PATTERN, {"field": "pattern"}),
        ("symmetric", SYMMETRIC, {}),
        ("skew", SKEW, {}),
        ("hermitian", HERMITIAN, {}),
    ]:
        name = f"scipy-{kind}.mtx"
        scipy.io.mmwrite(FILES / name, matrix.coo(), comment="of SciPy", **how)
        check(scipy.io.mmread(FILES / name, spmatrix=False), matrix)
        expect(name, "Matrix Market", matrix)
    scipy.io.mmwrite(FILES / "scipy-array.mtx", TINY.dense())
    expect("scipy-array.mtx", "Matrix Market", TINY)
    scipy.io.mmwrite(FILES / "scipy-vector.mtx", numpy.array(VECTOR)[:, None])
    expect_vector("scipy-vector.mtx", VECTOR)


def octave():
    """Octave gets the words of the numbers, so that nothing is rounded."""
    versions["Octave"] = run("octave-cli", "--version").split("\n")[0].split()[-1]

    def number(v):
        word = numpy.float64(v).view("uint64")
        return f"typecast(uint64({word}), 'double')"

    def sparse(matrix):
        i, j = ("[" + ",".join(str(entry[k] + 1) for entry in matrix.entries) + "]" for k in (0, 1))
        values = [entry[2] for entry in matrix.entries]
        v = "[" + ",".join(number(complex(v).real) for v in values) + "]"
        if isinstance(values[0], complex):
            v = f"complex({v}, [" + ",".join(number(v.imag) for v in values) + "])"
        return f"sparse({i}, {j}, {v}, {matrix.shape[0]}, {matrix.shape[1]})"

    lines = [f"R = {sparse(TINY)};", f"C = {sparse(COMPLEX)};", f"L = {sparse(PATTERN)} == 1;"]
    vector = ";".join(map(number, VECTOR))
    lines += [f"b = [{vector}];", "Problem.A = R; Problem.b = b; Problem.name = 'forms';"]
    saved = [("R", TINY), ("C", COMPLEX), ("L", None), ("b R", TINY), ("R C", None), ("Problem", TINY)]
    for option, level in [("v4", 4), ("v6", 5), ("v7", 5)]:
        for variables, matrix in saved:
            if option == "v4" and variables in ("L", "Problem"):
                continue
            name = f"octave-{option}-{variables.replace(' ', '-')}.mat"
            lines.append(f"save('-{option}', '{FILES / name}', {', '.join(map(repr, variables.split()))});")
            if variables == "R C":
                expect_refusal(name, "R")
            elif variables == "L":
                # Octave calls these arrays of bytes, and reads them back wrongly itself.
                expect(name, f"MATLAB level {level}", PATTERN)
            else:
                has_rhs = variables in ("b R", "Problem")
                expect(name, f"MATLAB level {level}", matrix, rhs=VECTOR if has_rhs else None)
    lines.append("name = 'six b';")
    for name, variables, matrix in [
        ("octave", "R", TINY),
        ("octave-C", "C", COMPLEX),
        ("octave-L", "L", PATTERN),
        ("octave-b-R", "R b name", TINY),
        ("octave-Problem", "Problem name", TINY),
    ]:
        lines.append(f"save('-hdf5', '{FILES / name}.h5', {', '.join(map(repr, variables.split()))});")
        expect(f"{name}.h5", "HDF5", matrix, rhs=VECTOR if " " in variables else None)
    lines.append(f"save('-hdf5', '{FILES / 'octave-vector.h5'}', 'b', 'name');")
    expect_vector("octave-vector.h5", VECTOR)
    run("octave-cli", "--norc", "--eval", "\n".join(lines))
    for name in files:
        if name.startswith("octave-v") and "matrix" in files[name] and not name.endswith("-L.mat"):
            read = scipy.io.loadmat(FILES / name, spmatrix=False)
            a = read["Problem"]["A"][0, 0] if "Problem" in read else read.get("R", read.get("C"))
            check(a, COMPLEX if "C" in read else TINY)


def boeing(folder):
    """SuiteSparse's RBio."""
    versions["SuiteSparse"] = run("dpkg-query", "-W", "-f", "${Version}", "libsuitesparse-dev")
    program = folder / "boeing"
    run("gcc", WRITERS / "boeing.c", "-o", program, "-lrbio", "-lsuitesparseconfig", "-lm")
    for name, kind, matrix in [
        ("rua", 0, REAL),
        ("rsa", 0, SYMMETRIC),
        ("rza", 0, SKEW),
        ("psa", 0, SYMMETRIC.map(lambda _: 1)),
        ("pra", 0, PATTERN),
        ("ira", 3, INTEGER),
        ("cra", 4, COMPLEX),
        ("cha", 4, HERMITIAN),
        ("rra", 0, REAL),
    ]:
        if name == "rua":
            matrix = SQUARE
        entries = matrix.by_column()
        lines = [f"{i} {j} {complex(v).real.hex()} {complex(v).imag.hex()}\n" for i, j, v in entries]
        size = f"{matrix.shape[0]} {matrix.shape[1]} {len(entries)}\n"
        path = f"rbio-{name}.rb"
        wrote = run(program, FILES / path, str(kind), text=size + "".join(lines))
        assert wrote == name, f"RBio writes {wrote} for {name}"
        expect(path, "Rutherford-Boeing", matrix)


def petsc():
    given = lambda matrix: json.dumps({
        "shape": matrix.shape,
        "entries": [(i, j, complex(v).real.hex(), complex(v).imag.hex()) for i, j, v in matrix.summed()],
        "vector": [v.hex() for v in VECTOR],
    })
    for version, wide in [("3.18", ""), ("64-3.18", "-int64")]:
        for scalar, matrix in [("real", TINY), ("complex", COMPLEX)]:
            base = f"petsc-{scalar}{wide}"
            names = [f"{base}.petsc", f"{base}-with-vector.petsc", f"{base}-vector.petsc"]
            environment = os.environ | {"PYTHONPATH": PETSC.format(version, scalar), "OMP_NUM_THREADS": "1"}
            script = [WRITERS / "petsc.py", *(FILES / name for name in names)]
            said = run("/usr/bin/python3", *script, text=given(matrix), env=environment).split()
            assert said[1:] == ["8" if wide else "4", str(scalar == "complex")], said
            versions["PETSc"] = said[0]
            expect(names[0], "PETSc binary", matrix)
            expect(names[1], "PETSc binary", matrix, rhs=VECTOR if scalar == "real" else None)
            if scalar == "real":
                expect_vector(names[2], VECTOR)
            else:
                expect_refusal(names[2], "complex", of="vector")
            for info in FILES.glob("*.info"):
                info.unlink()


def hypre(folder):
    """hypre prints 15 digits: those are what its files hold. Each rank writes its rows."""
    versions["hypre"] = run("dpkg-query", "-W", "-f", "${Version}", "libhypre-dev")
    program, given = folder / "hypre", folder / "given"
    run("mpicc", WRITERS / "hypre.c", "-I/usr/include/hypre", "-o", program, "-lHYPRE", "-lm")
    printed = SQUARE.map(lambda v: float(f"{v:.14e}"))
    lines = [f"{i} {j} {v.hex()}\n" for i, j, v in SQUARE.summed()]
    given.write_text(f"5 {len(lines)}\n" + "".join(lines))
    for ranks, name in [("1", "hypre"), ("2", "hypre-two")]:
        paths = given, FILES / name, FILES / f"{name}-vector"
        run("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", ranks, program, *paths)
    # A piece stands for all.
    for name in ["hypre.00000", "hypre-two.00000", "hypre-two.00001"]:
        expect(name, "hypre IJ", printed)
    diagonal = {i: v for i, j, v in printed.entries if i == j}
    elements = [diagonal.get(i, 0.0) for i in range(5)]
    for name in ["hypre-vector.00000", "hypre-two-vector.00000", "hypre-two-vector.00001"]:
        expect_vector(name, elements)
    # Compressed, and without a name that says what it is.
    for piece in ["00000", "00001"]:
        for vector in ["", "-vector"]:
            content = (FILES / f"hypre-two{vector}.{piece}").read_bytes()
            (FILES / f"hypre-packed{vector}.{piece}.gz").write_bytes(gzip.compress(content, mtime=0))
        expect(f"hypre-packed.{piece}.gz", "hypre IJ", printed)
        expect_vector(f"hypre-packed-vector.{piece}.gz", elements)
    (FILES / "hypre-unnamed").write_bytes((FILES / "hypre.00000").read_bytes())
    expect("hypre-unnamed", "hypre IJ", printed)


def graphs():
    """NetworkX, and by hand the forms of KONECT, SNAP, METIS and DIMACS."""
    versions["NetworkX"] = networkx.__version__
    edges = [(0, 1), (0, 3), (1, 2), (2, 0), (3, 4), (4, 0), (4, 3)]
    weighted = Matrix((5, 5), [(i, j, value()) for i, j in edges])
    ones = weighted.map(lambda _: 1)
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from(weighted.entries)
    networkx.write_edgelist(graph, FILES / "networkx-edges.txt", data=False)
    expect("networkx-edges.txt", "edge list, vertices from 0", ones)
    networkx.write_edgelist(graph, FILES / "networkx-dictionaries.txt")
    expect("networkx-dictionaries.txt", "edge list, vertices from 0", weighted)
    networkx.write_weighted_edgelist(graph, FILES / "networkx-weights.edgelist")
    expect("networkx-weights.edgelist", "edge list, vertices from 0", weighted)
    networkx.write_edgelist(graph, FILES / "networkx-csv.csv", delimiter=",", data=["weight"])
    expect("networkx-csv.csv", "edge list, vertices from 0", weighted)
    colored = networkx.DiGraph()
    colored.add_edges_from((i, j, {"color": "a, {b}", "weight": numpy.float64(v)}) for i, j, v in weighted.entries)
    networkx.write_edgelist(colored, FILES / "networkx-attributes.edgelist")
    expect("networkx-attributes.edgelist", "edge list, vertices from 0", weighted)
    bare = networkx.DiGraph(edges)
    networkx.write_edgelist(bare, FILES / "networkx-bare.txt")
    expect("networkx-bare.txt", "edge list, vertices from 0", ones)

    def write(name, text, form, matrix, stored=None):
        (FILES / name).write_text(text)
        expect(name, form, matrix, stored)

    lines = lambda matrix, base, separator: "".join(
        separator.join([str(i + base), str(j + base)] + ([] if matrix is ones else [repr(v)])) + "\n"
        for i, j, v in matrix.entries
    )
    header = "# Directed graph (each unordered pair of nodes is saved once): five.txt\n# Made by hand\n"
    header += "# Nodes: 5 Edges: 7\n# FromNodeId\tToNodeId\n"
    write("snap.txt", header + lines(ones, 0, "\t"), "edge list, vertices from 0", ones)
    from_1 = "edge list, vertices from 1"
    write("out.konect-asym", "% asym posweighted\n" + lines(weighted, 1, " "), from_1, weighted)
    lower = [(1, 0, 1), (3, 0, 1), (2, 1, 1), (4, 3, 1)]
    both = mirrored(lower)
    konect = "% sym unweighted\n% 4 5 5\n1 2\n1 4\n2 3\n4 5\n"
    write("out.konect-sym", konect, from_1, both)
    write("out.konect-bip", "% bip unweighted\n% 3 2 4\n1 4 \n2 1 \n2 3 \n", from_1,
          Matrix((2, 4), [(0, 3, 1), (1, 0, 1), (1, 2, 1)]))
    write("metis.graph", "% by hand\n5 4\n2 4\n1 3\n2\n1 5\n4\n", "METIS graph", both)
    weights = mirrored([(i, j, k + 7) for k, (i, j, _) in enumerate(lower)])
    (FILES / "metis.txt").write_bytes((FILES / "metis.graph").read_bytes())
    expect("metis.txt", "METIS graph", both)
    write("metis-weights.graph", "5 4 001\n2 7 4 8\n1 7 3 9\n2 9\n1 8 5 10\n4 10\n", "METIS graph", weights)
    arcs = "".join(f"a {i + 1} {j + 1} {v}\n" for i, j, v in weights.entries)
    write("dimacs.gr", f"c by hand\np sp 5 8\nc arcs\n{arcs}", "DIMACS graph", weights)
    write("dimacs.col", "c by hand\np edge 5 4\ne 2 1\ne 4 1\ne 3 2\ne 5 4\n", "DIMACS graph", both)


def hdf5():
    """Matrices as MATLAB 7.3, 10x and AnnData write them; h5py writes all."""
    versions["h5py"] = h5py.__version__

    def group(file, name, a, keys=("data", "indices", "indptr"), **options):
        for key, array in zip(keys, [a.data, a.indices, a.indptr]):
            file.create_dataset(f"{name}/{key}", data=array, **options)
        return file[name]

    for name, options, libver in [
        ("tenx.h5", {"chunks": (4,), "compression": "gzip", "shuffle": True}, ("earliest", "v108")),
        ("tenx-v110.h5", {"chunks": (4,), "compression": "lzf"}, ("v110", "v110")),
        ("tenx-latest.h5", {"chunks": (4,)}, "latest"),
    ]:
        with h5py.File(FILES / name, "w", libver=libver) as file:
            tenx = group(file, "matrix", INTEGER.coo().tocsc(), **options)
            tenx["shape"] = numpy.array(INTEGER.shape)
            tenx["barcodes"] = numpy.array([b"AAAC-1"] * INTEGER.shape[1])
            tenx["features/id"] = numpy.array([b"ENSG1"] * INTEGER.shape[0])
        expect(name, "HDF5", INTEGER)

    def anndata(name, matrix, x):
        with h5py.File(FILES / name, "w") as file:
            file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
            for table in ["obs", "var"]:
                file.create_group(table).attrs["encoding-type"] = "dataframe"
            x(file)
            group(file, "layers/counts", INTEGER.coo().tocsr()).attrs["shape"] = INTEGER.shape
        expect(name, "HDF5", matrix)

    def sparse_x(matrix, form, keys, dtype=None, **options):
        def write(file):
            stored = getattr(matrix.coo(dtype=dtype), f"to{form[:3]}")()
            attributes = group(file, "X", stored, **options).attrs
            attributes.update(dict(zip(keys, [form, numpy.array(matrix.shape)])))
        return write

    new, old = ("encoding-type", "shape"), ("h5sparse_format", "h5sparse_shape")
    anndata("csr.h5ad", SINGLE, sparse_x(SINGLE, "csr_matrix", new, dtype="float32", compression="gzip"))
    anndata("csc.h5ad", REAL, sparse_x(REAL, "csc_matrix", new))
    anndata("old.h5ad", REAL, sparse_x(REAL, "csr", old))
    anndata("dense.h5ad", SINGLE, lambda file: file.create_dataset("X", data=SINGLE.dense().astype(">f4")))

    kind = numpy.dtype([("real", "<f8"), ("imag", "<f8")])
    pairs = lambda a: numpy.array([(v.real, v.imag) for v in a.data.tolist()], dtype=kind)
    for name, matrix, word, change in [
        ("real", TINY, "double", lambda a: a.data),
        ("complex", COMPLEX, "double", pairs),
        ("logical", PATTERN, "logical", lambda a: a.data.astype("uint8")),
        ("problem", REAL, "double", lambda a: a.data),
        ("dense", REAL, "double", None),
    ]:
        name = f"matlab73-{name}.mat"
        with h5py.File(FILES / name, "w", userblock_size=512) as file:
            a = matrix.coo().tocsc()
            if change is None:
                # MATLAB's columns are rows here.
                written = file.create_dataset("A", data=matrix.dense().T)
            else:
                place = "Problem/A" if "problem" in name else "A"
                written = file.create_group(place)
                for key, array in [("data", change(a)), ("ir", a.indices), ("jc", a.indptr)]:
                    written[key] = array if key == "data" else array.astype("uint64")
                written.attrs["MATLAB_sparse"] = numpy.uint64(matrix.shape[0])
            written.attrs["MATLAB_class"] = numpy.bytes_(word)
            file["#refs#/a"] = numpy.zeros(2)
            if "problem" in name:
                file["Problem"].attrs["MATLAB_class"] = numpy.bytes_("struct")
                file["Problem/b"] = numpy.array([VECTOR])
        with open(FILES / name, "r+b") as file:
            text = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Thu Jan  1 00:00:00 1970"
            file.write(text.ljust(116) + bytes(8) + b"\x00\x02IM")
        expect(name, "HDF5", matrix)


def compressed():
    """One matrix around which programs put their compression."""
    path = FILES / "scipy-real.mtx"
    text = path.read_bytes()
    for program, ending in [("gzip", "gz"), ("bzip2", "bz2"), ("xz", "xz"), ("zstd", "zst")]:
        with open(path, "rb") as source, open(FILES / f"{program}.mtx.{ending}", "wb") as target:
            subprocess.run([program, "-c", "-9"], stdin=source, stdout=target, check=True)
    half = text.index(b"\n", len(text) // 2) + 1
    halves = text[:half], text[half:]
    written = {
        "python.mtx.gz": gzip.compress(text, mtime=0),
        "python.mtx.bz2": bz2.compress(text),
        "python.mtx.xz": lzma.compress(text, check=lzma.CHECK_SHA256),
        "two-streams.mtx.gz": b"".join(gzip.compress(half, mtime=0) for half in halves),
        "two-streams.mtx.bz2": b"".join(map(bz2.compress, halves)),
        "two-streams.mtx.xz": b"".join(map(lzma.compress, halves)),
        "two-streams.mtx.zst": b"".join(
            subprocess.run(["zstd", "-c"], input=half, capture_output=True, check=True).stdout for half in halves
        ),
    }
    for name, content in written.items():
        (FILES / name).write_bytes(content)
    run("zip", "-j", "-X", FILES / "zip.mtx.zip", path)
    with zipfile.ZipFile(FILES / "python.mtx.zip", "w") as archive:
        archive.write(path, "folder/matrix.mtx")
    for path in FILES.glob("*.mtx.*"):
        expect(path.name, "Matrix Market", TINY)
    # Around other forms.
    for name, program, ending in [
        ("octave-v6-C.mat", "xz", "xz"),
        ("rbio-cra.rb", "zstd", "zst"),
        ("networkx-weights.edgelist", "bzip2", "bz2"),
        ("petsc-real-int64.petsc", "gzip", "gz"),
        ("scipy-dia.npz", "xz", "xz"),
        ("metis.graph", "bzip2", "bz2"),
    ]:
        with open(FILES / name, "rb") as source, open(FILES / f"{name}.{ending}", "wb") as target:
            subprocess.run([program, "-c"], stdin=source, stdout=target, check=True)
        files[f"{name}.{ending}"] = files[name]
    # As KONECT, the SuiteSparse collection and the network repository ship them.
    for name, mode, members in [
        ("konect.tar.bz2", "w:bz2", [("README.sym", "rbio-pra.rb"), ("out.sym", "out.konect-sym")]),
        ("boeing.tar.gz", "w:gz", [("boeing_b.rb", "rbio-rsa.rb"), ("boeing.rb", "rbio-rua.rb")]),
        ("dimacs.tar.xz", "w:xz", [("README.txt", "metis.txt"), ("road.gr", "dimacs.gr")]),
    ]:
        with tarfile.open(FILES / name, mode) as archive:
            for member, path in members:
                archive.add(FILES / path, f"{name.split('.')[0]}/{member}")
        files[name] = files[members[1][1]]
    with zipfile.ZipFile(FILES / "repository.zip", "w") as archive:
        archive.write(FILES / "networkx-weights.edgelist", "soc-five.edges")
        archive.writestr("readme.html", "<html>")
    files["repository.zip"] = files["networkx-weights.edgelist"]
    for program in ["bzip2", "xz", "zstd", "zip"]:
        package = {"xz": "xz-utils"}.get(program, program)
        versions[program] = run("dpkg-query", "-W", "-f", "${Version}", package)


def main():
    FILES.mkdir(exist_ok=True)
    for path in FILES.iterdir():
        path.unlink()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for write in [scipy_npz, numpy_npy, scipy_mat, scipy_text, octave, graphs, hdf5]:
            write()
        for write in [boeing, hypre]:
            write(folder)
    petsc()
    compressed()
    names = sorted(path.name for path in FILES.iterdir())
    assert names == sorted(files), set(names) ^ set(files)
    lines = lambda table: "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in table.items()) + "\n}"
    parts = [f'"{key}": {lines(table)}' for key, table in
             [("versions", versions), ("matrices", matrices), ("files", dict(sorted(files.items())))]]
    (HERE / "expected.json").write_text("{" + ",\n".join(parts) + "}\n")


main()
