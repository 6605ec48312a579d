//! Several nodes on one PostgreSQL database, as processes of their own.

mod database;
mod nodes;
mod readiness;
mod seen;
mod takeover;

use crate::rig::{Api, Gateway, Site, wait_until};
use postrider_postgres::testing::Server;

const ADMIN_KEY: &str = "hk_0123456789abcdefghjkmnpq";
/// The least there is: tests wait for it to pass.
const LEASE_SECONDS: &str = "2";

/// A database of its own, and places for nodes that share it.
struct Cluster {
    url: String,
    sites: Vec<Site>,
}

impl Cluster {
    fn new(nodes: usize) -> Self {
        let url = Server::shared().database();
        let site = |number: usize| {
            let name = format!("node-{number}");
            let flags = ["--database-url", &url, "--lease-seconds", LEASE_SECONDS, "--node-name", &name];
            Site::new().with(&flags).variable("POSTRIDER_ADMIN_KEY", ADMIN_KEY)
        };
        let sites = (0..nodes).map(site).collect();
        Cluster { url, sites }
    }

    /// Starts all nodes and waits until each has its part of the shards.
    fn start(&self) -> Vec<Gateway> {
        let nodes: Vec<Gateway> = self.sites.iter().map(Site::start).collect();
        self.wait_for_parts(nodes.len());
        nodes
    }

    /// Waits until so many nodes own all shards between them, evenly.
    fn wait_for_parts(&self, nodes: usize) {
        let parts = "SELECT coalesce(string_agg(part::text, ','), '') FROM
             (SELECT count(*) AS part FROM shards WHERE owner IS NOT NULL GROUP BY owner) AS parts";
        wait_until("every node has its part", || {
            let found = Server::shared().ask(&self.url, parts);
            let parts: Vec<u32> = found.split(',').filter_map(|part| part.parse().ok()).collect();
            let even =
                parts.iter().max().zip(parts.iter().min()).is_some_and(|(most, least)| most - least <= 1);
            (parts.len() == nodes && parts.iter().sum::<u32>() == 64 && even).then_some(())
        });
    }
}

/// What one node was told is known to the others within moments; waits until it is.
fn wait_for_routes(nodes: &[Gateway], count: usize) {
    for node in nodes {
        wait_until("all nodes know all routes", || {
            (api(node).get("/v1/routes").data(200).as_array().map(Vec::len) == Some(count)).then_some(())
        });
    }
}

fn api(node: &Gateway) -> Api {
    Api { address: node.address(), key: ADMIN_KEY.to_owned() }
}
