//! Runs in steps on a backend that answers later.

use super::super::sampling::ROUNDS;
use super::*;

/// Returns every answer of another backend only at the third poll.
struct Later(CpuBackend);

struct LaterPrepared<'p>(Box<dyn Prepared + 'p>);

/// Ready at the third poll.
async fn third_time() {
    let mut asked = 0;
    std::future::poll_fn(|_| {
        asked += 1;
        if asked < 3 { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    })
    .await;
}

impl Backend for Later {
    fn model(&self) -> &str {
        "later"
    }
    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        self.0.availability(kernel)
    }
    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        Ok(Box::new(LaterPrepared(self.0.prepare(configuration, problem, memory)?)))
    }
}

impl Prepared for LaterPrepared<'_> {
    fn set_up<'t>(&'t mut self, watch: &'t Watch<'_>) -> SetUp<'t> {
        Ticket::later(async {
            third_time().await;
            self.0.set_up(watch).await
        })
    }
    fn sample<'t>(&'t mut self, n: usize, t: Temperature, watch: &'t Watch<'_>) -> Sampled<'t> {
        Ticket::later(async move {
            third_time().await;
            self.0.sample(n, t, watch).await
        })
    }
    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t> {
        Ticket::later(async {
            third_time().await;
            self.0.output(watch).await
        })
    }
    fn last_output(&mut self) -> LastOutput<'_> {
        self.0.last_output()
    }
    fn repetitions(&self) -> u32 {
        self.0.repetitions()
    }
    fn parts(&self) -> Option<usize> {
        self.0.parts()
    }
    fn costs(&self) -> sparsescope_record::Costs {
        self.0.costs()
    }
    fn params(&self) -> BTreeMap<String, String> {
        self.0.params()
    }
}

#[test]
fn a_step_ends_where_a_backend_has_no_answer_yet_and_all_steps_give_every_run() {
    let backend = Later(CpuBackend::new());
    let (settings, environment) = (settings(), environment());
    let runner = Runner {
        backends: vec![(DeviceKind::Cpu, &backend)],
        settings: &settings,
        environment: &environment,
        memory: None,
        cancel: &AtomicBool::new(false),
        agreement: &Alone,
    };
    let (mut seen, problem) = (Collect::default(), problem());
    let all = Configuration::all(&[reference(Operation::Spmv)], &settings);
    let mut steps = runner.begin("m", &problem, &all, &[], &mut seen);
    let mut taken = Vec::new();
    let ending = loop {
        match steps.step() {
            Step::Finished(ending) => break ending,
            step => taken.push(step),
        }
    };
    let complete = Ok(Ending::Complete);
    assert_eq!((&ending, steps.step()), (&complete, Step::Finished(complete.clone())));
    drop(steps);
    // Two pending polls for the setup, the first result, each chunk of samples and the last result.
    let count = |step| taken.iter().filter(|taken| **taken == step).count();
    let chunks = 1 + ROUNDS;
    assert_eq!(count(Step::Waiting), 2 * (3 + chunks));
    // After preparation, after each chunk and after the run.
    assert_eq!(count(Step::Working), 2 + chunks);
    assert_eq!((seen.runs.len(), seen.runs[0].samples.len(), seen.runs[0].warmup), (1, 7, 2));
    assert_eq!(seen.runs[0].check.verdict, Verdict::Pass);
}
