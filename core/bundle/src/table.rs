//! `results.csv`: one line per run, the bundle as a spreadsheet.

use crate::{Bundle, BundleError, spreadsheet_cell};
use sparsescope_matrix::matrix::Statistics;
use sparsescope_record::{Figures, Run, Subject};

/// The header of `results.csv`; its order is part of the format.
///
/// `matrix` is the subject's name; `rows`, `cols` and `nnz` are empty if it is not a matrix. `runs`
/// is the number of timed samples. `block` and figures that a run does not have are empty, booleans
/// are `true` or `false`, `origin` is joined by `|`, and `params` is `k=v;k=v` with sorted names.
/// `metric` is the rate by which runs of the operation are compared, in `unit`. Floats have the
/// fewest digits that read back to the same value. Texts that a spreadsheet would evaluate have an
/// apostrophe before them.
pub const HEADER: &str = "matrix,source,stand_in,rows,cols,nnz,op,kernel,origin,backend,device,\
threads,block,hot,runs,median_s,mean_s,min_s,q1_s,q3_s,max_s,gflops,gbs,pct_copy,speedup,\
efficiency,check,s_paper,rel_err,precision,params,metric,unit";

impl Bundle {
    /// The content of `results.csv`, lines in the order of the runs.
    pub fn results_csv(&self) -> Result<Vec<u8>, BundleError> {
        self.check()?;
        self.table()
    }

    /// [`results_csv`](Self::results_csv) for a bundle that has been checked.
    pub(super) fn table(&self) -> Result<Vec<u8>, BundleError> {
        let subjects = self.subjects_by_id();
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(HEADER.split(',')).map_err(not_written)?;
        for run in &self.runs {
            let subject = subjects.get(run.matrix.as_str()).expect("checked above"); // invariant
            let cells = line(run, *subject);
            let cells = cells.iter().map(|cell| spreadsheet_cell(cell).into_owned());
            table.write_record(cells).map_err(not_written)?;
        }
        table.into_inner().map_err(|error| BundleError::Write(error.into_error()))
    }
}

fn not_written(error: csv::Error) -> BundleError {
    BundleError::Write(error.into())
}

/// One line, in the order of [`HEADER`].
fn line(run: &Run, subject: Subject<'_>) -> [String; 33] {
    let size = |pick: fn(&Statistics) -> u64| {
        subject.matrix().map(|record| pick(&record.statistics).to_string()).unwrap_or_default()
    };
    let figure = |pick: fn(&Figures) -> f64| float(run.figures.as_ref().map(pick));
    let derived = |pick: fn(&Figures) -> Option<f64>| float(run.figures.as_ref().and_then(pick));
    let params: Vec<String> = run.params.iter().map(|(k, v)| format!("{k}={v}")).collect();
    [
        subject.name().to_owned(),
        subject.source().as_str().into(),
        (subject.source() == sparsescope_record::Source::StandIn).to_string(),
        size(|statistics| statistics.rows),
        size(|statistics| statistics.cols),
        size(|statistics| statistics.nnz),
        run.operation.clone(),
        run.kernel.clone(),
        run.origin.join("|"),
        run.backend.clone(),
        run.device.clone(),
        run.threads.to_string(),
        run.block.map(|block| block.to_string()).unwrap_or_default(),
        run.hot.to_string(),
        run.samples.len().to_string(),
        figure(|f| f.median_s),
        figure(|f| f.mean_s),
        figure(|f| f.min_s),
        figure(|f| f.q1_s),
        figure(|f| f.q3_s),
        figure(|f| f.max_s),
        figure(|f| f.gflops),
        figure(|f| f.gbs),
        derived(|f| f.pct_copy),
        derived(|f| f.speedup),
        derived(|f| f.efficiency),
        run.check.as_str().into(),
        float(run.check.s_paper),
        float(run.check.rel_err),
        run.precision.clone(),
        params.join(";"),
        float(run.metric.as_ref().map(|metric| metric.value)),
        run.metric.as_ref().map(|metric| metric.unit.clone()).unwrap_or_default(),
    ]
}

