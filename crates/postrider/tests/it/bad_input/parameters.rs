//! Parameters of a list that are unknown or beyond what is allowed.

use super::check_unharmed;
use crate::rig::Site;

#[test]
fn a_bad_parameter_is_named() {
    let site = Site::new();
    let mut gateway = site.start();
    check_unharmed(&mut gateway, |api, faults| {
        for (query, names) in [
            ("limit=0", "limit"),
            ("limit=-1", "limit"),
            ("limit=201", "limit"),
            ("limit=1.5", "limit"),
            ("limit=", "limit"),
            ("limit=ten", "limit"),
            ("limit=99999999999999999999", "limit"),
            ("offset=-1", "offset"),
            ("offset=99999999999999999999", "offset"),
            ("offset=1e3", "offset"),
            ("status=lost", "status"),
            ("status=", "status"),
            ("direction=up", "direction"),
            ("source_id=5", "source_id"),
            ("source_id=dst_0000000000000", "source_id"),
            ("source_id=%00", "source_id"),
            ("colour=red", "colour"),
            ("Limit=5", "Limit"),
            ("limit=5&limit=x", ""),
        ] {
            faults.check(&api.get(&format!("/v1/events?{query}")), names, query);
        }
        for query in ["%zz=1", "%ff=%fe", "&&&=", "=", "limit"] {
            faults.check(&api.get(&format!("/v1/events?{query}")), "", query);
        }
    });
}
