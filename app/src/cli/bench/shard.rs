//! Which part of a plan this process runs: as the user says, or as its launcher does.

use sparsescope_core::record::Shard;

use crate::cli::bench_args::ShardArg;
use crate::cli::outcome::UsageError;

/// The requested part.
pub(super) fn asked(arg: ShardArg) -> Result<Shard, UsageError> {
    match arg {
        ShardArg::Part(shard) => Ok(shard),
        ShardArg::Auto => {
            found(&|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()))
                .map_err(UsageError)
        }
    }
}

/// Looks up a variable.
type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// The part that the environment names: that of a task of a Slurm job array, of an Open MPI rank, or of an
/// srun task. Ranks and tasks within a job array split the array's part further.
fn found(environment: Environment<'_>) -> Result<Shard, String> {
    let array = of_array(environment)?;
    let step = || within("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", environment);
    let ranks = match within("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", environment)? {
        Some(ranks) => Some(ranks),
        None => match (environment("SLURM_STEP_NUM_TASKS"), array) {
            (Some(_), _) => step()?,
            // The script of a job array runs once however many tasks its job has, unless srun starts them.
            (None, Some(_)) => None,
            (None, None) => within("SLURM_PROCID", "SLURM_NTASKS", environment)?,
        },
    };
    let (outer, inner) = (array.unwrap_or((0, 1)), ranks.unwrap_or((0, 1)));
    if (array, ranks) == (None, None) {
        return Err("--shard auto needs SLURM_ARRAY_TASK_ID, SLURM_PROCID or OMPI_COMM_WORLD_RANK, and none is \
                    set; name the part, e.g. --shard 2/8"
            .to_owned());
    }
    let part = outer.0.saturating_mul(inner.1).saturating_add(inner.0);
    Shard::new(part.saturating_add(1), outer.1.saturating_mul(inner.1))
}

/// Index among the tasks of a job array, from 0, and the number of tasks.
fn of_array(environment: Environment<'_>) -> Result<Option<(u64, u64)>, String> {
    let Some(id) = number("SLURM_ARRAY_TASK_ID", environment)? else { return Ok(None) };
    let needed = |name: &str| {
        number(name, environment)?
            .ok_or_else(|| format!("SLURM_ARRAY_TASK_ID is set, but {name} is not"))
    };
    let count = needed("SLURM_ARRAY_TASK_COUNT")?;
    let step = number("SLURM_ARRAY_TASK_STEP", environment)?.unwrap_or(1).max(1);
    // An array may begin at 0, at 1 or anywhere; if nothing says so, it begins at 1.
    let first = number("SLURM_ARRAY_TASK_MIN", environment)?.unwrap_or(1);
    let place = id.checked_sub(first).filter(|d| d % step == 0).map(|distance| distance / step);
    match place.filter(|place| *place < count) {
        Some(place) => Ok(Some((place, count))),
        None => Err(format!(
            "the ids of the job array are not evenly spaced: task {id} is not among {count} from \
             {first} in steps of {step}; name the part, e.g. --shard 2/8"
        )),
    }
}

/// An index from 0 and the count, by the names of their variables.
fn within(
    place: &str,
    count: &str,
    environment: Environment<'_>,
) -> Result<Option<(u64, u64)>, String> {
    let Some(found) = number(place, environment)? else { return Ok(None) };
    let Some(of) = number(count, environment)? else {
        return Err(format!("{place} is set, but {count} is not"));
    };
    match found < of {
        true => Ok(Some((found, of))),
        false => Err(format!("{place} is {found}: expected less than {count}, which is {of}")),
    }
}

fn number(name: &str, environment: Environment<'_>) -> Result<Option<u64>, String> {
    let Some(text) = environment(name) else { return Ok(None) };
    let number = text.trim().parse().map(Some);
    number.map_err(|_| format!("{name} is `{}`: expected a whole number", text.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<String, String> {
        let find = |name: &str| {
            let (_, value) = variables.iter().find(|(known, _)| *known == name)?;
            Some((*value).to_owned())
        };
        found(&find).map(|Shard { part, of }| format!("{part}/{of}"))
    }

    const ID: &str = "SLURM_ARRAY_TASK_ID";
    const COUNT: &str = "SLURM_ARRAY_TASK_COUNT";
    const MIN: &str = "SLURM_ARRAY_TASK_MIN";
    const STEP: &str = "SLURM_ARRAY_TASK_STEP";

    #[test]
    fn a_job_array_may_begin_anywhere_and_advance_in_steps() {
        let array =
            |id, count, min, step| of(&[(ID, id), (COUNT, count), (MIN, min), (STEP, step)]);
        assert_eq!(array("0", "4", "0", "1").unwrap(), "1/4");
        assert_eq!(array("4", "4", "1", "1").unwrap(), "4/4");
        assert_eq!(array("9", "3", "5", "2").unwrap(), "3/3");
        for (id, count, min, step) in
            [("7", "3", "1", "1"), ("0", "4", "1", "1"), ("6", "3", "5", "2")]
        {
            assert!(array(id, count, min, step).unwrap_err().contains("not evenly spaced"));
        }
        assert_eq!(of(&[(ID, "1"), (COUNT, "4"), (MIN, "1")]).unwrap(), "1/4");
    }

    #[test]
    fn ranks_and_tasks_split_a_job_array_further() {
        let array = [(ID, "2"), (COUNT, "3"), (MIN, "1")];
        let with = |more: &[(&str, &str)]| of(&[&array[..], more].concat());
        // The batch script itself is task 0 of a job that may have several.
        assert_eq!(with(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]).unwrap(), "2/3");
        let step = [("SLURM_PROCID", "1"), ("SLURM_NTASKS", "4"), ("SLURM_STEP_NUM_TASKS", "4")];
        assert_eq!(with(&step).unwrap(), "6/12");
        let ranks = [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "2")];
        assert_eq!(with(&ranks).unwrap(), "3/6");
    }

    #[test]
    fn ranks_of_mpirun_and_tasks_of_srun_are_counted_from_zero() {
        assert_eq!(of(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2")]).unwrap(), "1/2");
        let ranks = [("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "4")];
        assert_eq!(of(&ranks).unwrap(), "4/4");
        // mpirun within a job: the job's own task is the one that started it.
        let both = [&ranks[..], &[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]].concat();
        assert_eq!(of(&both).unwrap(), "4/4");
    }

    #[test]
    fn nonsense_is_told() {
        assert!(of(&[]).unwrap_err().contains("needs SLURM_ARRAY_TASK_ID"));
        assert_eq!(
            of(&[(ID, "x")]).unwrap_err(),
            "SLURM_ARRAY_TASK_ID is `x`: expected a whole number"
        );
        let error = of(&[(ID, "1")]).unwrap_err();
        assert_eq!(error, "SLURM_ARRAY_TASK_ID is set, but SLURM_ARRAY_TASK_COUNT is not");
        let error = of(&[("SLURM_PROCID", "4"), ("SLURM_NTASKS", "4")]).unwrap_err();
        assert_eq!(error, "SLURM_PROCID is 4: expected less than SLURM_NTASKS, which is 4");
        let error = of(&[("OMPI_COMM_WORLD_RANK", "0")]).unwrap_err();
        assert_eq!(error, "OMPI_COMM_WORLD_RANK is set, but OMPI_COMM_WORLD_SIZE is not");
    }
}
