//! What a rank sends to which ranks before an SpMV, and where it stores what it receives: built once per
//! matrix.

use std::ops::Range;

use super::error::DistributedError;
use super::local::LocalMatrix;

/// Elements of x that are sent to another rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Send {
    /// The receiving rank.
    pub peer: usize,
    /// Local columns of the elements, in the order in which they are sent.
    pub list: Vec<u32>,
}

/// Elements of x that are received from another rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receive {
    /// The sending rank.
    pub peer: usize,
    /// Their place in the halo, whose first element has index 0 here: it follows the own elements of x.
    pub range: Range<usize>,
}

/// Everything a rank sends and receives before an SpMV, by ascending peer; no empty messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExchangePlan {
    sends: Vec<Send>,
    receives: Vec<Receive>,
}

impl ExchangePlan {
    /// The columns, numbered as in the whole matrix, that a rank requests from each other rank.
    pub fn requests(local: &LocalMatrix) -> impl Iterator<Item = (usize, &[u64])> {
        let halo = local.halo();
        halo.owners().iter().map(|(peer, range)| (*peer, &halo.columns()[range.clone()]))
    }

    /// Builds the plan of a rank from which other ranks request these columns of the whole matrix. Fails when
    /// the rank does not own one of them.
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

    /// The plans of all ranks, in rank order, when one process holds all ranks.
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

    /// Messages to other ranks.
    pub fn sends(&self) -> &[Send] {
        &self.sends
    }

    /// Messages from other ranks.
    pub fn receives(&self) -> &[Receive] {
        &self.receives
    }

    /// Number of elements sent to all other ranks together.
    pub fn sent(&self) -> usize {
        self.sends.iter().map(|send| send.list.len()).sum()
    }

    /// Bytes sent to each other rank before an SpMV with values of this many bytes.
    pub fn bytes_sent(&self, value_bytes: usize) -> impl Iterator<Item = (usize, u64)> {
        self.sends.iter().map(move |send| (send.peer, (send.list.len() * value_bytes) as u64))
    }
}

impl Send {
    /// Packs the elements of `x` to be sent into `message`, in order. Panics when `message` is too short or
    /// `x` lacks one of the columns.
    pub fn pack<T: Copy>(&self, x: &[T], message: &mut [T]) {
        for (to, &column) in message[..self.list.len()].iter_mut().zip(&self.list) {
            *to = x[column as usize];
        }
    }
}
