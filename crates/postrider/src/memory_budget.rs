//! A budget of memory: how many bytes may be held at once, over all, for each purpose, and by each of those who hold them.
//!
//! Whoever would hold more is refused before anything is allocated. A refusal costs a few loads from memory, and nobody
//! waits for anybody.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Holders are told apart by so many counts, so that none needs a lock. Two that meet in one share its part.
pub(crate) const PARTS: usize = 64;

/// How many bytes may be held at once.
pub(crate) struct MemoryBudget<const PURPOSES: usize> {
    taken: AtomicUsize,
    bytes_max: usize,
    purposes: [Purpose; PURPOSES],
}

/// What a part of a budget is for.
pub(crate) struct Purpose {
    taken: AtomicUsize,
    bytes_max: usize,
    parts: [AtomicUsize; PARTS],
    part_bytes_max: usize,
}

/// Bytes that are held for one purpose by one holder; given back when dropped.
pub(crate) struct Reservation<const PURPOSES: usize> {
    budget: &'static MemoryBudget<PURPOSES>,
    purpose: usize,
    part: usize,
    bytes: usize,
}

/// There is no room for it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OverBudget;

impl Purpose {
    /// So many bytes together, and so many for one holder.
    pub(crate) const fn new(bytes_max: usize, part_bytes_max: usize) -> Self {
        Purpose {
            taken: AtomicUsize::new(0),
            bytes_max,
            parts: [const { AtomicUsize::new(0) }; PARTS],
            part_bytes_max,
        }
    }
}

impl<const PURPOSES: usize> MemoryBudget<PURPOSES> {
    pub(crate) const fn new(bytes_max: usize, purposes: [Purpose; PURPOSES]) -> Self {
        MemoryBudget { taken: AtomicUsize::new(0), bytes_max, purposes }
    }

    /// What is held for a purpose.
    pub(crate) fn taken(&self, purpose: usize) -> usize {
        self.purposes[purpose].taken.load(Relaxed)
    }

    fn take(&self, purpose: usize, part: usize, bytes: usize) -> Result<(), OverBudget> {
        let purpose = &self.purposes[purpose];
        let counts = [
            (&purpose.parts[part], purpose.part_bytes_max),
            (&purpose.taken, purpose.bytes_max),
            (&self.taken, self.bytes_max),
        ];
        for (number, (count, bytes_max)) in counts.iter().enumerate() {
            if let Err(over) = take(count, bytes, *bytes_max) {
                counts[..number].iter().for_each(|(count, _)| {
                    count.fetch_sub(bytes, Relaxed);
                });
                return Err(over);
            }
        }
        Ok(())
    }
}

/// Not even for a moment more than there is: somebody else would be refused for it.
fn take(count: &AtomicUsize, bytes: usize, bytes_max: usize) -> Result<(), OverBudget> {
    let within = |taken: usize| taken.checked_add(bytes).filter(|sum| *sum <= bytes_max);
    count.fetch_update(Relaxed, Relaxed, within).map(drop).map_err(|_| OverBudget)
}

impl<const PURPOSES: usize> Reservation<PURPOSES> {
    /// Nothing yet, for whoever has this hash.
    pub(crate) fn new(budget: &'static MemoryBudget<PURPOSES>, purpose: usize, holder: u64) -> Self {
        Reservation { budget, purpose, part: holder as usize % PARTS, bytes: 0 }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes what is missing.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<(), OverBudget> {
        let more = bytes.saturating_sub(self.bytes);
        if more > 0 {
            self.budget.take(self.purpose, self.part, more)?;
            self.bytes = bytes;
        }
        Ok(())
    }
}

impl<const PURPOSES: usize> Drop for Reservation<PURPOSES> {
    fn drop(&mut self) {
        if self.bytes > 0 {
            let purpose = &self.budget.purposes[self.purpose];
            for count in [&purpose.parts[self.part], &purpose.taken, &self.budget.taken] {
                count.fetch_sub(self.bytes, Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of eight bytes; six for the first purpose, three of them for one holder, and four for the second.
    fn budget() -> &'static MemoryBudget<2> {
        Box::leak(Box::new(MemoryBudget::new(8, [Purpose::new(6, 3), Purpose::new(4, 4)])))
    }

    fn reserve(
        budget: &'static MemoryBudget<2>,
        purpose: usize,
        holder: u64,
        bytes: usize,
    ) -> Result<Reservation<2>, OverBudget> {
        let mut reservation = Reservation::new(budget, purpose, holder);
        reservation.grow_to(bytes).map(|()| reservation)
    }

    #[test]
    fn bytes_are_held_until_they_are_given_back() {
        let budget = budget();
        let mut one = reserve(budget, 0, 1, 2).unwrap();
        one.grow_to(3).unwrap();
        one.grow_to(1).unwrap();
        assert_eq!((one.bytes(), budget.taken(0)), (3, 3));
        drop(one);
        assert_eq!((budget.taken(0), budget.taken.load(Relaxed)), (0, 0));
    }

    #[test]
    fn each_bound_is_kept_and_who_is_refused_takes_nothing() {
        let budget = budget();
        assert!(reserve(budget, 0, 1, 4).is_err(), "one holder");
        let held = [1, 2].map(|holder| reserve(budget, 0, holder, 3).unwrap());
        assert!(reserve(budget, 0, 3, 1).is_err(), "one purpose");
        assert!(reserve(budget, 1, 3, 3).is_err(), "all together");
        let last = reserve(budget, 1, 3, 2).unwrap();
        assert_eq!(budget.taken.load(Relaxed), 8);
        drop((held, last));
        let counts = budget.purposes.iter().flat_map(|purpose| purpose.parts.iter().chain([&purpose.taken]));
        assert!(counts.chain([&budget.taken]).all(|count| count.load(Relaxed) == 0));
    }
}
