//! A format with its parameters as a value, and a matrix in any format.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Bsr, CompactCsr, CompactHll, Coo, Csr, CsrPlan, Dia, EllShape, Ellpack, FormatError, Hll,
    HllLayout, HllPlan, Hyb, Order, Scalar, SlotLayout, ValueCoding,
};
use crate::memory::MemoryLimit;
use crate::order;
use crate::pace::{Pace, at_once};

/// A format and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FormatSpec {
    /// Coordinates.
    Coo,
    /// Compressed sparse rows.
    Csr,
    /// ELLPACK.
    Ell {
        /// Order of the slots.
        order: Order,
    },
    /// ELLPACK plus COO.
    Hyb {
        /// Width of the ELLPACK part; Bell and Garland's rule when absent.
        width: Option<usize>,
        /// Order of the ELLPACK part's slots.
        order: Order,
    },
    /// Hacked ELLPACK.
    Hll(HllLayout),
    /// Block sparse rows.
    Bsr {
        /// Block size; if absent, the one that moves the fewest bytes.
        block: Option<usize>,
        /// Minimum percent of slots that hold nonzeros.
        min_fill: u32,
    },
    /// Diagonals.
    Dia {
        /// Minimum percent of slots that hold nonzeros.
        min_fill: u32,
    },
    /// CSR with 16-bit column differences.
    CsrCompact(ValueCoding),
    /// HLL with 16-bit column distances; the slots of a hack are always column-major, whatever the layout
    /// says.
    HllCompact(HllLayout, ValueCoding),
}

/// Writes the name and all parameters, e.g. `hll hack_size=32 row-major sigma=1`; the text is unique per
/// format.
impl fmt::Display for FormatSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hll = |f: &mut fmt::Formatter<'_>, layout: &HllLayout| {
            let HllLayout { hack_size, order, sigma, spill } = layout;
            write!(f, " hack_size={hack_size} {} sigma={sigma}", order.as_str())?;
            spill.map_or(Ok(()), |spill| write!(f, " spill={spill}"))
        };
        f.write_str(self.name())?;
        match self {
            Self::Coo | Self::Csr | Self::Ell { .. } => Ok(()),
            Self::Hyb { width, .. } => {
                width.map_or(Ok(()), |width| write!(f, " hyb_width={width}"))
            }
            Self::Bsr { block, min_fill } => {
                block.map_or(Ok(()), |block| write!(f, " bsr_block={block}"))?;
                write!(f, " min_fill={min_fill}")
            }
            Self::Dia { min_fill } => write!(f, " min_fill={min_fill}"),
            Self::Hll(layout) => hll(f, layout),
            Self::CsrCompact(values) => write!(f, " values={}", values.as_str()),
            Self::HllCompact(layout, values) => {
                hll(f, layout)?;
                write!(f, " values={}", values.as_str())
            }
        }
    }
}

impl FormatSpec {
    const HLL: HllLayout = HllLayout {
        hack_size: super::DEFAULT_HACK_SIZE,
        order: Order::RowMajor,
        sigma: 1,
        spill: None,
    };

    /// Every format with its default parameters, as `info` and the statistics list them.
    pub const DEFAULTS: [Self; 11] = [
        Self::Coo,
        Self::Csr,
        Self::Ell { order: Order::RowMajor },
        Self::Hyb { width: None, order: Order::RowMajor },
        Self::Hll(Self::HLL),
        Self::Hll(HllLayout { order: Order::ColumnMajor, ..Self::HLL }),
        Self::Hll(HllLayout {
            order: Order::ColumnMajor,
            sigma: super::DEFAULT_SIGMA,
            ..Self::HLL
        }),
        Self::Bsr { block: None, min_fill: super::BSR_MIN_FILL },
        Self::Dia { min_fill: super::DIA_MIN_FILL },
        Self::CsrCompact(ValueCoding::Auto),
        Self::HllCompact(HllLayout { order: Order::ColumnMajor, ..Self::HLL }, ValueCoding::Auto),
    ];

