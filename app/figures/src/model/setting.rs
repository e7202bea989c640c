//! What distinguishes a run from others of its kernel on its subject.

use super::open::RunOf;
use super::solves::is_preconditioning;

impl RunOf<'_> {
    /// The settings that distinguish it from other runs of its kernel on its subject, as text.
    pub fn setting(&self) -> String {
        self.told_setting(true)
    }

    /// The same without the preconditioner of a solve.
    pub(crate) fn setting_beside_method(&self) -> String {
        self.told_setting(false)
    }

    fn told_setting(&self, with_method: bool) -> String {
        let run = self.run;
        let mut words: Vec<String> = Vec::new();
        match run.block {
            Some(block) => words.push(format!("{block}/block")),
            None if !run.is_on_cpu() => {}
            None if run.threads == 1 => words.push("1 thread".into()),
            None => words.push(format!("{} threads", run.threads)),
        }
        if run.precision != "f64" {
            words.push(run.precision.clone());
        }
        let asked = if run.asked.is_empty() { &run.params } else { &run.asked };
        let known = |name: &str| match name {
            "sigma" => "σ".to_owned(),
            name => name.replace('_', " "),
        };
        let is_preconditioned = run.solve.is_some() && run.params.contains_key("precond");
        words.extend((is_preconditioned && with_method).then(|| self.method()));
        let is_told = |name: &str| is_preconditioned && is_preconditioning(name);
        let params = asked.iter().filter(|(name, _)| *name != "cusparse" && !is_told(name));
        words.extend(params.map(|(name, value)| format!("{} {value}", known(name))));
        words.join("; ")
    }
}
