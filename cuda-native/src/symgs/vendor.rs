//! The vendor's way: SpMVs with one strict triangle and solves with the other, including the
//! diagonal.

use std::rc::Rc;
use std::time::Instant;

use sparsescope_core::matrix::{Csr, Offset, RowPtr};

use super::system::{Iteration, Sweeps, System};
use crate::arguments::Element;
use crate::arrays::{Offsets, Slots};
use crate::buffer::Buffer;
use crate::cusparse::{Algorithm, Arrays, Cusparse, Operands, Product, Solve, Triangle};
use crate::device::{Device, DeviceError};
use crate::guarded::Written;
use crate::launch::{Bound, Step};
use crate::setup::Setup;
use crate::value::DeviceReal;

/// The strict triangle of a matrix.
fn strict<T: DeviceReal>(a: &Csr<T>, triangle: Triangle) -> (RowPtr, Vec<u32>, Vec<T>) {
    let taken = |i: usize, c: u32| match triangle {
        Triangle::Lower => (c as usize) < i,
        Triangle::Upper => (c as usize) > i,
    };
    let mut lengths = vec![0; a.rows()];
    let (mut col, mut val) = (Vec::new(), Vec::new());
    for (i, length) in lengths.iter_mut().enumerate() {
        let (columns, values) = a.row(i);
        for (&c, &v) in columns.iter().zip(values).filter(|&(&c, _)| taken(i, c)) {
            col.push(c);
            val.push(v);
            *length += 1;
        }
    }
    (RowPtr::from_lengths(lengths.into_iter()), col, val)
}

/// y ← b − S·x, then T·z = y: half of the iteration.
struct Half<T: 'static> {
    less: Option<Product<T>>,
    solve: Solve<T>,
}

pub(super) fn bind<T: DeviceReal, O: Offset + Element>(
    system: &System<'_, T, O>,
    _: &Iteration<'_, T>,
) -> Result<Sweeps, DeviceError> {
    let Some(library) = &system.library else {
        let status = "the library is not loaded".to_owned();
        return Err(DeviceError::Library { library: "cuSPARSE", call: "cusparseCreate", status });
    };
    let (device, n) = (system.device, system.rows as usize);
    let setup = Setup::new(device);
    let right = setup.array::<T>("the right-hand side of a solve", n)?;
    let other = setup.array::<T>("the vector between the sweeps", n)?;
    let (mut conversion_s, mut plan_s, mut bytes) = (0.0, 0.0, 0);
    let mut spent = setup.spent();
    let mut steps = Vec::new();
    let halves = [
        (Triangle::Lower, Triangle::Upper, system.x, &other),
        (Triangle::Upper, Triangle::Lower, &other, system.x),
    ];
    for (solved, multiplied, old, new) in halves {
        let begun = Instant::now();
        let (row_ptr, col, val) = strict(system.a, multiplied);
        conversion_s += begun.elapsed().as_secs_f64();
        let offsets = Offsets::of(device, "the row offsets of a triangle", &row_ptr)?;
        let slots = Slots::of(device, &col, &val)?;
        spent = spent + offsets.spent() + slots.spent();
        bytes += offsets.bytes() + slots.col.bytes() + slots.val.bytes();
        let less = less(library, device, (&offsets, &slots), (old, &right))?;
        let solve = || {
            let matrix = (system.offsets, system.slots);
            // SAFETY: a CSR matrix has rows + 1 ascending offsets up to the length of col and val,
            // and columns that are rows; the vectors have one element per row.
            unsafe { Solve::new(Rc::clone(library), device, solved, matrix, (&right, new)) }
        };
        // The first analysis in a process loads the library's code, which is not part of a plan.
        solve()?.analyse()?;
        let solve = solve()?;
        setup.begin()?;
        solve.analyse()?;
        plan_s += setup.seconds()?;
        bytes += solve.workspace().bytes();
        spent = spent + solve.workspace().spent();
        let half = Half { less, solve };
        steps.push(Step::copy(&right, system.b));
        steps.push(Step::Call(Box::new(move |_| {
            if let Some(less) = &half.less {
                less.enqueue()?;
            }
            half.solve.enqueue()
        })));
    }
    let workspace_bytes = bytes + right.bytes() + other.bytes();
    let bound = Bound { reset: system.reset(), workspace_bytes, spent, ..Bound::of(steps) };
    let between: Option<Box<dyn Written>> = Some(Box::new(other));
    Ok(Sweeps { plan_s, conversion_s, between, ..Sweeps::of(bound) })
}

/// y ← y − S·x; `None` if S has no nonzeros, which the library does not accept.
fn less<T: DeviceReal>(
    library: &Rc<Cusparse>,
    device: &Device,
    (row_ptr, slots): (&Offsets, &Slots<T>),
    (x, y): (&Buffer<T>, &Buffer<T>),
) -> Result<Option<Product<T>>, DeviceError> {
    let nnz = slots.col.len();
    if nnz == 0 {
        return Ok(None);
    }
    let operands = Operands { nnz, arrays: Arrays::Csr { row_ptr }, slots, x, y };
    let library = Rc::clone(library);
    // SAFETY: as for any CSR matrix; x and y have one element per row.
    unsafe { Product::new(library, device, Algorithm::Csr1, &operands, *T::LESS) }.map(Some)
}
