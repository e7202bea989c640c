//! The energy of executions: it repeats, grows with the work, and is refused where something else would count.

use sparsescope_core::experiment::{Given, SolveProblem};
use sparsescope_core::record::Energy;

use super::*;

/// The energy of an execution, whose result must be right, or why it cannot be measured.
fn metered(
    backend: &CudaBackend,
    configuration: &Configuration,
    problem: &dyn Problem,
    temperature: Temperature,
) -> Result<Energy, String> {
    let mut prepared = ready(backend, configuration, problem).unwrap();
    let never = AtomicBool::new(false);
    let energy = prepared.energy(temperature, &Watch::cancelled_by(&never)).wait()?;
    let output = prepared.last_output().wait().unwrap();
    let check = problem.check(configuration, &output);
    assert_eq!(check.verdict, Verdict::Pass, "{:?}", check.reason);
    Ok(energy.unwrap())
}

/// The energy of an SpMV with rows of 32 nonzeros, or why it cannot be measured.
fn energy(backend: &CudaBackend, rows: usize, temperature: Temperature) -> Result<Energy, String> {
    let kernel = sparsescope_core::kernel::kernel("cuda/csr/warp-shuffle").unwrap();
    let configuration = Configuration { block: Some(128), ..Configuration::usual(kernel) };
    metered(backend, &configuration, &problem(matrix(rows, vec![32; rows])), temperature)
}

#[test]
fn energy_repeats_within_its_spread_and_grows_with_the_matrix() {
    let backend = gpu!();
    let first = match energy(&backend, 200_000, Temperature::Hot) {
        Ok(energy) => energy,
        Err(reason) => skip!(Need::Gpu, "{reason}"),
    };
    let again = energy(&backend, 200_000, Temperature::Hot).unwrap();
    // Besides the spread of the windows, 3 % for clocks that drift with the temperature.
    let apart = (first.joules / again.joules - 1.0).abs();
    let expected = first.spread() + again.spread() + 0.03;
    assert!(apart <= expected, "{first:?}, then {again:?}");
    assert!(first.windows.len() == 4 && first.seconds > 5.0, "{first:?}");
    assert!(first.watts > first.idle_watts && first.idle_watts > 0.0, "{first:?}");
    assert_eq!(first.idle_watts, again.idle_watts, "measured once");
    let small = energy(&backend, 20_000, Temperature::Hot).unwrap();
    assert!(small.joules < first.joules / 2.0, "{small:?} against {first:?}");
    let refused = energy(&backend, 20_000, Temperature::Cold).unwrap_err();
    assert!(refused.contains("warm caches"), "{refused}");
}

#[test]
fn sweeps_and_solves_have_an_energy() {
    let backend = gpu!();
    let a = symgs::made("poisson2d?n=200");
    let sweep = symgs::problem(a.clone());
    let solve = SolveProblem::new(Arc::new(a), Given::default()).unwrap();
    let cases: [(Operation, &dyn Problem); 2] =
        [(Operation::Symgs, &sweep), (Operation::Solve, &solve)];
    for (operation, problem) in cases {
        let kernel = kernels(operation).iter().find(|kernel| kernel.id.starts_with("cuda/"));
        let configuration = Configuration::usual(kernel.unwrap());
        let energy = match metered(&backend, &configuration, problem, Temperature::Hot) {
            Ok(energy) => energy,
            Err(reason) => skip!(Need::Gpu, "{reason}"),
        };
        assert!(energy.windows.len() == 4 && energy.seconds > 5.0, "{operation:?}: {energy:?}");
        assert!(energy.watts > energy.idle_watts && energy.joules > 0.0, "{operation:?}");
    }
}
