//! What distinguishes a run from others of its kernel on its subject.

use super::open::RunOf;
use super::solves::is_preconditioning;

impl RunOf<'_> {
    /// The settings that distinguish it from other runs of its kernel on its subject, as text.
    pub fn setting(&self) -> String {
        self.told_setting(true)
    }

    /// A text and then, if there is one, its setting.
    pub fn with_setting(&self, text: &str, between: &str) -> String {
        match self.setting() {
            setting if setting.is_empty() => text.to_owned(),
            setting => format!("{text}{between}{setting}"),
        }
    }

    /// The setting without the preconditioner of a solve.
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
            "vectors" => "k".to_owned(),
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

#[cfg(test)]
mod tests {
    use crate::state::Filter;
    use crate::why::tests;

    #[test]
    fn a_setting_follows_a_text_only_if_there_is_one() {
        let (run, statistics, environment) = tests::run("cuda/csr/warp-ldg");
        let mut library = run.clone();
        (library.kernel, library.block) = ("vendor/cusparse/coo".into(), None);
        let model = tests::model(vec![run, library], statistics, environment);
        let runs = model.runs(&Filter::default());
        let texts: Vec<String> = runs.iter().map(|run| run.with_setting("2 ms", ", ")).collect();
        assert_eq!(texts, ["2 ms, 128/block", "2 ms"]);
    }
}
