//! The same computed from the definitions, row by row and with dense elimination, for tests.

use sparsescope_core::matrix::Csr;

pub(crate) type Rows = Vec<Vec<u32>>;

pub(crate) fn entry(a: &Csr, i: usize, j: usize) -> f64 {
    let (col, val) = a.row(i);
    col.iter().position(|&k| k as usize == j).map_or(0.0, |place| val[place])
}

/// Ã: the nonzeros that a prefilter keeps.
pub(crate) fn kept(a: &Csr, delta: f64) -> Rows {
    let keeps = |i: usize, j: usize| {
        let of = entry(a, i, j);
        i == j || of * of > delta * entry(a, i, i) * entry(a, j, j)
    };
    let row = |i: usize| a.row(i).0.iter().copied().filter(|&j| keeps(i, j as usize)).collect();
    (0..a.rows()).map(row).collect()
}

/// Low(Ã), Low(Low(Ã)·Ã), … or Low(Ã), Low(Ã·Ã), …
pub(crate) fn power(kept: &Rows, power: u32, with_all_paths: bool) -> Rows {
    let low = |rows: Rows| -> Rows {
        let row =
            |(i, row): (usize, Vec<u32>)| row.into_iter().filter(|&j| j as usize <= i).collect();
        rows.into_iter().enumerate().map(row).collect()
    };
    let mut now = kept.clone();
    for _ in 1..power {
        if !with_all_paths {
            now = low(now);
        }
        let times = |row: &Vec<u32>| {
            let mut of: Vec<u32> = row.iter().flat_map(|&j| kept[j as usize].clone()).collect();
            of.sort_unstable();
            of.dedup();
            of
        };
        now = now.iter().map(times).collect();
    }
    low(now)
}

/// Groups of rows that share a system, and the union of their patterns.
pub(crate) fn groups(pattern: &Rows, alpha: f64) -> Vec<(Vec<u32>, Vec<u32>)> {
    let mut all: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
    let cube = |m: usize| (m as f64).powi(3);
    for (i, row) in pattern.iter().enumerate() {
        let mut best: Option<(f64, usize, bool)> = None;
        let open: Vec<usize> =
            (0..all.len()).rev().filter(|&g| all[g].1.len() < 200).take(10).collect();
        for g in open {
            let union = &all[g].1;
            let more = row.iter().filter(|j| !union.contains(j)).count();
            let (apart, merged) = (cube(union.len()) + cube(row.len()), cube(union.len() + more));
            let pays = merged < alpha * apart && union.len() + more <= 200;
            if best.is_none_or(|(most, ..)| apart - merged > most) {
                best = Some((apart - merged, g, pays));
            }
        }
        match best {
            Some((_, g, true)) => {
                all[g].0.push(i as u32);
                all[g].1.extend(row);
                all[g].1.sort_unstable();
                all[g].1.dedup();
            }
            _ => all.push((vec![i as u32], row.clone())),
        }
    }
    all
}

/// A[P,P], row by row.
pub(crate) fn gathered(a: &Csr, p: &[u32]) -> Vec<f64> {
    let at = |i: u32| p.iter().map(move |&j| entry(a, i as usize, j as usize));
    p.iter().flat_map(|&i| at(i)).collect()
}

/// A[P,P] g = e_m by Gaussian elimination.
pub(crate) fn solution(a: &Csr, p: &[u32]) -> Vec<f64> {
    let m = p.len();
    let mut rows: Vec<Vec<f64>> = gathered(a, p).chunks(m).map(<[f64]>::to_vec).collect();
    for (k, row) in rows.iter_mut().enumerate() {
        row.push(if k + 1 == m { 1.0 } else { 0.0 });
    }
    for k in 0..m {
        let pivot = rows[k].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            if i != k {
                let factor = row[k] / pivot[k];
                row.iter_mut().zip(&pivot).for_each(|(value, of)| *value -= factor * of);
            }
        }
    }
    (0..m).map(|k| rows[k][m] / rows[k][k]).collect()
}

/// The row of G with this pattern, before and after a postfilter: columns and values.
pub(crate) fn factor_row(a: &Csr, p: &[u32], tau: f64) -> (Vec<f64>, Vec<(u32, f64)>) {
    let g = solution(a, p);
    let m = p.len();
    let last = g[m - 1];
    let before: Vec<f64> = g.iter().map(|value| value / last.sqrt()).collect();
    let all: f64 = g.iter().map(|value| value * value).sum();
    let drops = |k: usize| tau > 0.0 && k + 1 < m && g[k] * g[k] <= tau * all;
    let d: Vec<f64> = (0..m).map(|k| if drops(k) { g[k] } else { 0.0 }).collect();
    let system = gathered(a, p);
    let mut lost = 0.0;
    for i in 0..m {
        for j in 0..m {
            lost += d[i] * system[i * m + j] * d[j];
        }
    }
    let scale = 1.0 / (last + lost).sqrt();
    let kept = (0..m).filter(|k| !drops(*k)).map(|k| (p[k], g[k] * scale)).collect();
    (before, kept)
}
