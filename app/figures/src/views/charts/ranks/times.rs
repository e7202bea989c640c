//! The time of each rank by activity.

use super::chosen::{chosen, name};
use crate::model::{count, significant};
use crate::views::charts::plot::{Data, Form, Plot, Point, Scale};

/// The activities of a rank, in the order of the bars.
const PARTS: [&str; 3] = ["computing", "packing", "waiting"];

/// A bar for each rank of one run.
pub(super) fn times<'a>(data: &Data<'a>) -> Plot<'a> {
    let mut plot = Plot::rows(Scale::new("milliseconds per execution", false));
    plot.form = Form::Bars;
    let Some((run, shared)) = chosen(data, &mut plot) else { return plot };
    for (number, rank) in shared.ranks.iter().enumerate() {
        let row = plot.row(|| name(number), &name(number));
        let mut from = 0.0;
        let seconds = [rank.computing_s, rank.packing_s, rank.waiting_s];
        for (order, (part, seconds)) in PARTS.into_iter().zip(seconds).enumerate() {
            let to = from + seconds * 1e3;
            let mut point = Point::of(&run, seconds * 1e3, row);
            point.range = Some([from, to]);
            point.text = format!(
                "{} rows, {} nonzeros, {} elements of x from other ranks.",
                count(rank.rows),
                count(rank.entries),
                count(rank.halo)
            );
            plot.add(order, part, Some(run.bundle), point);
            from = to;
        }
    }
    plot.note += &match shared.imbalance() {
        1.0 => "Every rank has the same number of nonzeros.".to_owned(),
        most => {
            format!("The largest rank has {} times the mean number of nonzeros.", significant(most))
        }
    };
    plot
}
