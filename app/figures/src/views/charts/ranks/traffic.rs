//! Communication between ranks.

use super::chosen::{chosen, name};
use crate::model::{bytes, count};
use crate::views::charts::plot::{Data, Form, Plot, Point, Scale};

/// A cell for each pair of communicating ranks of one run, shaded by the bytes that the row's rank
/// sends to the column's.
pub(super) fn traffic<'a>(data: &Data<'a>) -> Plot<'a> {
    let mut plot = Plot::rows(Scale::new("receiving rank", false));
    plot.form = Form::Cells;
    plot.weights = "bytes";
    let Some((run, shared)) = chosen(data, &mut plot) else { return plot };
    if shared.pairs.is_empty() {
        return plot;
    }
    for rank in 0..shared.ranks.len() {
        plot.row(|| name(rank), &name(rank));
    }
    let ranks = shared.ranks.len() as f64;
    plot.x.most = Some(ranks);
    for pair in &shared.pairs {
        let mut point = Point::of(&run, f64::from(pair.to), f64::from(pair.from));
        point.range = Some([f64::from(pair.to), f64::from(pair.to) + 1.0]);
        point.weight = Some(pair.bytes as f64);
        point.text = format!("{} in {} messages.", bytes(pair.bytes), pair.messages);
        plot.add(0, "sent", Some(run.bundle), point);
    }
    let (sent, messages) = (shared.bytes(), count(shared.messages()));
    let most = shared.pairs.iter().map(|pair| pair.bytes).max().unwrap_or_default();
    plot.note += &format!(
        "Total: {} in {messages} messages {}, {} per rank; the strongest colour stands for {}.",
        bytes(sent),
        if shared.reductions.is_some() { "per iteration" } else { "per SpMV" },
        bytes((sent as f64 / ranks) as u64),
        bytes(most)
    );
    plot
}
