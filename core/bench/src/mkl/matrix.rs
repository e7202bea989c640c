//! A matrix of the library, made from CSR arrays, and its SpMV.

use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

use super::library::{
    AS_IT_IS, BY_COLUMNS, BY_ROWS, Create, Description, Handle, Mkl, Multiply, MultiplyBlock,
    TRANSPOSED,
};
use sparsescope_matrix::matrix::{Csr, Order, Real, RowPtr};
use sparsescope_model::kernel::Op;

/// Errors of the library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MklError {
    /// The matrix is too large for 32-bit integers.
    #[error(
        "the matrix has {count} {what}, but oneMKL with 32-bit integers takes at most {}",
        i32::MAX
    )]
    TooLarge { what: &'static str, count: u64 },
    /// A call failed.
    #[error("oneMKL: {call} failed: {reason}")]
    Failed { call: &'static str, reason: String },
}

/// Value types that the library supports.
pub(crate) trait MklValue: Real {
    fn create(mkl: &Mkl) -> Create<Self>;
    fn multiply(mkl: &Mkl) -> Multiply<Self>;
    fn multiply_block(mkl: &Mkl) -> MultiplyBlock<Self>;
}

impl MklValue for f64 {
    fn create(mkl: &Mkl) -> Create<Self> {
        mkl.create_f64
    }
    fn multiply(mkl: &Mkl) -> Multiply<Self> {
        mkl.multiply_f64
    }
    fn multiply_block(mkl: &Mkl) -> MultiplyBlock<Self> {
        mkl.multiply_block_f64
    }
}

impl MklValue for f32 {
    fn create(mkl: &Mkl) -> Create<Self> {
        mkl.create_f32
    }
    fn multiply(mkl: &Mkl) -> Multiply<Self> {
        mkl.multiply_f32
    }
    fn multiply_block(mkl: &Mkl) -> MultiplyBlock<Self> {
        mkl.multiply_block_f32
    }
}

/// A matrix of the library that reads the arrays of a CSR matrix.
pub(crate) struct MklMatrix<T> {
    mkl: &'static Mkl,
    a: Arc<Csr<T>>,
    /// Null if the matrix has no nonzeros, which the library does not accept.
    handle: Handle,
}

// SAFETY: the library's matrices belong to no thread; one is used by one thread at a time, through `&mut`.
unsafe impl<T: Send + Sync> Send for MklMatrix<T> {}

impl<T: MklValue> MklMatrix<T> {
    /// Passes the arrays of `a` to the library, which copies nothing.
    pub(crate) fn new(mkl: &'static Mkl, a: Arc<Csr<T>>) -> Result<Self, MklError> {
        let [rows, cols] = [("rows", a.rows()), ("columns", a.cols())]
            .map(|(what, count)| narrow(what, count as u64));
        let (rows, cols, _) = (rows?, cols?, narrow("nonzeros", a.nnz() as u64)?);
        let mut handle = ptr::null_mut();
        if a.nnz() > 0 {
            let RowPtr::Narrow(row_ptr) = a.row_ptr() else {
                return Err(MklError::TooLarge { what: "nonzeros", count: a.nnz() as u64 });
            };
            let starts = row_ptr.as_ptr().cast::<i32>();
            // SAFETY: the arrays are those of a validated CSR matrix of this size, with all numbers below
            // 2³¹, so that they are the same as signed integers; with rows + 1 starts, the ends begin one
            // later. They live as long as the handle, and `a` is shared, so nobody writes to them.
            let status = unsafe {
                let (col, val) = (a.col().as_ptr().cast::<i32>(), a.val().as_ptr());
                T::create(mkl)(&raw mut handle, 0, rows, cols, starts, starts.add(1), col, val)
            };
            checked("mkl_sparse_create_csr", status)?;
        }
        Ok(Self { mkl, a, handle })
    }

    /// Lets the library analyse, and perhaps copy, the matrix for `calls` SpMVs with it or its transpose.
    pub(crate) fn optimize(&mut self, op: Op, calls: u32) -> Result<(), MklError> {
        if self.handle.is_null() {
            return Ok(());
        }
        let calls = c_int::try_from(calls).unwrap_or(c_int::MAX);
        // SAFETY: the handle is one of `create_csr`.
        unsafe {
            let status = (self.mkl.hint)(self.handle, operation(op), Description::GENERAL, calls);
            checked("mkl_sparse_set_mv_hint", status)?;
            checked("mkl_sparse_optimize", (self.mkl.optimize)(self.handle))
        }
    }

    /// Lets the library analyse, and perhaps copy, the matrix for `calls` products with X and Y of k columns in an
    /// order.
    pub(crate) fn optimize_block(
        &mut self,
        (k, order): (usize, Order),
        calls: u32,
    ) -> Result<(), MklError> {
        if self.handle.is_null() {
            return Ok(());
        }
        let (k, calls) =
            (narrow("columns of X", k as u64)?, c_int::try_from(calls).unwrap_or(c_int::MAX));
        // SAFETY: the handle is one of `create_csr`.
        unsafe {
            let kind = Description::GENERAL;
            let status =
                (self.mkl.hint_block)(self.handle, AS_IT_IS, kind, layout(order), k, calls);
            checked("mkl_sparse_set_mm_hint", status)?;
            checked("mkl_sparse_optimize", (self.mkl.optimize)(self.handle))
        }
    }

    /// Computes Y = A·X, where X and Y have k columns and are stored in an order. Panics unless X has n·k elements and
    /// Y has m·k.
    pub(crate) fn multiply_block(
        &mut self,
        (k, order): (usize, Order),
        x: &[T],
        y: &mut [T],
    ) -> Result<(), MklError> {
        let expected = (k * self.a.cols(), k * self.a.rows());
        assert_eq!((x.len(), y.len()), expected, "X has n·k elements, Y has m·k");
        if self.handle.is_null() {
            y.fill(T::ZERO);
            return Ok(());
        }
        let k = narrow("columns of X", k as u64)?;
        // The elements from a row, or from a column, to the next.
        let apart = |rows: usize| match order {
            Order::RowMajor => Ok(k),
            Order::ColumnMajor => narrow("rows of X or Y", rows as u64),
        };
        let (of_x, of_y) = (apart(self.a.cols())?, apart(self.a.rows())?);
        // SAFETY: the handle is one of `create_csr` for an m × n matrix; X is n × k and Y is m × k, both in this order.
        // With beta 0 the previous content of Y is ignored.
        let status = unsafe {
            let (x, y) = (x.as_ptr(), y.as_mut_ptr());
            let kind = Description::GENERAL;
            let multiply = T::multiply_block(self.mkl);
            let order = layout(order);
            multiply(AS_IT_IS, T::ONE, self.handle, kind, order, x, k, of_x, T::ZERO, y, of_y)
        };
        checked("mkl_sparse_mm", status)
    }

    /// Computes y = alpha·op(A)·x + beta·y. Panics unless x has as many elements as op(A) has columns, and y as it has
    /// rows.
    pub(crate) fn multiply(
        &mut self,
        op: Op,
        [alpha, beta]: [T; 2],
        x: &[T],
        y: &mut [T],
    ) -> Result<(), MklError> {
        let expected = match op {
            Op::AsIs => (self.a.cols(), self.a.rows()),
            Op::Transposed => (self.a.rows(), self.a.cols()),
        };
        assert_eq!((x.len(), y.len()), expected, "x is as long as op(A) is wide, y as it is high");
        if self.handle.is_null() {
            let scaled = |y: T| if beta == T::ZERO { T::ZERO } else { beta * y };
            y.iter_mut().for_each(|y| *y = scaled(*y));
            return Ok(());
        }
        // SAFETY: the handle is one of `create_csr` for an m × n matrix; x and y have as many elements as the operation
        // reads and writes. With beta 0 the previous content of y is ignored.
        let status = unsafe {
            let (x, y) = (x.as_ptr(), y.as_mut_ptr());
            let kind = Description::GENERAL;
            T::multiply(self.mkl)(operation(op), alpha, self.handle, kind, x, beta, y)
        };
        checked("mkl_sparse_mv", status)
    }
}

impl<T> Drop for MklMatrix<T> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the handle is one of `create_csr` and is not used again.
            unsafe { (self.mkl.destroy)(self.handle) };
        }
    }
}

