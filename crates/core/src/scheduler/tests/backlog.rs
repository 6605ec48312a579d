//! What waits of each account, and how long.

use super::*;

#[test]
fn an_account_waits_as_long_as_its_longest_and_no_other_does() {
    let mut bench = Bench::new(1, 2, 5);
    let other = AccountId::from_u64(2);
    bench.step(Input::Configure(destination(2), Settings { account: other, ..settings(5) }));
    let mut sent = bench.owe(0);
    for to in [0, 1, 2] {
        bench.pass(Duration::from_secs(10));
        assert!(bench.owe(to).is_empty(), "the only slot is taken");
    }
    bench.pass(Duration::from_secs(5));
    let waits = |bench: &Bench| {
        let backlogs = bench.scheduler.backlogs(bench.now);
        let of = |account| backlogs.get(&account).map(|it| (it.pending.rows, it.longest_wait.as_secs()));
        [ACCOUNT, other].map(of)
    };
    assert_eq!(waits(&bench), [Some((3, 25)), Some((1, 5))]);
    assert_eq!(bench.scheduler.longest_wait(bench.now), Duration::from_secs(25));
    while let Some(delivery) = sent.pop() {
        sent.extend(bench.finish(delivery, None));
    }
    assert_eq!(waits(&bench), [None, None]);
}

#[test]
fn what_waited_for_a_destination_that_is_gone_or_paused_counts_no_longer() {
    let mut bench = Bench::new(1, 4, 5);
    let longest = |bench: &Bench| bench.scheduler.longest_wait(bench.now).as_secs();
    bench.owe(0);
    for to in [1, 2, 3] {
        bench.owe(to);
        bench.pass(Duration::from_secs(10));
    }
    assert_eq!(longest(&bench), 30);
    bench.step(Input::Remove(destination(1)));
    assert_eq!(longest(&bench), 20);
    bench.step(Input::Configure(destination(2), Settings { paused: true, ..settings(5) }));
    assert_eq!(longest(&bench), 10);
}