/// As in `runs.json`; empty if absent.
fn float(value: Option<f64>) -> String {
    value.map(|value| zmij::Buffer::new().format_finite(value).to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use sparsescope_record::{Figures, Operation};

    #[test]
    fn each_run_is_a_line_as_the_header_defines() {
        let mut bundle = sample::bundle();
        bundle.matrices[0].record.name = "a \"b\", c".into();
        // Sorted 0.25 0.5 0.75 1: median 0.625, quartiles at 0.75 and 2.25 of 0..3; 2·10
        // operations and 200 bytes in 0.625 s.
        let timed = &mut bundle.runs[1];
        timed.samples = vec![0.5, 0.25, 1.0, 0.75];
        timed.costs.minimal_bytes = 200;
        timed.figures = Figures::from_samples(&timed.samples, 20.0, 200);
        let figures = timed.figures.as_mut().unwrap();
        figures.pct_copy = Some(12.5);
        figures.speedup = Some(2.0);
        figures.efficiency = Some(0.5);
        timed.check.rel_err = Some(1.5e-16);
        let cuda = &mut bundle.runs[2];
        cuda.samples = vec![2.0];
        cuda.figures = Figures::from_samples(&cuda.samples, 8_014_766.0, 1 << 25);
        for run in bundle.runs.iter_mut().filter(|run| run.figures.is_some()) {
            let (work, figures) = (run.work.unwrap(), run.figures.as_ref().unwrap());
            run.metric = Some(Operation::Spmv.metric(&work, figures.median_s));
        }
        let rest = bundle.runs.split_off(4);
        bundle.runs.remove(0);

        let table = String::from_utf8(bundle.results_csv().unwrap()).unwrap();
        let expected = [
            "matrix,source,stand_in,rows,cols,nnz,op,kernel,origin,backend,device,threads,block,hot,runs,median_s,mean_s,min_s,q1_s,q3_s,max_s,gflops,gbs,pct_copy,speedup,efficiency,check,s_paper,rel_err,precision,params,metric,unit",
            r#""a ""b"", c",real,false,5,5,10,spmv,cpu/csr/nnz,paper:000,cpu,Some CPU,4,,true,4,0.625,0.625,0.25,0.4375,0.8125,1.0,3.2e-8,3.2e-7,12.5,2.0,0.5,pass,0.0,1.5e-16,f64,,3.2e-8,GFLOPS"#,
            r#"cant,stand-in,true,5,5,4007383,spmv,cuda/hll/warp-per-row,paper:000|ours,cuda,"Some GPU, 80 GB",1,128,false,1,2.0,2.0,2.0,2.0,2.0,2.0,0.004007383,0.016777216,,,,pass,0.0,1.5e-16,f32,hack_size=32;sigma=1,0.004007383,GFLOPS"#,
            "cant,stand-in,true,5,5,4007383,spmv,cpu/ell/rows,paper:000,cpu,Some CPU,1,,true,0,,,,,,,,,,,,refused,,,f64,,,",
        ];
        assert_eq!(table, expected.map(|line| format!("{line}\n")).concat());
        assert_eq!(rest.len(), 2, "one line a run");
    }

    #[test]
    fn a_matrix_that_is_called_like_a_formula_is_text() {
        let mut bundle = sample::bundle();
        bundle.matrices[0].record.name = "=cmd|'/C calc'!A0".into();
        let table = String::from_utf8(bundle.results_csv().unwrap()).unwrap();
        assert!(table.contains("\n'=cmd|'/C calc'!A0,real,"), "{table}");
        assert!(!table.contains("\n="), "{table}");
    }

    #[test]
    fn the_header_of_an_empty_bundle_stands_alone() {
        let bundle = crate::Bundle { runs: Vec::new(), ..sample::bundle() };
        assert_eq!(bundle.results_csv().unwrap(), format!("{HEADER}\n").into_bytes());
    }
}
