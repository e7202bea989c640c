// Writes the matrix of standard input as a Rutherford-Boeing file with SuiteSparse's RBio:
// boeing FILE KIND, KIND 0 real, 3 integer, 4 complex; RBio takes a matrix of ones as a pattern. The input holds
// rows, columns and the number of entries, then row, column (from 0, sorted by column), real and imaginary part
// of each.
#include <suitesparse/RBio.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
    int rows, cols, nnz, row, col, kind = atoi(words[count - 1]);
    if (scanf("%d %d %d", &rows, &cols, &nnz) != 3) return 1;
    int *begins = calloc(cols + 1, sizeof(int)), *indices = calloc(nnz, sizeof(int));
    double *values = calloc(2 * nnz, sizeof(double));
    for (int k = 0; k < nnz; k++) {
        double re, im;
        if (scanf("%d %d %la %la", &row, &col, &re, &im) != 4) return 1;
        indices[k] = row;
        begins[col + 1] = k + 1;
        if (kind == 4) {
            values[2 * k] = re;
            values[2 * k + 1] = im;
        } else {
            values[k] = re;
        }
    }
    for (int j = 1; j <= cols; j++)
        if (begins[j] < begins[j - 1]) begins[j] = begins[j - 1];
    char type[4];
    int failed = RBwrite_i(words[1], "a matrix of the tests", "forms", rows, cols, begins, indices,
                           values, NULL, NULL, NULL, kind, type);
    printf("%.3s", type);
    return failed;
}
