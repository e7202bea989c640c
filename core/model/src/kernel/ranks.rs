//! The parameters of several GPUs and ranks.

use super::number::{integer, plain};
use super::parameter::{About, Group, Param, Values};

/// A conjugate gradient iteration on several ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iteration {
    /// Two reductions per iteration (Hestenes and Stiefel).
    Classic,
    /// One (Chronopoulos and Gear).
    Single,
    /// One, during the SpMV (Ghysels and Vanroose).
    Pipelined,
}

/// Which conjugate gradient iteration several ranks run.
pub static CG: Param<Iteration> = Param {
    usual: Iteration::Classic,
    values: Values::Words(
        &[Iteration::Classic, Iteration::Single, Iteration::Pipelined],
        |iteration| match iteration {
            Iteration::Classic => "classic",
            Iteration::Single => "single",
            Iteration::Pipelined => "pipelined",
        },
    ),
    about: About {
        more: "classic (Hestenes and Stiefel) has two reductions per iteration, single \
            (Chronopoulos and Gear) has one, pipelined (Ghysels and Vanroose) overlaps its one \
            reduction with the SpMV.",
        group: Group::Ranks,
        commands: &["bench", "solve"],
        ..About::OPTION.named(29, "cg", "cg").described(
            "WORD,...",
            "Conjugate gradient variant on several ranks: classic, single or pipelined",
        )
    },
};

/// GPUs that share a matrix.
pub static RANKS: Param<usize> = Param {
    usual: 1,
    values: Values::Text(
        |text| match integer(text)? {
            0 => Err("a number of GPUs of at least 1".to_owned()),
            ranks => Ok(ranks),
        },
        plain,
    ),
    about: About {
        more: "Each nccl/* kernel splits each matrix across the first N GPUs.",
        otherwise: "do not run them",
        group: Group::Ranks,
        ..About::OPTION
            .named(30, "ranks", "gpus")
            .described("N,...", "GPU counts for the multi-GPU kernels, e.g. 1,2")
    },
};
