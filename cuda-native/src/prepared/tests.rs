use std::sync::atomic::AtomicBool;

use super::*;

/// Executions of a millisecond that note all calls. The result is the number of calls.
#[derive(Default)]
struct Noted {
    calls: Vec<&'static str>,
    /// What is wrong with the result.
    wrong: Option<String>,
    /// Executions per followed sample, and how many samples were followed.
    followed: Vec<(u32, usize)>,
}

impl Execution for Noted {
    type Error = DeviceError;

    fn is_in_place(&self) -> bool {
        false
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        self.calls.push("reset");
        Ok(())
    }

    fn spoil(&mut self) -> Result<(), DeviceError> {
        self.calls.push("spoil");
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        self.calls.push("flush");
        Ok(())
    }

    fn time(&mut self, executions: u32) -> Result<f64, DeviceError> {
        self.calls.push("time");
        Ok(1e-3 * f64::from(executions))
    }
}

impl Executes for Noted {
    fn read(&mut self) -> Result<(Result<Output, String>, f64), DeviceError> {
        self.calls.push("read");
        let result = match &self.wrong {
            Some(reason) => Err(reason.clone()),
            None => Ok(Output::Vector(vec![self.calls.len() as f64])),
        };
        Ok((result, 0.25))
    }

    fn follow(
        &mut self,
        samples: &Samples,
        _: Temperature,
        costs: &mut Costs,
    ) -> Result<(), DeviceError> {
        self.followed.push((samples.repetitions, samples.seconds.len()));
        costs.clock_s = Some(2.0);
        Ok(())
    }
}

fn kernel(wrong: Option<&str>) -> Kernel<'static, Noted> {
    let execution = Noted { wrong: wrong.map(str::to_owned), ..Noted::default() };
    let params = BTreeMap::from([("format".to_owned(), "csr".to_owned())]);
    Kernel::new("the kernel", execution, None, Costs { plan_s: 3.0, ..Costs::default() }, params)
}

#[test]
fn a_result_is_that_of_one_execution_on_a_spoilt_result() {
    let mut kernel = kernel(None);
    assert_eq!(kernel.output(), Ok(Output::Vector(vec![4.0])));
    assert_eq!(kernel.execution.calls, ["reset", "spoil", "time", "read"]);
    assert_eq!((kernel.once, kernel.costs().download_s), (Some(1e-3), Some(0.25)));
}

#[test]
fn a_wrong_result_is_a_failure_of_the_kernel() {
    let error = kernel(Some("it wrote outside its result")).output().unwrap_err();
    assert_eq!(error.to_string(), "the kernel failed: it wrote outside its result");
}

#[test]
fn samples_are_followed_and_trials_are_not() {
    let never = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&never);
    let mut kernel = kernel(None);
    assert_eq!(kernel.trial(&watch), Ok(1e-3));
    assert!(kernel.execution.followed.is_empty());
    assert_eq!(kernel.sample(3, Temperature::Hot, &watch), Ok(vec![1e-3; 3]));
    assert_eq!(kernel.execution.followed, [(1, 3)]);
    let costs = kernel.costs();
    assert_eq!((costs.plan_s, costs.clock_s, costs.retaken), (3.0, Some(2.0), None));
}

#[test]
fn a_kernel_that_its_setup_selects_runs_only_after_it() {
    let never = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&never);
    let choose: Box<Choose<'_, Noted>> = Box::new(|_| Ok(Some(kernel(None))));
    let mut prepared = PreparedKernel::chosen_by("the choice", choose);
    let error = prepared.output(&watch).wait().unwrap_err();
    assert!(error.to_string().starts_with("the choice failed: it was not set up"), "{error}");
    assert_eq!(prepared.set_up(&watch).wait(), Ok(Finished::Done));
    assert!(prepared.output(&watch).wait().unwrap().is_some());
    assert_eq!((prepared.once(), prepared.repetitions()), (Some(1e-3), 1));
    assert_eq!(prepared.params(), kernel(None).params);
}

#[test]
fn a_setup_ends_as_its_choice_ends_and_without_one_at_once() {
    let never = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&never);
    let set_up = |choose: Box<Choose<'static, Noted>>| {
        PreparedKernel::chosen_by("the choice", choose).set_up(&watch).wait()
    };
    assert_eq!(set_up(Box::new(|_| Ok(None))), Ok(Finished::Cancelled));
    let refused = PrepareError::Refused("no kernel can run".to_owned());
    let why = refused.clone();
    assert_eq!(set_up(Box::new(move |_| Err(why.clone()))), Err(refused));
    assert_eq!(kernel(None).prepared().set_up(&watch).wait(), Ok(Finished::Done));
}
