//! Weak and strong scaling on several GPUs with generated matrices that no process holds whole:
//! `several SAMPLES RANKS SPEC...`, e.g. `several 20 2 'stencil27?n=300&nz=600'`. Prints one CSV
//! line per measurement: what, matrix, GPUs, verdict, iterations, seconds (per SpMV or per
//! iteration), worst error or true residual. What cannot be measured, e.g. because a format does
//! not fit, is reported and the rest continues. `only=WORD` before the first SPEC skips
//! measurements without that word in their name: `only='jacobi csr'` runs only the solve in CSR.

#![allow(clippy::print_stdout, reason = "a program for people who measure")]

use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::distributed::Rows;
use sparsescope_core::generate::{GeneratedRows, GeneratorSpec};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::{Judgement, OperatorFormat, SolveParameters};
use sparsescope_core::record::Distributed;
use sparsescope_cuda::NcclBackend;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [samples, ranks, specs @ ..] = arguments.as_slice() else {
        return Err("expected SAMPLES RANKS SPEC...".into());
    };
    let (samples, ranks): (usize, usize) = (samples.parse()?, ranks.parse()?);
    let (only, specs) = match specs {
        [first, rest @ ..] => match first.strip_prefix("only=") {
            Some(word) => (word, rest),
            None => ("", specs),
        },
        [] => return Err("expected a SPEC".into()),
    };
    let backend = NcclBackend::open()?;
    eprintln!("NCCL {} on {} GPUs", backend.version(), backend.devices());
    let mut failed = 0;
    println!("what,matrix,gpus,verdict,iterations,median_s,error,set_up_s");
    for text in specs {
        let spec = GeneratorSpec::parse(text)?;
        let memory = MemoryLimit::of_machine();
        let rows: Arc<dyn Rows + Send + Sync> = Arc::new(GeneratedRows::new(&spec, memory)?);
        for id in ["nccl/csr/halo-overlap", "nccl/hll/halo-overlap"] {
            if !id.contains(only) {
                continue;
            }
            let begun = Instant::now();
            let made = match backend.product_of_rows(
                id,
                ranks,
                Arc::clone(&rows),
                (42, samples),
                memory,
            ) {
                Ok(made) => made,
                Err(error) => {
                    failed += 1;
                    eprintln!("{id} of {text} on {ranks} GPUs: {error}");
                    continue;
                }
            };
            let took = begun.elapsed().as_secs_f64();
            let (verdict, worst) = (made.check.verdict.as_str(), made.check.worst.unwrap_or(0.0));
            let median = median(made.samples);
            println!("{id},{text},{ranks},{verdict},,{median:.6e},{worst:.2e},{took:.1}");
            tell(&made.distributed);
        }
        for (word, format) in [("csr", OperatorFormat::Csr), ("hll", OperatorFormat::Hll)] {
            let name = format!("pcg jacobi {word}");
            if !name.contains(only) {
                continue;
            }
            let begun = Instant::now();
            let how = SolveParameters { max_iterations: 5000, ..SolveParameters::default() };
            let solved = backend.solve_of_rows(
                ranks,
                Arc::clone(&rows),
                (true, format),
                how,
                (samples.min(2), memory),
            );
            let made = match solved {
                Ok(made) => made,
                Err(error) => {
                    failed += 1;
                    eprintln!("{name} of {text} on {ranks} GPUs: {error}");
                    continue;
                }
            };
            let took = begun.elapsed().as_secs_f64();
            let each = median(made.samples) / made.iterations.max(1) as f64;
            let judged = Judgement::of(made.true_residual, made.rounding_floor, 1.0, 1e-10);
            let verdict = match judged {
                Judgement::Met if made.converged => "pass",
                Judgement::LimitedByRounding if made.converged => "limited by rounding",
                Judgement::Undecided if made.converged => "undecided",
                _ => "fail",
            };
            let (iterations, error) = (made.iterations, made.true_residual);
            println!(
                "{name},{text},{ranks},{verdict},{iterations},{each:.6e},{error:.2e},{took:.1}"
            );
            if let Some(why) = made.no_graph {
                eprintln!("no graph: {why}");
            }
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(format!("{failed} could not be measured").into()),
    }
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Prints what each GPU holds and does.
fn tell(distributed: &Distributed) {
    for (rank, share) in distributed.ranks.iter().enumerate() {
        eprintln!(
            "  GPU {rank}: {} rows ({} interior), {} entries, halo {}, computing {:.3e} s, packing {:.3e} s, waiting {:.3e} s",
            share.rows,
            share.interior_rows,
            share.entries,
            share.halo,
            share.computing_s,
            share.packing_s,
            share.waiting_s
        );
    }
}