    /// `coo`, `csr`, `ell`, `hyb`, `hll`, `bsr`, `dia`, `csr-compact`, `hll-compact`, with `-column-major`
    /// appended for column-major order and `-sigma` for sorted rows.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Coo => "coo",
            Self::Csr => "csr",
            Self::Ell { order: Order::RowMajor } => "ell",
            Self::Ell { order: Order::ColumnMajor } => "ell-column-major",
            Self::Hyb { order: Order::RowMajor, .. } => "hyb",
            Self::Hyb { order: Order::ColumnMajor, .. } => "hyb-column-major",
            Self::Bsr { .. } => "bsr",
            Self::Dia { .. } => "dia",
            Self::CsrCompact(_) => "csr-compact",
            Self::HllCompact(layout, _) if layout.sigma > 1 => "hll-compact-sigma",
            Self::HllCompact(..) => "hll-compact",
            Self::Hll(layout) => match (layout.order, layout.sigma > 1) {
                (Order::RowMajor, false) => "hll",
                (Order::RowMajor, true) => "hll-sigma",
                (Order::ColumnMajor, false) => "hll-column-major",
                (Order::ColumnMajor, true) => "hll-column-major-sigma",
            },
        }
    }

    /// Computes the size of `a` in this format without building it. Sizes beyond `u64` saturate. Fails when
    /// the format does not suit the matrix.
    pub fn size<T: Scalar>(&self, a: &Csr<T>) -> Result<FormatSize, FormatError> {
        at_once(self.size_at(a, Pace::AtOnce))
    }

    /// Like [`size`](Self::size), in steps if `pace` asks for them.
    pub(super) async fn size_at<T: Scalar>(
        &self,
        a: &Csr<T>,
        pace: Pace,
    ) -> Result<FormatSize, FormatError> {
        let (rows, cols, nnz) = (a.rows(), a.cols(), a.nnz() as u64);
        let entry = 4 + T::BYTES as u128;
        let vectors = T::BYTES as u128 * (rows as u128 + cols as u128);
        let (slots, bytes, minimal_bytes) = match *self {
            Self::Csr => (nnz, u128::from(a.bytes()), u128::from(a.minimal_bytes())),
            Self::Coo => {
                let bytes = Coo::bytes_needed(a);
                (nnz, bytes, bytes + vectors)
            }
            Self::Ell { order } => {
                let shape = EllShape { rows, width: a.max_row_len(), order };
                let bytes = Ellpack::<T>::bytes_needed(rows, shape.width);
                (shape.slots(), bytes, Ellpack::<T>::minimal_bytes_of(&shape, cols))
            }
            Self::Hyb { width, order } => {
                let width = Hyb::width(a, width);
                let shape = EllShape { rows, width, order };
                let tail = Hyb::tail_len(a, width) as u64;
                let minimal = Ellpack::<T>::minimal_bytes_of(&shape, cols);
                let tail_bytes = u128::from(tail) * (4 + entry);
                (shape.slots() + tail, Hyb::bytes_needed(a, width), minimal + tail_bytes)
            }
            Self::Bsr { block, min_fill } => {
                let (block, blocks) = Bsr::choose_at(a, block, min_fill, pace).await?;
                let slots = blocks as u64 * (block * block) as u64;
                let minimal = Bsr::minimal_bytes_of(a, block, blocks);
                (slots, Bsr::bytes_needed(a, block, blocks), minimal)
            }
            Self::Dia { min_fill } => {
                let diagonals = Dia::diagonals(a, min_fill)?.len();
                let minimal = Dia::<T>::minimal_bytes_of(rows, cols, diagonals);
                let bytes = Dia::<T>::bytes_needed(rows, diagonals);
                (diagonals as u64 * rows as u64, bytes, minimal)
            }
            Self::Hll(layout) => {
                let (order, shape) = Hll::plan(a, layout)?;
                let slots = Hll::slots_of(a, &order, &shape);
                let minimal = Hll::minimal_bytes_of(a, &order, &shape);
                (slots, Hll::bytes_needed(a, &order, &shape), minimal)
            }
            Self::CsrCompact(coding) => {
                let plan = CsrPlan::new(a, coding)?;
                (nnz, plan.bytes(), plan.minimal_bytes())
            }
            Self::HllCompact(layout, coding) => {
                let plan = HllPlan::at(a, layout, coding, pace).await?;
                (plan.slots(), plan.bytes(), plan.minimal_bytes(cols))
            }
        };
        let saturate = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
        Ok(FormatSize {
            format: self.name().to_owned(),
            bytes: saturate(bytes),
            slots,
            padding: if nnz == 0 { 1.0 } else { slots as f64 / nnz as f64 },
            minimal_bytes: saturate(minimal_bytes),
        })
    }

    /// Converts `a`. Fails, before allocating, when the result needs more than `limit`.
    pub fn build<T: Scalar>(
        &self,
        a: &Arc<Csr<T>>,
        limit: MemoryLimit,
    ) -> Result<AnyFormat<T>, FormatError> {
        Ok(match *self {
            Self::Csr => AnyFormat::Csr(Arc::clone(a)),
            Self::Coo => AnyFormat::Coo(Coo::from_csr(a, limit)?.into()),
            Self::Ell { order } => AnyFormat::Ell(Ellpack::from_csr(a, order, limit)?.into()),
            Self::Hyb { width, order } => {
                let width = Hyb::width(a, width);
                AnyFormat::Hyb(Hyb::from_csr(a, width, order, limit)?.into())
            }
            Self::Bsr { block, min_fill } => {
                let (block, _) = Bsr::choose(a, block, min_fill)?;
                AnyFormat::Bsr(Bsr::from_csr(a, block, limit)?.into())
            }
            Self::Dia { min_fill } => AnyFormat::Dia(Dia::from_csr(a, min_fill, limit)?.into()),
            Self::Hll(layout) => AnyFormat::Hll(Hll::arranged(a, layout, limit)?.into()),
            Self::CsrCompact(coding) => {
                AnyFormat::CsrCompact(CompactCsr::from_csr(a, coding, limit)?.into())
            }
            Self::HllCompact(layout, coding) => {
                AnyFormat::HllCompact(CompactHll::from_csr(a, layout, coding, limit)?.into())
            }
        })
    }

    /// The parameters in effect in a converted matrix, by their names in bundles and on the command line;
    /// empty when the format takes none.
    pub fn in_force<T: Scalar>(&self, made: &AnyFormat<T>) -> BTreeMap<String, String> {
        let named = |pairs: &[(&str, Option<usize>)]| -> BTreeMap<String, String> {
            let given = pairs.iter().filter_map(|&(name, value)| Some((name, value?)));
            order::map(given.map(|(name, value)| (name.to_owned(), value.to_string())))
        };
        let of_hll = |layout: &HllLayout| {
            named(&[
                ("hack_size", Some(layout.hack_size)),
                ("sigma", Some(layout.sigma).filter(|&sigma| sigma > 1)),
                ("spill", layout.spill),
            ])
        };
        // Report what did not fit in 16 bits, if anything.
        let coded = |mut given: BTreeMap<String, String>, coding: &str, wide: (&str, usize)| {
            given.insert("values".to_owned(), coding.to_owned());
            given.extend(named(&[(wide.0, Some(wide.1).filter(|&count| count > 0))]));
            given
        };
        match (self, made) {
            (Self::HllCompact(layout, _), AnyFormat::HllCompact(a)) => {
                coded(of_hll(layout), a.values().as_str(), ("wide_lines", a.wide_lines()))
            }
            (_, AnyFormat::CsrCompact(a)) => {
                coded(BTreeMap::new(), a.values().as_str(), ("wide_rows", a.wide_rows()))
            }
            (Self::Hll(layout), _) => of_hll(layout),
            (_, AnyFormat::Hyb(a)) => named(&[("hyb_width", Some(a.ell().shape().width))]),
            (_, AnyFormat::Bsr(a)) => named(&[("bsr_block", Some(a.block()))]),
            _ => BTreeMap::new(),
        }
    }
}

