//! Where in each provider's own pages a webhook is set up, and what its events are called.

/// For one provider.
pub(super) struct Hint {
    name: &'static str,
    /// The way through its menus.
    pub(super) place: &'static str,
    /// Types as they come in, to write routes for.
    pub(super) types: &'static str,
}

const fn hint(name: &'static str, place: &'static str, types: &'static str) -> Hint {
    Hint { name, place, types }
}

/// By the names of the presets.
const HINTS: &[Hint] = &[
    hint(
        "discord",
        "Developer Portal, the application, General Information: Interactions Endpoint URL",
        "interactions have no type that routes match",
    ),
    hint(
        "github",
        "The repository or organisation, Settings, Webhooks, Add webhook; content type application/json",
        "push, pull_request, issues, release",
    ),
    hint(
        "gitlab",
        "The project or group, Settings, Webhooks, Add new webhook",
        "Push_Hook, Merge_Request_Hook, Pipeline_Hook",
    ),
    hint(
        "hubspot",
        "The app, Webhooks: Target URL",
        "contact.creation, deal.propertyChange: that of the first event of the list",
    ),
    hint("linear", "Settings, API, Webhooks, New webhook", "Issue, Comment, Project"),
    hint(
        "paddle",
        "Developer tools, Notifications, New destination, type webhook",
        "transaction.completed, subscription.created",
    ),
    hint(
        "sendgrid",
        "Settings, Mail Settings, Event Webhook",
        "delivered, open, bounce: that of the first event of the list",
    ),
    hint(
        "shopify",
        "The store, Settings, Notifications, Webhooks, or the app's own subscriptions",
        "orders/create, orders/paid, products/update",
    ),
    hint("slack", "The app, Event Subscriptions: Request URL", "message, app_mention, reaction_added"),
    hint(
        "standard",
        "Wherever the sender asks for an endpoint",
        "as the sender names them, often order.paid",
    ),
    hint(
        "stripe",
        "Developers, Webhooks, Add destination, type webhook endpoint",
        "charge.succeeded, invoice.paid, customer.subscription.deleted",
    ),
    hint(
        "twilio",
        "The number or service, Webhook or A message comes in, method POST",
        "calls and messages come as forms and have no type of their own",
    ),
    hint(
        "woocommerce",
        "WooCommerce, Settings, Advanced, Webhooks, Add webhook",
        "order.created, product.updated",
    ),
    hint(
        "zendesk",
        "Admin Center, Apps and integrations, Webhooks, Create webhook",
        "zen:event-type:ticket.created, zen:event-type:user.created",
    ),
];

pub(super) fn of(name: &str) -> Option<&'static Hint> {
    HINTS.iter().find(|hint| hint.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_engine::verify::PRESETS;

    #[test]
    fn every_preset_has_a_hint_and_no_hint_is_of_nobody() {
        let mut presets: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        let mut hints: Vec<&str> = HINTS.iter().map(|hint| hint.name).collect();
        presets.sort_unstable();
        hints.sort_unstable();
        assert_eq!(presets, hints);
    }
}
