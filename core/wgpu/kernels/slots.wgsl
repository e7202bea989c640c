// Prepended to families with row-major rows, which declare `col`, `val` and `x`.

// The sum over the slots from `begin` to `end`, in order. Eight are loaded before the first is used: they lie
// in the same or the next 32 bytes, which are thus used up before other invocations evict them from the
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
