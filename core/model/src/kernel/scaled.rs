//! y = alpha·op(A)·x + beta·y: what SpMV computes, as parameters.

use super::number::decimal;
use super::parameter::{About, Allowed, Group, Param, Parameter, Values};

/// Which matrix x is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A.
    AsIs,
    /// The transpose of A.
    Transposed,
}

impl Op {
    /// Both.
    pub const ALL: [Self; 2] = [Self::AsIs, Self::Transposed];

    /// `n` or `t`, as in the BLAS.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AsIs => "n",
            Self::Transposed => "t",
        }
    }
}

/// alpha and beta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Factor of the product.
    pub alpha: f64,
    /// Factor of y before it.
    pub beta: f64,
}

impl Scale {
    /// The product alone.
    pub const NONE: Self = Self { alpha: 1.0, beta: 0.0 };

    /// Reads `ALPHA` or `ALPHA:BETA`.
    fn read(text: &str) -> Result<Self, String> {
        let (alpha, beta) = text.split_once(':').unwrap_or((text, "0"));
        let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
        let scale = number(alpha).zip(number(beta));
        let expected = || "ALPHA or ALPHA:BETA, two finite numbers".to_owned();
        scale.map(|(alpha, beta)| Self { alpha, beta }).ok_or_else(expected)
    }

    fn written(self) -> Option<String> {
        let alpha = decimal(self.alpha)?;
        Some(if self.beta == 0.0 { alpha } else { format!("{alpha}:{}", decimal(self.beta)?) })
    }
}

/// Options of SpMV that change what is computed.
const COMPUTED: About = About {
    group: Group::Kernels,
    is_main: true,
    commands: &["bench", "spmv"],
    is_silent: true,
    ..About::OPTION
};

/// Which matrix x is multiplied by.
pub static OP: Param<Op> = Param {
    usual: Op::AsIs,
    values: Values::Words(&Op::ALL, Op::as_str),
    about: COMPUTED
        .named(32, "op", "op")
        .described("OP,...", "SpMV: multiply by A (n) or by its transpose (t)"),
};

/// alpha and beta.
pub static SCALE: Param<Scale> = Param {
    usual: Scale::NONE,
    values: Values::Text(Scale::read, Scale::written),
    about: COMPUTED
        .named(33, "scale", "scale")
        .described("ALPHA[:BETA],...", "SpMV: y = ALPHA A x + BETA y, in one pass"),
};

/// A kernel that only computes A·x takes these values.
pub(super) const PLAIN_OP: (Parameter, Allowed) = OP.only(&["n"]);
pub(super) const PLAIN_SCALE: (Parameter, Allowed) = SCALE.only(&["1"]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Parameters;

    #[test]
    fn a_scale_is_written_in_one_way() {
        for (text, expected) in
            [("1", "1"), ("1.0:0", "1"), ("2:0.50", "2:0.5"), ("-1:1", "-1:1"), ("1e-9", "1e-9")]
        {
            assert_eq!(SCALE.id().value(text).as_deref(), Ok(expected), "{text}");
        }
        for wrong in ["", "x", "1:", ":1", "1:2:3", "inf", "1:nan"] {
            let error = SCALE.id().value(wrong).unwrap_err().to_string();
            let expected = "expected ALPHA or ALPHA:BETA, two finite numbers";
            assert_eq!(error, format!("scale is `{wrong}`: {expected}"));
        }
        let all = Parameters::default().with(SCALE.id(), "-0.5:2");
        assert_eq!(all.get(&SCALE), Scale { alpha: -0.5, beta: 2.0 });
        assert_eq!(Parameters::default().with(SCALE.id(), "1"), Parameters::default());
    }
}
