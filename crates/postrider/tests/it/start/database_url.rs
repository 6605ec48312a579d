//! What a start says of a database that it cannot be sure to talk to.

use crate::cluster::sharing;
use crate::rig::{Site, preload};
use postrider_postgres::testing::Server;
use postrider_torture::rig::proxy::Proxy;

const WARNING: &str = "its certificate is not verified; set sslmode=verify-full";

#[test]
fn a_database_on_another_machine_whose_certificate_is_not_checked_is_warned_of() {
    let server = Server::shared();
    let way = Proxy::start(&server.socket());
    let url = way.url(&server.database());
    let address = way.address().ip().to_string();
    let named = url.replace(&address, "database.live.test");
    assert_ne!(named, url);
    for (url, expected) in [(&url, 0), (&named, 1)] {
        let site = sharing(Site::new(), url)
            .variable("LD_PRELOAD", preload::library("faults/resources/names.c"))
            .variable("NAMES_LIVE_ADDRESS", &address);
        let gateway = site.start();
        let log = gateway.stop().err;
        assert_eq!(log.matches(WARNING).count(), expected, "{url}: {log}");
    }
}
