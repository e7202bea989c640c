//! What a rank sends to whom before a product, and where it puts what comes: made once for a matrix.

use std::ops::Range;

use super::error::DistributedError;
use super::local::LocalMatrix;

/// Elements of x that go to another rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Send {
    /// To whom.
    pub peer: usize,
    /// Local columns of the elements, in the order in which they travel.
    pub list: Vec<u32>,
}

/// Elements of x that come from another rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receive {
    /// From whom.
    pub peer: usize,
    /// Where they go in the halo, whose first element is 0 here: right after the own elements of x.
    pub range: Range<usize>,
}

/// All that a rank sends and receives before a product, by peer, ascending; no empty messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExchangePlan {
    sends: Vec<Send>,
    receives: Vec<Receive>,
}

impl ExchangePlan {
    /// The columns of the whole matrix that a rank asks each other rank for.
    pub fn requests(local: &LocalMatrix) -> impl Iterator<Item = (usize, &[u64])> {
        let halo = local.halo();
        halo.owners().iter().map(|(peer, range)| (*peer, &halo.columns()[range.clone()]))
    }

    /// The plan of a rank, which others have asked for these columns of the whole matrix. Fails when one
    /// is not the rank's own.
    pub fn new<'r>(
        local: &LocalMatrix,
        asked: impl IntoIterator<Item = (usize, &'r [u64])>,
    ) -> Result<Self, DistributedError> {
        let mut sends = Vec::new();
        for (peer, columns) in asked {
            let rank = local.rank();
            let own = |&column: &u64| {
                local.own_col(column).ok_or(DistributedError::NotOwned { rank, peer, column })
            };
            let list = columns.iter().map(own).collect::<Result<Vec<u32>, _>>()?;
            if !list.is_empty() {
                sends.push(Send { peer, list });
            }
        }
        sends.sort_by_key(|send| send.peer);
        let receive =
            |(peer, range): &(usize, Range<usize>)| Receive { peer: *peer, range: range.clone() };
        Ok(Self { sends, receives: local.halo().owners().iter().map(receive).collect() })
    }

    /// The plans of all ranks where one process has them all, in their order.
    pub fn of_all(ranks: &[LocalMatrix]) -> Result<Vec<Self>, DistributedError> {
        let plan = |local: &LocalMatrix| {
            let asked = ranks.iter().flat_map(|other| {
                let of_local = move |&(peer, _): &(usize, &[u64])| peer == local.rank();
                Self::requests(other).filter(of_local).map(|(_, columns)| (other.rank(), columns))
            });
            Self::new(local, asked)
        };
        ranks.iter().map(plan).collect()
    }

    /// What goes to others.
    pub fn sends(&self) -> &[Send] {
        &self.sends
    }

    /// What comes from others.
    pub fn receives(&self) -> &[Receive] {
        &self.receives
    }

    /// Elements that go to all others together.
    pub fn sent(&self) -> usize {
        self.sends.iter().map(|send| send.list.len()).sum()
    }

    /// Bytes that go to each other rank before a product with values of so many bytes.
    pub fn bytes_sent(&self, value_bytes: usize) -> impl Iterator<Item = (usize, u64)> {
        self.sends.iter().map(move |send| (send.peer, (send.list.len() * value_bytes) as u64))
    }
}

impl Send {
    /// Writes the elements of `x` that travel, in their order. Panics when `message` is shorter than the list
    /// or x than a column.
    pub fn pack<T: Copy>(&self, x: &[T], message: &mut [T]) {
        for (to, &column) in message[..self.list.len()].iter_mut().zip(&self.list) {
            *to = x[column as usize];
        }
    }
}
