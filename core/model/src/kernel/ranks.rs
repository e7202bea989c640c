//! The parameters of several GPUs and ranks.

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
        rank: 29,
        name: "cg",
        flag: "cg",
        placeholder: "WORD,...",
        help: "Conjugate gradient variant on several ranks: classic, single or pipelined",
        more: "classic (Hestenes and Stiefel) has two reductions per iteration, single \
            (Chronopoulos and Gear) has one, pipelined (Ghysels and Vanroose) overlaps its one \
            reduction with the SpMV.",
        group: Group::Ranks,
        commands: &["bench", "solve"],
        ..About::OPTION
    },
};

/// GPUs that share a matrix.
pub static RANKS: Param<usize> = Param {
    usual: 1,
    values: Values::Text(
        |text| match text.parse::<u32>() {
            Ok(0) => Err("a number of GPUs of at least 1".to_owned()),
            Ok(ranks) => Ok(ranks as usize),
            Err(_) => Err("a whole number".to_owned()),
        },
        |ranks| Some(ranks.to_string()),
    ),
    about: About {
        rank: 30,
        name: "ranks",
        flag: "gpus",
        help: "GPU counts for the multi-GPU kernels, e.g. 1,2",
        more: "Each nccl/* kernel splits each matrix across the first N GPUs.",
        otherwise: "do not run them",
        group: Group::Ranks,
        ..About::OPTION
    },
};
