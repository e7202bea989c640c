//! The matrix of a measurement: already open, or generated between frames.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use sparsescope_core::experiment::{LoadedMatrix, LoadedValues, ReadMatrix};
use sparsescope_core::generate::generate_in_steps;
use sparsescope_core::io::{Field, MatrixForm, Symmetry};
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::MatrixRecord;
use sparsescope_figures::picture::Picture;
use web_time::Instant;

use super::host::Host;
use super::wanted::Subject;
use super::work::Work;
use crate::turns::in_turns;

/// A matrix with its record for the bundle.
pub(super) struct Ready {
    pub(super) a: Arc<Csr>,
    pub(super) record: MatrixRecord,
    pub(super) picture: Arc<Picture>,
}

/// Waits for a result, or until the work is cancelled.
pub(super) async fn unless_cancelled<T>(work: &Work, later: impl Future<Output = T>) -> Option<T> {
    let mut later = Box::pin(later);
    poll_fn(|context| {
        work.wakes(context.waker());
        match work.is_cancelled() {
            true => Poll::Ready(None),
            false => later.as_mut().poll(context).map(Some),
        }
    })
    .await
}

/// The matrix; nothing if cancelled, or a sentence why there is none.
pub(super) async fn ready(
    host: &dyn Host,
    work: &Work,
    subject: Subject,
    limit: MemoryLimit,
) -> Result<Option<Ready>, String> {
    let (name, source, spec) = match subject {
        Subject::Open(record, picture) => {
            return match &picture.values {
                Some(LoadedValues::Real(a)) => {
                    Ok(Some(Ready { a: Arc::clone(a), record: *record, picture }))
                }
                _ => Err("the matrix is not available".to_owned()),
            };
        }
        Subject::Made(name, source, spec) => (name, source, spec),
    };
    work.tell(&format!("{name}: generating"));
    let start = Instant::now();
    let made = in_turns(generate_in_steps(&spec, limit), || host.turn());
    let Some(made) = unless_cancelled(work, made).await else { return Ok(None) };
    let a = Arc::new(made.map_err(|error| error.to_string())?);
    work.tell(&format!("{name}: counting"));
    let read = ReadMatrix {
        values: LoadedValues::Real(Arc::clone(&a)),
        field: Field::Real,
        symmetry: Symmetry::General,
        form: MatrixForm::Generated,
        warnings: Vec::new(),
        seconds: start.elapsed().as_secs_f64(),
    };
    let described = async {
        let mut loaded = LoadedMatrix::describe_in_steps(name, read).await;
        loaded.record.source = source;
        loaded.record.generator = Some(spec.to_string());
        let picture = Picture::in_steps(&loaded.values).await;
        (loaded.record, Arc::new(picture))
    };
    let described = unless_cancelled(work, in_turns(described, || host.turn())).await;
    Ok(described.map(|(record, picture)| Ready { a, record, picture }))
}
