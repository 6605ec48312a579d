//! The example of the page is applied as it stands.

use super::command::Desk;

#[test]
fn the_example_of_the_page_works() {
    let page = include_str!("../../../../../docs/configuration-as-code.md");
    let example = page
        .split("```yaml gateway.yaml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("there is one");
    let mut desk = Desk::with_secrets();
    let signing = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";
    let named = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    desk.variables = [("SHOP_SECRET", "shop"), ("BILLING_SECRET", signing), ("BILLING_TOKEN", "token")]
        .map(named)
        .to_vec();
    desk.apply(example).out(0);
    assert!(desk.plan(example).out(0).starts_with("No changes."));
    assert_eq!(desk.plan(&desk.export()).out(0), "No changes.\n");
}
