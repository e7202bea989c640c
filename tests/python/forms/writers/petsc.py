"""Writes files with petsc4py, for the Python of the PETSc build: petsc.py NAME MATRIX MATRIX_AND_VECTOR VECTOR

Standard input is JSON: shape, and row, column (from 0, sorted), real and imaginary part of each entry.
"""

import json
import sys

import petsc4py

petsc4py.init([])
from petsc4py import PETSc

given = json.load(sys.stdin)
rows, cols = given["shape"]
is_complex = PETSc.ScalarType().dtype.kind == "c"
begins, indices, values = [0], [], []
for i in range(rows):
    for row, col, re, im in given["entries"]:
        if row == i:
            indices.append(col)
            values.append(complex(float.fromhex(re), float.fromhex(im)) if is_complex else float.fromhex(re))
    begins.append(len(indices))
a = PETSc.Mat().createAIJ((rows, cols), csr=(begins, indices, values))
a.assemble()
x = PETSc.Vec().createSeq(rows)
x.setValues(range(rows), [float.fromhex(value) for value in given["vector"]])
x.assemble()
for path, objects in zip(sys.argv[1:], ([a], [a, x], [x])):
    viewer = PETSc.Viewer().createBinary(path, "w")
    for thing in objects:
        thing.view(viewer)
    viewer.destroy()
again = PETSc.Mat().load(PETSc.Viewer().createBinary(sys.argv[1], "r"))
assert again.equal(a)
print(".".join(map(str, PETSc.Sys.getVersion())), PETSc.IntType().itemsize, is_complex)
