//! More clients than there is room for.

use crate::rig::client::{Client, request};
use crate::rig::{Site, wait_until};

#[test]
fn one_connection_too_many_is_closed_and_another_takes_the_place_of_one_that_left() {
    let site = Site::new().with(&["--connections-max", "3"]);
    let _gateway = site.start();
    let ask = || {
        let mut client = Client::connect(site.address()).ok()?;
        let answer = client.exchange(&request("GET", "/healthz", &[], b"")).ok()?;
        assert_eq!(answer.status, 200);
        Some(client)
    };
    // A connection that was answered and is still open has its place for certain.
    let mut served: Vec<Client> = (0..3).map(|_| ask().unwrap()).collect();
    assert!(ask().is_none(), "there is no fourth place");
    served.pop();
    served.push(wait_until("there is room again", ask));
    assert!(ask().is_none(), "for one");
}
