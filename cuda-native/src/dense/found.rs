//! The solutions of all systems, checked for out-of-bounds writes.

use std::time::Instant;

use sparsescope_core::dense::Solutions;
use sparsescope_core::experiment::Output;

use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError};
use crate::guarded::{GUARD, WROTE_BESIDE, Written};
use crate::launch::{Step, enqueue};
use crate::value::DeviceReal;

/// Value of a guard of the flags, and value of a flag that no kernel has written.
const GUARDED: u8 = 0xa5;
const SPOILT: u8 = 0xff;

/// Where the solutions and flags of the systems of one size go: 1 if a system is found not to be
/// positive definite, otherwise 0.
pub(super) struct Place {
    pub(super) unknowns: u32,
    pub(super) systems: usize,
    pub(super) x: Buffer<f64>,
    pub(super) flagged: Buffer<u8>,
}

/// The solutions and flags of all sizes, each between guards.
pub(crate) struct Found {
    x: Buffer<f64>,
    flagged: Buffer<u8>,
    places: Vec<Place>,
}

impl Found {
    /// Allocates for systems of these sizes, given as (unknowns, systems).
    pub(super) fn new(
        device: &Device,
        sizes: impl Iterator<Item = (usize, usize)>,
    ) -> Result<Self, DeviceError> {
        let sizes: Vec<(usize, usize)> = sizes.collect();
        let numbers = sizes.iter().map(|(n, systems)| n * systems + GUARD).sum::<usize>() + GUARD;
        let flags = sizes.iter().map(|(_, systems)| systems + GUARD).sum::<usize>() + GUARD;
        let x = Buffer::of(device, "the solutions", &vec![f64::GUARD; numbers])?;
        let flagged = Buffer::of(device, "the flags", &vec![GUARDED; flags])?;
        let (mut number, mut flag) = (GUARD, GUARD);
        let mut places = Vec::new();
        for (n, systems) in sizes {
            let solutions = x.part(number..number + n * systems);
            let flags = flagged.part(flag..flag + systems);
            let unknowns = u32::try_from(n).map_err(|_| DeviceError::TooLarge {
                what: "the number of unknowns",
                found: n as u64,
                most: u32::MAX.into(),
            })?;
            places.push(Place {
                unknowns,
                systems,
                x: solutions.expect("solutions lie between guards"), // invariant
                flagged: flags.expect("flags lie between guards"),   // invariant
            });
            number += n * systems + GUARD;
            flag += systems + GUARD;
        }
        Ok(Self { x, flagged, places })
    }

    /// One for each size.
    pub(super) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Time spent on creating it; copies are only for the check.
    pub(super) fn spent(&self) -> Spent {
        Spent { upload_s: 0.0, ..self.x.spent() + self.flagged.spent() }
    }
}

impl Written for Found {
    fn spoil(&self, device: &Device) -> Result<(), DeviceError> {
        for place in &self.places {
            // SAFETY: nothing is indexed by a flag.
            let flags = unsafe { Step::fill_numbers(&place.flagged, SPOILT) };
            enqueue(device, &[Step::fill(&place.x, 0xff), flags])?;
        }
        Ok(())
    }

    fn read(&self, device: &Device) -> Result<(Result<Output, String>, f64), DeviceError> {
        let (x, seconds) = self.x.read(device)?;
        let start = Instant::now();
        let flags = self.flagged.to_host(device)?;
        let seconds = seconds + start.elapsed().as_secs_f64();
        let sizes: Vec<_> = self.places.iter().map(|p| (p.unknowns as usize, p.systems)).collect();
        Ok((solutions(&x, &flags, &sizes), seconds))
    }
}

/// The solutions of systems of these sizes, extracted from between their guards.
fn solutions(x: &[f64], flags: &[u8], sizes: &[(usize, usize)]) -> Result<Output, String> {
    let (mut x, mut flags) = (x.iter().copied(), flags.iter().copied());
    let mut all = Vec::new();
    pass_guards(&mut x, &mut flags)?;
    for &(n, systems) in sizes {
        let own = x.by_ref().take(n * systems).collect();
        let own_flags: Vec<u8> = flags.by_ref().take(systems).collect();
        pass_guards(&mut x, &mut flags)?;
        if let Some(s) = own_flags.iter().position(|&flag| flag > 1) {
            return Err(format!(
                "it did not write the flag of system {s} of those with {n} unknowns"
            ));
        }
        all.push(Solutions { x: own, flagged: own_flags.iter().map(|&flag| flag == 1).collect() });
    }
    Ok(Output::Systems(all))
}

/// Skips a guard in each, which must be unchanged.
fn pass_guards(
    x: &mut impl Iterator<Item = f64>,
    flags: &mut impl Iterator<Item = u8>,
) -> Result<(), String> {
    let numbers = x.take(GUARD).filter(|value| value.is_guard()).count();
    let bytes = flags.take(GUARD).filter(|&byte| byte == GUARDED).count();
    match numbers == GUARD && bytes == GUARD {
        true => Ok(()),
        false => Err(WROTE_BESIDE.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two systems of one unknown and one of two, between guards.
    fn arrays() -> (Vec<f64>, Vec<u8>) {
        let (guard, flag_guard) = ([f64::GUARD; GUARD], [GUARDED; GUARD]);
        let x = [&guard[..], &[1.0, f64::NAN], &guard, &[3.0, 4.0], &guard].concat();
        (x, [&flag_guard[..], &[0, 1], &flag_guard, &[0], &flag_guard].concat())
    }

    const SIZES: [(usize, usize); 2] = [(1, 2), (2, 1)];

    #[test]
    fn solutions_of_each_size_lie_between_guards() {
        let (x, flags) = arrays();
        let Ok(Output::Systems(found)) = solutions(&x, &flags, &SIZES) else { panic!() };
        let [one, two] = found.as_slice() else { panic!("two sizes") };
        assert!(one.x.first() == Some(&1.0) && one.x.len() == 2);
        assert_eq!(
            (one.flagged.as_slice(), two.x.as_slice()),
            (&[false, true][..], &[3.0, 4.0][..])
        );
        assert_eq!(two.flagged, [false]);
    }

    #[test]
    fn what_is_written_beside_or_not_at_all_is_no_result() {
        let (x, flags) = arrays();
        for place in [0, GUARD - 1, GUARD + 2, 2 * GUARD + 1, 2 * GUARD + 4, x.len() - 1] {
            let mut x = x.clone();
            *x.get_mut(place).unwrap() = 0.0;
            assert_eq!(solutions(&x, &flags, &SIZES), Err(WROTE_BESIDE.to_owned()), "{place}");
        }
        for place in [0, GUARD + 2, 2 * GUARD + 3, flags.len() - 1] {
            let mut flags = flags.clone();
            *flags.get_mut(place).unwrap() = 0;
            assert_eq!(solutions(&x, &flags, &SIZES), Err(WROTE_BESIDE.to_owned()), "{place}");
        }
        let mut flags = flags;
        *flags.get_mut(2 * GUARD + 2).unwrap() = SPOILT;
        let said = solutions(&x, &flags, &SIZES).unwrap_err();
        assert_eq!(said, "it did not write the flag of system 0 of those with 2 unknowns");
    }
}
