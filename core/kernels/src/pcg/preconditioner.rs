//! The preconditioner, applied to the residual: z = K⁻¹·r.

use std::sync::Arc;

use web_time::Instant;

use super::{Operator, OperatorFormat};
use crate::symgs::{Diagonal, LevelSets, OperandError, Schedule, Workspace, ZeroStart, serial};
use sparsescope_matrix::matrix::{Csr, FormatError};
use sparsescope_matrix::memory::{MemoryError, MemoryLimit, zeroed};

/// Why a preconditioner cannot be set up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PreconditionerError {
    /// The diagonal has a missing or zero element, or the preconditioner does not fit into memory.
    #[error(transparent)]
    Operand(#[from] OperandError),
    /// A factor cannot be stored in the format.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The preconditioner does not fit into memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The factor and its transpose differ in size.
    #[error("the factor G has {rows} rows, but its transpose has {transposed}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Sizes { rows: usize, transposed: usize },
}

/// The approximate inverse K⁻¹, with the seconds that each phase of its setup took.
#[derive(Clone, Debug)]
pub enum Preconditioner {
    /// z = r.
    None,
    /// z = D⁻¹·r, D the diagonal.
    Jacobi(Jacobi),
    /// z = (D + U)⁻¹·D·(D + L)⁻¹·r: a symmetric Gauss–Seidel sweep from zero.
    Symgs(Symgs),
    /// z = Gᵀ·(G·r).
    Fsai(FsaiOperators),
}

/// The reciprocals of the diagonal.
#[derive(Clone, Debug)]
pub struct Jacobi {
    inverse: Vec<f64>,
    phases: Vec<(&'static str, f64)>,
}

/// The data of a Gauss–Seidel sweep.
#[derive(Clone, Debug)]
pub struct Symgs {
    a: Arc<Csr>,
    diagonal: Diagonal,
    /// The rows grouped by level; none for one worker.
    schedule: Option<Schedule<f64>>,
    phases: Vec<(&'static str, f64)>,
}

/// G and Gᵀ, each in its format.
#[derive(Clone, Debug)]
pub struct FsaiOperators {
    g: Operator,
    gt: Operator,
    phases: Vec<(&'static str, f64)>,
}

impl Preconditioner {
    /// Builds Jacobi; the error names the first row whose diagonal is missing or zero.
    pub fn jacobi(a: &Csr, limit: MemoryLimit) -> Result<Self, PreconditionerError> {
        let start = Instant::now();
        let diagonal = Diagonal::of(a, limit)?;
        limit.check("the reciprocals of the diagonal", 8 * a.rows() as u128)?;
        let before = diagonal.before().iter().enumerate();
        let inverse = before.map(|(i, &k)| 1.0 / a.row(i).1[k as usize]).collect();
        let phases = vec![("diagonal", start.elapsed().as_secs_f64())];
        Ok(Self::Jacobi(Jacobi { inverse, phases }))
    }

    /// Builds symmetric Gauss–Seidel: level-scheduled for several workers; one worker follows the rows of `a`
    /// itself.
    pub fn symgs(
        a: &Arc<Csr>,
        workers: usize,
        limit: MemoryLimit,
    ) -> Result<Self, PreconditionerError> {
        let start = Instant::now();
        let diagonal = Diagonal::of(a, limit)?;
        let mut phases = vec![("diagonal", start.elapsed().as_secs_f64())];
        let start = Instant::now();
        let schedule = match workers {
            0 | 1 => None,
            _ => {
                let levels = LevelSets::of(a, &diagonal, limit)?;
                phases.push(("levels", start.elapsed().as_secs_f64()));
                let start = Instant::now();
                let schedule = Schedule::levels(levels, workers, limit)?;
                phases.push(("rows", start.elapsed().as_secs_f64()));
                Some(schedule)
            }
        };
        Ok(Self::Symgs(Symgs { a: Arc::clone(a), diagonal, schedule, phases }))
    }

    /// Builds from a lower triangular factor G and its transpose, each in this format. `phases` are the setup
    /// phases of G.
    pub fn fsai(
        g: &Arc<Csr>,
        gt: &Arc<Csr>,
        format: OperatorFormat,
        phases: Vec<(&'static str, f64)>,
        limit: MemoryLimit,
    ) -> Result<Self, PreconditionerError> {
        let (rows, transposed) = (g.rows(), gt.rows());
        if rows != transposed || [g.cols(), gt.cols()] != [rows; 2] {
            return Err(PreconditionerError::Sizes { rows, transposed });
        }
        let start = Instant::now();
        let (g, gt) = (Operator::new(g, format, limit)?, Operator::new(gt, format, limit)?);
        let mut phases = phases;
        phases.push(("format", start.elapsed().as_secs_f64()));
        Ok(Self::Fsai(FsaiOperators { g, gt, phases }))
    }

    /// The name used on the command line and in files.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Jacobi(_) => "jacobi",
            Self::Symgs(_) => "symgs",
            Self::Fsai(_) => "fsai",
        }
    }

    /// Seconds of each setup phase.
    pub fn phases(&self) -> &[(&'static str, f64)] {
        match self {
            Self::None => &[],
            Self::Jacobi(Jacobi { phases, .. })
            | Self::Symgs(Symgs { phases, .. })
            | Self::Fsai(FsaiOperators { phases, .. }) => phases,
        }
    }

    /// Rows of the matrix it was built for; none if it suits any matrix.
    pub fn rows(&self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Jacobi(jacobi) => Some(jacobi.inverse.len()),
            Self::Symgs(symgs) => Some(symgs.a.rows()),
            Self::Fsai(fsai) => Some(fsai.g.rows()),
        }
    }
}

impl Jacobi {
    /// 1/a_ii of each row.
    pub fn inverse(&self) -> &[f64] {
        &self.inverse
    }
}

impl FsaiOperators {
    /// G in its storage format.
    pub fn g(&self) -> &Operator {
        &self.g
    }

    /// Gᵀ in its storage format.
    pub fn gt(&self) -> &Operator {
        &self.gt
    }
}

/// Work space of the sweeps.
#[derive(Debug, Default)]
pub(super) struct SweepSpace {
    r: Vec<f64>,
    z: Vec<f64>,
    workspace: Workspace<f64>,
}

impl Symgs {
    /// Computes z = M⁻¹·r, with the same bits for any number of workers.
    pub(super) fn apply(&self, parallel: bool, r: &[f64], z: &mut [f64], space: &mut SweepSpace) {
        let Some(schedule) = self.schedule.as_ref().filter(|_| parallel) else {
            return serial::zero_start(&self.a, &self.diagonal, ZeroStart::Half, r, z);
        };
        if space.r.len() != r.len() {
            (space.r, space.z) = (zeroed(0.0, r.len()), zeroed(0.0, r.len()));
        }
        schedule.to_order(r, &mut space.r);
        schedule.zero_start(ZeroStart::Half, &space.r, &mut space.z, &mut space.workspace);
        schedule.from_order(&space.z, z);
    }
}
