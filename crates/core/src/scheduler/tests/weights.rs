//! Shares follow weights, whatever the weights are.

use super::*;
use crate::account::Weight;
use proptest::prelude::*;
use std::collections::VecDeque;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shares_follow_weights_within_a_tenth(weights in proptest::collection::vec(1..10_u64, 2..6), slots in 4..30_u32) {
        let mut bench = Bench::with(SchedulerOptions::of_slots(slots));
        for (number, weight) in (1..).zip(&weights) {
            let account = AccountId::from_u64(number);
            bench.step(Input::Share(account, Share { weight: Weight::new(*weight).unwrap(), max_in_flight: Some(slots) }));
            bench.step(Input::Configure(destination(number), Settings { account, ..settings(1000) }));
        }
        let total: u64 = weights.iter().sum();
        let rounds = 100;
        let mut running = VecDeque::new();
        let owe = |bench: &mut Bench, running: &mut VecDeque<Ticket>, to: u64| {
            let ticket = bench.ticket(to, Lane::Fresh, bench.now);
            running.extend(bench.step(Input::Owed(ticket)).into_iter().filter_map(sent_ticket));
        };
        // Everyone always has something waiting: for each that ends another comes.
        for to in 1..=weights.len() as u64 {
            (0..50).for_each(|_| owe(&mut bench, &mut running, to));
        }
        let mut sent = vec![0_u64; weights.len()];
        for turn in 0..total * rounds + 200 {
            let done: Ticket = running.pop_front().unwrap();
            let to = done.line.destination.as_u64();
            running.extend(bench.end(done.delivery, After::Gone, Health::Good).into_iter().filter_map(sent_ticket));
            if turn >= 200 {
                sent[to as usize - 1] += 1;
            }
            owe(&mut bench, &mut running, to);
        }
        for (sent, weight) in sent.iter().zip(&weights) {
            let expected = weight * rounds;
            prop_assert!(sent.abs_diff(expected) <= expected / 10 + 2, "{sent} of {expected}, weights {weights:?}");
        }
    }
}

fn sent_ticket(action: Action) -> Option<Ticket> {
    if let Action::Send(ticket) = action { Some(ticket) } else { None }
}
