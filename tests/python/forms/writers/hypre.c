// Writes a square matrix and its diagonal with hypre's HYPRE_IJMatrixPrint and HYPRE_IJVectorPrint, a file per MPI
// rank: mpirun -n RANKS hypre INPUT MATRIX VECTOR. The input holds rows and number of entries, then row, column
// (from 0, sorted by row) and value of each.
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <mpi.h>
#include <stdio.h>

int main(int count, char **words) {
    MPI_Init(&count, &words);
    int rank, ranks, rows, nnz, row, col, one = 1;
    double value;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    FILE *input = fopen(words[1], "r");
    if (!input || fscanf(input, "%d %d", &rows, &nnz) != 2) return 1;
    int begin = rows * rank / ranks, end = rows * (rank + 1) / ranks - 1;
    HYPRE_IJMatrix matrix;
    HYPRE_IJMatrixCreate(MPI_COMM_WORLD, begin, end, begin, end, &matrix);
    HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(matrix);
    HYPRE_IJVector diagonal;
    HYPRE_IJVectorCreate(MPI_COMM_WORLD, begin, end, &diagonal);
    HYPRE_IJVectorSetObjectType(diagonal, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(diagonal);
    for (int k = 0; k < nnz; k++) {
        if (fscanf(input, "%d %d %la", &row, &col, &value) != 3) return 1;
        if (row < begin || row > end) continue;
        HYPRE_IJMatrixSetValues(matrix, 1, &one, &row, &col, &value);
        if (row == col) HYPRE_IJVectorSetValues(diagonal, 1, &row, &value);
    }
    HYPRE_IJMatrixAssemble(matrix);
    HYPRE_IJMatrixPrint(matrix, words[2]);
    HYPRE_IJVectorAssemble(diagonal);
    HYPRE_IJVectorPrint(diagonal, words[3]);
    HYPRE_IJVectorDestroy(diagonal);
    HYPRE_IJMatrixDestroy(matrix);
    MPI_Finalize();
    return 0;
}
