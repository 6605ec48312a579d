//! The same tests on the other store: told to, each site has a database of its own in place of its data directory.

use postrider_postgres::testing::Server;

/// `postgres` has it so.
const STORE_VARIABLE: &str = "POSTRIDER_TEST_STORE";
/// Known before the gateway starts, since there is no directory to find it in.
pub(crate) const ADMIN_KEY: &str = "hk_0123456789abcdefghjkmnpq";
/// Tests that start a gateway again after they killed it wait for it to pass.
const LEASE_SECONDS: &str = "3";

/// Whether the tests are told to.
pub(crate) fn is_wanted() -> bool {
    match std::env::var(STORE_VARIABLE).ok().as_deref() {
        None | Some("") => false,
        Some("postgres") => true,
        Some(other) => panic!("{STORE_VARIABLE} must be postgres, or not set: {other:?}"),
    }
}

/// The flags of a gateway on a new database.
pub(crate) fn flags() -> Vec<String> {
    let url = Server::shared().database();
    ["--database-url", &url, "--lease-seconds", LEASE_SECONDS].map(str::to_owned).to_vec()
}
