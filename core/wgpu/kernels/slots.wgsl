// Before the families whose rows are row-major: `col`, `val` and `x` are theirs.

// What slots from one on to another give, one after the other. Eight are asked for before the first is waited for:
// they lie in the same 32 bytes, or the next, which are so used up before other invocations push them out of the
// cache.
fn sum_of_slots(begin: u32, end: u32) -> f32 {
    var sum = 0.0;
    var j = begin;
    for (; j + 7u < end; j += 8u) {
        let col_a = col[j];
        let col_b = col[j + 1u];
        let col_c = col[j + 2u];
        let col_d = col[j + 3u];
        let col_e = col[j + 4u];
        let col_f = col[j + 5u];
        let col_g = col[j + 6u];
        let col_h = col[j + 7u];
        let val_a = val[j];
        let val_b = val[j + 1u];
        let val_c = val[j + 2u];
        let val_d = val[j + 3u];
        let val_e = val[j + 4u];
        let val_f = val[j + 5u];
        let val_g = val[j + 6u];
        let val_h = val[j + 7u];
        sum += val_a * x[col_a];
        sum += val_b * x[col_b];
        sum += val_c * x[col_c];
        sum += val_d * x[col_d];
        sum += val_e * x[col_e];
        sum += val_f * x[col_f];
        sum += val_g * x[col_g];
        sum += val_h * x[col_h];
    }
    for (; j < end; j++) {
        sum += val[j] * x[col[j]];
    }
    return sum;
}
