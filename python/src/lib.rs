//! The module `sparsescope._native`: matrices, kernels, solvers and bundles of Sparsescope for Python. The
//! package in `python/sparsescope` is its typed layer.

mod arrays;
mod bundle;
mod command;
mod errors;
mod fsai;
mod matrix;
mod numbers;
mod operator;
mod read;
mod skyline;
mod solve;
mod spmv;
mod structure;
mod work;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<bundle::Bundle>()?;
    module.add_class::<fsai::Fsai>()?;
    module.add_class::<matrix::Matrix>()?;
    module.add_class::<operator::Product>()?;
    module.add_class::<skyline::Front>()?;
    module.add_class::<solve::Convergence>()?;
    module.add_class::<structure::Structure>()?;
    module.add_function(wrap_pyfunction!(command::command, module)?)?;
    module.add_function(wrap_pyfunction!(command::measure, module)?)?;
    module.add_function(wrap_pyfunction!(read::read, module)?)?;
    module.add_function(wrap_pyfunction!(skyline::skyline, module)?)?;
    module.add_function(wrap_pyfunction!(solve::solve, module)?)?;
    module.add_function(wrap_pyfunction!(spmv::spmm, module)?)?;
    module.add_function(wrap_pyfunction!(spmv::spmv, module)?)?;
    Ok(())
}
