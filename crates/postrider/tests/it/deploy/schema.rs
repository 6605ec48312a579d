//! The manifests for Kubernetes and the compose file, held against the schemas of their makers: every field is known,
//! and is of its type. The schemas are written by `scripts/deploy-schemas`.

use super::read;
use super::yaml::documents;
use serde_json::{Value, json};

const KUBERNETES: &str = include_str!("schema/kubernetes.json");
const COMPOSE: &str = include_str!("schema/compose.json");

/// What is wrong with a value, and where.
fn wrong(schema: &Value, value: &Value) -> Vec<String> {
    let schema = jsonschema::validator_for(schema).expect("it is a schema");
    schema.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn wrong_with_manifest(manifest: &Value) -> Vec<String> {
    let mut schema: Value = serde_json::from_str(KUBERNETES).unwrap();
    let kind = format!(".{}", manifest["kind"].as_str().expect("a manifest has a kind"));
    let known = schema["$defs"].as_object().unwrap().keys().find(|name| name.ends_with(&kind)).cloned();
    let Some(known) = known else { return vec![format!("{kind} is not in the schema")] };
    schema["$ref"] = format!("#/$defs/{known}").into();
    wrong(&schema, manifest)
}

fn manifests() -> Vec<Value> {
    documents(&read("kubernetes/postrider.yaml"))
}

fn compose() -> Value {
    documents(&read("compose.yaml")).remove(0)
}

fn wrong_with_compose(file: &Value) -> Vec<String> {
    wrong(&serde_json::from_str(COMPOSE).unwrap(), file)
}

#[test]
fn the_manifests_are_as_kubernetes_describes_its_kinds() {
    for manifest in manifests() {
        assert_eq!(wrong_with_manifest(&manifest), Vec::<String>::new(), "{}", manifest["kind"]);
    }
}

#[test]
fn the_compose_file_is_as_its_specification_says() {
    assert_eq!(wrong_with_compose(&compose()), Vec::<String>::new());
}

#[test]
fn a_field_that_there_is_not_and_a_value_of_another_type_are_found() {
    let deployment = manifests().remove(0);
    let container = "/spec/template/spec/containers/0";
    for (place, field, value) in [
        ("/spec", "replica", json!(3)),
        ("/spec", "replicas", json!("three")),
        ("/spec/template/spec", "terminationGracePeriodSecond", json!(60)),
        ("/spec/template/spec/securityContext", "runAsNonRoot", json!("true")),
        (container, "readynessProbe", json!({})),
        (&format!("{container}/readinessProbe"), "periodSeconds", json!("5s")),
        (&format!("{container}/readinessProbe/httpGet"), "port", json!([80])),
        (&format!("{container}/env/0"), "value", json!(8080)),
        (&format!("{container}/lifecycle/preStop/sleep"), "second", json!(10)),
    ] {
        let mut broken = deployment.clone();
        broken.pointer_mut(place).unwrap()[field] = value;
        assert!(!wrong_with_manifest(&broken).is_empty(), "{place} {field}");
    }
    for (place, field, value) in [
        ("/services/node-1", "stop_grace_periods", json!("40s")),
        ("/services/node-1", "read_only", json!("yes")),
        ("/services/node-1", "ports", json!("8080")),
        ("/services/database/healthcheck", "retries", json!("many")),
        ("", "service", json!({})),
    ] {
        let mut broken = compose();
        broken.pointer_mut(place).unwrap()[field] = value;
        assert!(!wrong_with_compose(&broken).is_empty(), "{place} {field}");
    }
    let unknown = json!({ "apiVersion": "v1", "kind": "Servise", "metadata": {} });
    assert!(!wrong_with_manifest(&unknown).is_empty());
}
