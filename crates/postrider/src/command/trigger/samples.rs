//! Sample events, one or more for each provider: written by us after what the providers document, with made-up people.

/// An event as a provider would send it. `{{id}}`, `{{unix}}`, `{{unix_ms}}` and `{{time}}` are filled in.
pub(super) struct Sample {
    pub(super) provider: &'static str,
    /// As the provider calls it, and the gateway after it.
    pub(super) event: &'static str,
    /// Beside `content-type` and the signature.
    pub(super) headers: &'static [(&'static str, &'static str)],
    pub(super) body: &'static str,
}

macro_rules! samples {
    ($($provider:literal $event:literal $file:literal [$($name:literal: $value:literal),*],)*) => {
        &[$(Sample {
            provider: $provider,
            event: $event,
            headers: &[$(($name, $value)),*],
            body: include_str!(concat!("samples/", $file)),
        }),*]
    };
}

/// By provider, the most usual of each first.
pub(super) const SAMPLES: &[Sample] = samples! {
    "github" "push" "github_push.json"
        ["x-github-event": "push", "x-github-delivery": "{{id}}", "user-agent": "GitHub-Hookshot/044aadd"],
    "github" "pull_request" "github_pull_request.json"
        ["x-github-event": "pull_request", "x-github-delivery": "{{id}}", "user-agent": "GitHub-Hookshot/044aadd"],
    "github" "issues" "github_issues.json"
        ["x-github-event": "issues", "x-github-delivery": "{{id}}", "user-agent": "GitHub-Hookshot/044aadd"],
    "gitlab" "Push_Hook" "gitlab_push.json"
        ["x-gitlab-event": "Push Hook", "idempotency-key": "{{id}}", "x-gitlab-instance": "https://gitlab.example.com"],
    "hubspot" "contact.creation" "hubspot_contact.json" [],
    "linear" "Issue" "linear_issue.json" ["linear-event": "Issue", "linear-delivery": "{{id}}"],
    "paddle" "transaction.completed" "paddle_transaction.json" [],
    "shopify" "orders/create" "shopify_order.json"
        ["x-shopify-topic": "orders/create", "x-shopify-webhook-id": "{{id}}", "x-shopify-shop-domain": "super-toys.myshopify.com"],
    "shopify" "app/uninstalled" "shopify_uninstalled.json"
        ["x-shopify-topic": "app/uninstalled", "x-shopify-webhook-id": "{{id}}", "x-shopify-shop-domain": "super-toys.myshopify.com"],
    "slack" "message" "slack_message.json" [],
    "slack" "app_mention" "slack_mention.json" [],
    "standard" "user.created" "standard_user.json" ["webhook-id": "msg_{{id}}"],
    "stripe" "payment_intent.succeeded" "stripe_payment_intent.json" [],
    "stripe" "invoice.payment_failed" "stripe_invoice_failed.json" [],
    "stripe" "customer.subscription.deleted" "stripe_subscription_deleted.json" [],
    "twilio" "message" "twilio_message.txt" ["i-twilio-idempotency-token": "{{id}}"],
    "woocommerce" "order.created" "woocommerce_order.json"
        ["x-wc-webhook-topic": "order.created", "x-wc-webhook-delivery-id": "{{id}}", "x-wc-webhook-source": "https://shop.example.com/"],
    "zendesk" "zen:event-type:ticket.created" "zendesk_ticket.json" ["x-zendesk-webhook-invocation-id": "{{id}}"],
};

impl Sample {
    /// The one that is asked for; without an event, the provider's first.
    pub(super) fn find(provider: &str, event: Option<&str>) -> Result<&'static Sample, String> {
        let of_provider = || SAMPLES.iter().filter(|sample| sample.provider.eq_ignore_ascii_case(provider));
        if of_provider().next().is_none() {
            let mut known: Vec<&str> = SAMPLES.iter().map(|sample| sample.provider).collect();
            known.dedup();
            return Err(format!("no samples for {provider:?}; there are samples for {}", known.join(", ")));
        }
        let is_it = |sample: &&Sample| event.is_none_or(|event| sample.event == event);
        of_provider().find(is_it).ok_or_else(|| {
            let known: Vec<&str> = of_provider().map(|sample| sample.event).collect();
            format!(
                "{provider} has no sample {:?}; choose one of {}",
                event.unwrap_or_default(),
                known.join(", ")
            )
        })
    }

    pub(super) fn content_type(&self) -> &'static str {
        if self.provider == "twilio" { "application/x-www-form-urlencoded" } else { "application/json" }
    }
}

/// What is the same in one event and new in the next.
pub(super) struct Filling {
    pub(super) id: String,
    pub(super) unix_ms: u64,
    pub(super) time: String,
}

impl Filling {
    pub(super) fn fill(&self, text: &str) -> String {
        text.trim_end()
            .replace("{{id}}", &self.id)
            .replace("{{unix_ms}}", &self.unix_ms.to_string())
            .replace("{{unix}}", &(self.unix_ms / 1000).to_string())
            .replace("{{time}}", &self.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_engine::verify::Preset;

    #[test]
    fn every_sample_is_of_a_provider_that_is_known_and_is_filled_in() {
        let filling = Filling { id: "0a".to_owned(), unix_ms: 1_700_000_000_123, time: "T".to_owned() };
        for sample in SAMPLES {
            assert!(Preset::by_name(sample.provider).is_some(), "{}", sample.provider);
            let body = filling.fill(sample.body);
            let headers: String = sample.headers.iter().map(|(_, value)| filling.fill(value)).collect();
            assert!(!body.contains("{{") && !headers.contains("{{"), "{body} {headers}");
            if sample.content_type() == "application/json" {
                serde_json::from_str::<serde_json::Value>(&body).expect(sample.event);
            }
        }
    }

    #[test]
    fn what_there_is_no_sample_of_is_answered_with_what_there_is() {
        assert_eq!(Sample::find("Stripe", None).map(|sample| sample.event), Ok("payment_intent.succeeded"));
        assert!(
            Sample::find("strip", None).is_err_and(|said| said.contains("shopify, slack, standard, stripe"))
        );
        assert!(
            Sample::find("slack", Some("x"))
                .is_err_and(|said| said.contains("choose one of message, app_mention"))
        );
    }
}