/// The library's constant.
fn operation(op: Op) -> c_int {
    match op {
        Op::AsIs => AS_IT_IS,
        Op::Transposed => TRANSPOSED,
    }
}

/// The library's constant.
fn layout(order: Order) -> c_int {
    match order {
        Order::RowMajor => BY_ROWS,
        Order::ColumnMajor => BY_COLUMNS,
    }
}

fn narrow(what: &'static str, count: u64) -> Result<c_int, MklError> {
    c_int::try_from(count).map_err(|_| MklError::TooLarge { what, count })
}

/// Turns a nonzero status into an error.
fn checked(call: &'static str, status: c_int) -> Result<(), MklError> {
    let reason = match status {
        0 => return Ok(()),
        1 => "the matrix is empty or not initialised".to_owned(),
        2 => "out of memory".to_owned(),
        3 => "an argument is invalid".to_owned(),
        4 => "execution failed".to_owned(),
        5 => "an internal error".to_owned(),
        6 => "not supported".to_owned(),
        other => format!("status {other}"),
    };
    Err(MklError::Failed { call, reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_past_32_bits_with_a_sign_are_refused_in_a_sentence() {
        assert_eq!(narrow("rows", 2_147_483_647), Ok(i32::MAX));
        let error = narrow("nonzeros", 2_147_483_648).unwrap_err().to_string();
        assert_eq!(
            error,
            "the matrix has 2147483648 nonzeros, but oneMKL with 32-bit integers takes at most \
            2147483647"
        );
        let error = checked("mkl_sparse_mv", 6).unwrap_err().to_string();
        assert_eq!(error, "oneMKL: mkl_sparse_mv failed: not supported");
    }
}
