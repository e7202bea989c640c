//! Threads of a test that agree as ranks do; one that waits for a call that another leaves out fails.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::agreement::Agreement;

/// Longest wait for the other ranks.
const LONGEST: Duration = Duration::from_secs(20);

/// What a rank contributes to a call.
#[derive(Clone, Debug, Default)]
struct Said {
    call: String,
    numbers: Vec<u64>,
    text: Option<String>,
}

#[derive(Default)]
struct Table {
    /// Number of calls so far.
    turn: usize,
    said: Vec<Option<Said>>,
    /// What all ranks said in the last call.
    last: Vec<Said>,
    is_aborted: bool,
}

/// All ranks of a test.
struct Team {
    table: Mutex<Table>,
    changed: Condvar,
}

/// One rank of a test.
pub(super) struct Member<'t> {
    team: &'t Team,
    rank: usize,
}

/// Runs `work` on this many ranks; returns what each of them returned, or the panic that ended it.
pub(super) fn with_ranks<T: Send>(
    ranks: usize,
    work: impl Fn(&Member<'_>) -> T + Sync,
) -> Vec<std::thread::Result<T>> {
    let said = vec![None; ranks];
    let table = Mutex::new(Table { said, ..Table::default() });
    let team = &Team { table, changed: Condvar::new() };
    let work = &work;
    std::thread::scope(|scope| {
        let begun = |rank| {
            scope.spawn(move || {
                let member = Member { team, rank };
                let done = catch_unwind(AssertUnwindSafe(|| work(&member)));
                if done.is_err() {
                    member.abort();
                }
                done
            })
        };
        let all: Vec<_> = (0..ranks).map(begun).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

impl Member<'_> {
    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    /// Ends the ranks that wait for this one.
    pub(super) fn abort(&self) {
        self.team.table.lock().unwrap_or_else(PoisonError::into_inner).is_aborted = true;
        self.team.changed.notify_all();
    }

    /// Waits until all ranks have come to the same place.
    pub(super) fn meet(&self, place: &str) {
        self.all(Said { call: place.to_owned(), ..Said::default() });
    }

    fn all(&self, own: Said) -> Vec<Said> {
        let call = own.call.clone();
        let mut table = self.team.table.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = table.turn;
        table.said[self.rank] = Some(own);
        if table.said.iter().all(Option::is_some) {
            table.last = table.said.iter_mut().map(|said| said.take().unwrap()).collect();
            table.turn += 1;
            self.team.changed.notify_all();
        }
        while table.turn == turn {
            // It may have ended all before this rank came here.
            if table.is_aborted {
                drop(table);
                resume_unwind(Box::new("another rank ended all"));
            }
            let waited = self.team.changed.wait_timeout(table, LONGEST);
            let (woken, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            table = woken;
            let is_over = table.turn != turn || table.is_aborted;
            assert!(is_over || !waited.timed_out(), "rank {} hangs at {call}", self.rank);
        }
        let all = table.last.clone();
        drop(table);
        let calls: Vec<&str> = all.iter().map(|said| said.call.as_str()).collect();
        assert!(calls.iter().all(|other| *other == call), "ranks have parted: {calls:?}");
        all
    }

    fn numbers(&self, call: &str, own: u64) -> Vec<u64> {
        let own = Said { call: call.to_owned(), numbers: vec![own], text: None };
        self.all(own).into_iter().flat_map(|said| said.numbers).collect()
    }
}

impl Agreement for Member<'_> {
    fn any(&self, own: bool) -> bool {
        self.numbers("any", own.into()).contains(&1)
    }

    fn max(&self, own: f64) -> f64 {
        self.numbers("max", own.to_bits()).into_iter().map(f64::from_bits).fold(own, f64::max)
    }

    fn min(&self, own: u64) -> u64 {
        self.numbers("min", own).into_iter().fold(own, u64::min)
    }

    fn of_first(&self, own: Vec<u32>) -> Vec<u32> {
        let numbers = own.into_iter().map(u64::from).collect();
        let all = self.all(Said { call: "from first".to_owned(), numbers, text: None });
        all[0].numbers.iter().map(|&number| number as u32).collect()
    }

    fn objection(&self, own: Option<String>) -> Option<String> {
        let own = Said { call: "objection".to_owned(), numbers: Vec::new(), text: own };
        self.all(own).into_iter().find_map(|said| said.text)
    }

    fn barrier(&self) {
        self.meet("barrier");
    }
}

#[test]
fn a_rank_that_leaves_out_a_call_is_found() {
    let ends = with_ranks(2, |member| {
        if member.rank() == 1 {
            member.any(true);
        }
        member.max(1.0)
    });
    assert!(ends.iter().all(Result::is_err));
}