/// The size of a matrix in one format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormatSize {
    /// `coo`, `csr`, `ell`, `hyb`, `hll`, …
    pub format: String,
    /// Bytes of its arrays.
    pub bytes: u64,
    /// Stored slots, padding included.
    pub slots: u64,
    /// slots / nnz; 1 without nonzeros.
    pub padding: f64,
    /// Minimal bytes that one SpMV moves.
    pub minimal_bytes: u64,
}

/// A matrix in one of the formats; cheap to clone.
#[derive(Clone, Debug)]
pub enum AnyFormat<T = f64> {
    /// Coordinates.
    Coo(Arc<Coo<T>>),
    /// Compressed sparse rows.
    Csr(Arc<Csr<T>>),
    /// ELLPACK.
    Ell(Arc<Ellpack<T>>),
    /// ELLPACK plus COO.
    Hyb(Arc<Hyb<T>>),
    /// Hacked ELLPACK.
    Hll(Arc<Hll<T>>),
    /// Block sparse rows.
    Bsr(Arc<Bsr<T>>),
    /// Diagonals.
    Dia(Arc<Dia<T>>),
    /// CSR with 16-bit column differences.
    CsrCompact(Arc<CompactCsr<T>>),
    /// HLL with 16-bit column distances.
    HllCompact(Arc<CompactHll<T>>),
}

