//! Points as text, as CSV and as bytes: read or refused; what is read is written in every form and read again as the
//! same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sparsescope_core::io::Progress;
use sparsescope_core::io::points::{
    Columns, HeaderLine, PointsForm, read_columns, read_named_points, read_named_points_extent,
    read_points_as, write, write_table,
};
use sparsescope_core::memory::MemoryLimit;

fuzz_target!(|data: &[u8]| {
    let limit = MemoryLimit::bytes(1 << 22);
    for name in ["a.txt", "a.csv"] {
        let _ = read_named_points_extent(name, data);
        for header in [HeaderLine::Names, HeaderLine::Point] {
            let _ = read_points_as(name, data, header, limit, Progress::none());
        }
        let columns = Columns {
            minimized: vec!["2".to_owned()],
            id: (name == "a.csv").then(|| "1".to_owned()),
            ..Columns::default()
        };
        let _ = read_columns(name, data, (HeaderLine::Find, &columns), limit, Progress::none());
        let read = read_points_as(name, data, HeaderLine::Find, limit, Progress::none());
        let Ok((points, taken)) = read else { continue };
        for (form, name) in
            [(PointsForm::Exact, "a"), (PointsForm::Binary, "a"), (PointsForm::Csv, "a.csv")]
        {
            let mut text = Vec::new();
            let written = match (form, &taken.header) {
                (PointsForm::Csv, _) if points.is_empty() => continue,
                (PointsForm::Csv, Some(names)) => {
                    write_table(points.view(), names, &mut text, Progress::none())
                }
                _ => write(points.view(), form, &mut text, Progress::none()),
            };
            assert!(written.is_ok());
            let back = read_named_points(name, &text, MemoryLimit::unlimited(), Progress::none());
            assert_eq!(back.map(|back| back.identity()).ok(), Some(points.identity()));
        }
    }
});
