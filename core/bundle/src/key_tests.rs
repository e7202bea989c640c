//! Keys of runs, with the runs of the sample bundle.

use crate::sample;
use sparsescope_record::*;

#[test]
fn ids_and_samples_leave_the_key_alone_and_every_setting_changes_it() {
    let bundle = sample::bundle();
    let record = &bundle.matrices[0].record;
    let run = &bundle.runs[0];
    let key = run.key(record);

    let mut renamed = record.clone();
    renamed.id = "elsewhere-1".into();
    renamed.name = "other name".into();
    let mut again = run.clone();
    again.matrix = renamed.id.clone();
    again.environment = "b".into();
    again.samples = vec![1.0];
    again.params.insert("simd".into(), "avx2".into());
    assert_eq!(again.key(&renamed), key);

    let mut stand_in = record.clone();
    stand_in.source = Source::StandIn;
    assert_ne!(run.key(&stand_in), key);
    let changes: [fn(&mut Run); 7] = [
        |run| run.kernel.push('x'),
        |run| run.precision = "f32".into(),
        |run| drop(run.params.insert("width".into(), "7".into())),
        |run| run.device.push('x'),
        |run| run.threads += 1,
        |run| run.block = Some(64),
        |run| run.hot = !run.hot,
    ];
    for change in changes {
        let mut other = run.clone();
        change(&mut other);
        assert_ne!(other.key(record), key);
    }
}

#[test]
fn a_key_in_words_names_what_is_not_as_usual() {
    let bundle = sample::bundle();
    let words = |k: usize| bundle.key(&bundle.runs[k]).unwrap().words("m\n");
    assert_eq!(words(0), "cpu/csr/serial on m\\u{a}, 1 thread");
    assert_eq!(words(1), "cpu/csr/nnz on m\\u{a}, 4 threads");
    let cuda = "cuda/hll/warp-per-row on m\\u{a} (stand-in), blocks of 128, cold, f32, hack_size=32, sigma=1";
    assert_eq!(words(2), cuda);
}

#[test]
fn a_bundle_finds_the_key_of_its_runs() {
    let bundle = sample::bundle();
    let run = &bundle.runs[0];
    let key = bundle.key(run).unwrap();
    assert_eq!(bundle.id_of(key.sha256, key.source), Some(run.matrix.as_str()));
    let mut lost = run.clone();
    lost.matrix = "nowhere".into();
    assert_eq!(bundle.key(&lost), None);
}