impl<T: Scalar> AnyFormat<T> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Coo(a) => a.rows(),
            Self::Csr(a) => a.rows(),
            Self::Ell(a) => a.shape().rows,
            Self::Hyb(a) => a.ell().shape().rows,
            Self::Hll(a) => a.rows(),
            Self::Bsr(a) => a.rows(),
            Self::Dia(a) => a.rows(),
            Self::CsrCompact(a) => a.rows(),
            Self::HllCompact(a) => a.rows(),
        }
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        match self {
            Self::Coo(a) => a.cols(),
            Self::Csr(a) => a.cols(),
            Self::Ell(a) => a.cols(),
            Self::Hyb(a) => a.ell().cols(),
            Self::Hll(a) => a.cols(),
            Self::Bsr(a) => a.cols(),
            Self::Dia(a) => a.cols(),
            Self::CsrCompact(a) => a.cols(),
            Self::HllCompact(a) => a.cols(),
        }
    }

    /// Bytes of the arrays.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Coo(a) => a.bytes(),
            Self::Csr(a) => a.bytes(),
            Self::Ell(a) => a.bytes(),
            Self::Hyb(a) => a.bytes(),
            Self::Hll(a) => a.bytes(),
            Self::Bsr(a) => a.bytes(),
            Self::Dia(a) => a.bytes(),
            Self::CsrCompact(a) => a.bytes(),
            Self::HllCompact(a) => a.bytes(),
        }
    }

    /// Minimum bytes that one SpMV moves.
    pub fn minimal_bytes(&self) -> u64 {
        match self {
            Self::Coo(a) => a.minimal_bytes(),
            Self::Csr(a) => a.minimal_bytes(),
            Self::Ell(a) => a.minimal_bytes(),
            Self::Hyb(a) => a.minimal_bytes(),
            Self::Hll(a) => a.minimal_bytes(),
            Self::Bsr(a) => a.minimal_bytes(),
            Self::Dia(a) => a.minimal_bytes(),
            Self::CsrCompact(a) => a.minimal_bytes(),
            Self::HllCompact(a) => a.minimal_bytes(),
        }
    }

    /// Converts back to CSR.
    pub fn to_csr(&self) -> Csr<T> {
        match self {
            Self::Coo(a) => a.to_csr(),
            Self::Csr(a) => Csr::clone(a),
            Self::Ell(a) => a.to_csr(),
            Self::Hyb(a) => a.to_csr(),
            Self::Hll(a) => a.to_csr(),
            Self::Bsr(a) => a.to_csr(),
            Self::Dia(a) => a.to_csr(),
            Self::CsrCompact(a) => a.to_csr(),
            Self::HllCompact(a) => a.to_csr(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_differ_in_anything_differ_in_their_words() {
        let order = Order::ColumnMajor;
        let layout = |hack_size, sigma, spill| HllLayout { hack_size, order, sigma, spill };
        let mut all = FormatSpec::DEFAULTS.to_vec();
        for layout in
            [layout(8, 1, None), layout(8, 2, None), layout(8, 4, None), layout(8, 4, Some(1))]
        {
            all.push(FormatSpec::Hll(layout));
            all.push(FormatSpec::HllCompact(layout, ValueCoding::Auto));
            all.push(FormatSpec::HllCompact(layout, ValueCoding::Plain));
        }
        for some in [1, 2] {
            all.push(FormatSpec::Hyb { width: Some(some), order });
            all.push(FormatSpec::Bsr { block: Some(some), min_fill: 50 });
            all.push(FormatSpec::Bsr { block: None, min_fill: some as u32 });
            all.push(FormatSpec::Dia { min_fill: some as u32 });
        }
        all.extend(ValueCoding::ALL[1..].iter().map(|values| FormatSpec::CsrCompact(*values)));
        let words: std::collections::BTreeSet<String> =
            all.iter().map(FormatSpec::to_string).collect();
        assert_eq!(words.len(), all.len(), "{words:?}");
    }

    #[test]
    fn the_parameters_in_force_are_those_of_the_matrix_that_was_made() {
        let a = Arc::new(crate::matrix::examples::five_by_five());
        let in_force = |spec: FormatSpec| -> Vec<(String, String)> {
            let made = spec.build(&a, MemoryLimit::unlimited()).unwrap();
            spec.in_force(&made).into_iter().collect()
        };
        let named = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
        };
        let order = Order::RowMajor;
        let hll = |sigma, spill| FormatSpec::Hll(HllLayout { hack_size: 4, order, sigma, spill });
        assert_eq!(in_force(hll(1, None)), named(&[("hack_size", "4")]));
        let all = [("hack_size", "4"), ("sigma", "4"), ("spill", "1")];
        assert_eq!(in_force(hll(4, Some(1))), named(&all));
        // The actual width, though none was requested.
        let chosen = Hyb::<f64>::width(&a, None).to_string();
        assert_eq!(
            in_force(FormatSpec::Hyb { width: None, order }),
            named(&[("hyb_width", &chosen)])
        );
        let bsr = FormatSpec::Bsr { block: Some(2), min_fill: 0 };
        assert_eq!(in_force(bsr), named(&[("bsr_block", "2")]));
        assert_eq!(in_force(FormatSpec::Csr), named(&[]));
        // Ten codes and six distinct values take less space than ten values.
        let compact = |coding| FormatSpec::CsrCompact(coding);
        assert_eq!(in_force(compact(ValueCoding::Auto)), named(&[("values", "8")]));
        assert_eq!(in_force(compact(ValueCoding::Plain)), named(&[("values", "plain")]));
        let compact = FormatSpec::HllCompact(HllLayout::plain(8, order), ValueCoding::Short);
        assert_eq!(in_force(compact), named(&[("hack_size", "8"), ("values", "16")]));
    }
}
