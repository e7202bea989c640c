//! Classes of matrices by their statistics, for filters. Their names are in alphabetical order.

use sparsescope_core::matrix::Statistics;

/// A class by the coefficient of variation of the row lengths: their standard deviation over their
/// mean. Empty if they are not known, as of a matrix of which another program recorded the size.
pub(super) fn variance_class(of: &Statistics) -> &'static str {
    let variation = match of.row.mean {
        mean if mean > 0.0 => of.row.stddev / mean,
        _ if of.nnz > 0 => return "",
        _ => 0.0,
    };
    match variation {
        v if v < 0.1 => "0-0.1",
        v if v < 0.5 => "0.1-0.5",
        v if v < 2.0 => "0.5-2",
        _ => "2 and more",
    }
}

/// A class by the bandwidth: the larger distance of a nonzero from the diagonal, in percent of the
/// larger dimension. Empty if it is not known.
pub(super) fn band_class(of: &Statistics) -> &'static str {
    let size = of.rows.max(of.cols).max(1);
    let no_band = of.lower_bandwidth == 0 && of.upper_bandwidth == 0;
    if no_band && of.nnz > of.rows.min(of.cols) {
        return ""; // a diagonal has fewer nonzeros
    }
    let share = of.lower_bandwidth.max(of.upper_bandwidth) as f64 / size as f64;
    match share {
        s if s < 0.01 => "0-1%",
        s if s < 0.1 => "1-10%",
        s if s < 0.5 => "10-50%",
        _ => "50-100%",
    }
}

#[cfg(test)]
mod tests {
    use sparsescope_core::matrix::RowLengths;

    use super::*;

    #[test]
    fn a_bound_belongs_to_the_class_above_it() {
        let classes = [0.0, 0.4, 0.5, 3.0, 4.0, 7.9, 8.0].map(|stddev| {
            let row = RowLengths { mean: 4.0, stddev, ..RowLengths::default() };
            variance_class(&Statistics { row, ..Statistics::default() })
        });
        let expected = ["0-0.1", "0.1-0.5", "0.1-0.5", "0.5-2", "0.5-2", "0.5-2", "2 and more"];
        assert_eq!(classes, expected);
        let bands = [(0, 9), (9, 10), (3, 99), (500, 0), (0, 999)].map(|(lower, upper)| {
            let (rows, cols) = (1000, 1000);
            band_class(&Statistics {
                rows,
                cols,
                lower_bandwidth: lower,
                upper_bandwidth: upper,
                ..Statistics::default()
            })
        });
        assert_eq!(bands, ["0-1%", "1-10%", "1-10%", "50-100%", "50-100%"]);
        assert_eq!(variance_class(&Statistics::default()), "0-0.1", "no rows");
    }

    #[test]
    fn names_are_in_order_of_the_values() {
        assert!(["0-0.1", "0.1-0.5", "0.5-2", "2 and more"].is_sorted());
        assert!(["0-1%", "1-10%", "10-50%", "50-100%"].is_sorted());
    }
}
