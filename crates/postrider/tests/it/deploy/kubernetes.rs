//! The manifests for Kubernetes, held against what the binary does, as far as can be told
//! without a cluster: names that must meet, ports and paths that must exist.

use super::read;
use super::yaml::documents;
use serde_json::Value;
use std::process::Command;

fn manifests() -> Vec<Value> {
    documents(&read("kubernetes/postrider.yaml"))
}

fn of_kind(kind: &str) -> Value {
    let found = manifests().into_iter().find(|manifest| manifest["kind"] == kind);
    found.unwrap_or_else(|| panic!("there is no {kind}"))
}

fn container() -> Value {
    of_kind("Deployment")["spec"]["template"]["spec"]["containers"][0].clone()
}

/// The value of a variable of the container.
fn variable(name: &str) -> String {
    let container = container();
    let all = container["env"].as_array().unwrap();
    let found = all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name} is not set"));
    found["value"].as_str().unwrap().to_owned()
}

#[test]
fn nodes_run_with_no_rights_that_they_do_not_need() {
    let pod = of_kind("Deployment")["spec"]["template"]["spec"].clone();
    let (pod, container) = (&pod, &container()["securityContext"]);
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["automountServiceAccountToken"], false);
    assert_eq!(container["allowPrivilegeEscalation"], false);
    assert_eq!(container["readOnlyRootFilesystem"], true);
    assert_eq!(container["capabilities"]["drop"][0], "ALL");
}

#[test]
fn selectors_meet_the_labels_of_the_nodes() {
    let deployment = of_kind("Deployment");
    let labels = deployment["spec"]["template"]["metadata"]["labels"].as_object().unwrap().clone();
    let spread = &deployment["spec"]["template"]["spec"]["topologySpreadConstraints"][0];
    let selectors = [
        deployment["spec"]["selector"]["matchLabels"].clone(),
        of_kind("Service")["spec"]["selector"].clone(),
        of_kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"].clone(),
        of_kind("NetworkPolicy")["spec"]["podSelector"]["matchLabels"].clone(),
        spread["labelSelector"]["matchLabels"].clone(),
    ];
    for selector in selectors {
        let wanted = selector.as_object().expect("a selector is a map");
        assert!(!wanted.is_empty(), "an empty selector takes everything");
        assert!(wanted.iter().all(|(name, value)| labels.get(name) == Some(value)), "{wanted:?}");
    }
}

#[test]
fn nodes_may_connect_to_no_private_address_but_the_database() {
    let policy = of_kind("NetworkPolicy")["spec"].clone();
    assert_eq!(policy["policyTypes"], serde_json::json!(["Ingress", "Egress"]));
    let rules = policy["egress"].as_array().unwrap();
    let to_everywhere = rules.iter().find(|rule| rule["to"][0].get("ipBlock").is_some()).unwrap();
    for (block, cidr, closed) in [(0, "0.0.0.0/0", "169.254.0.0/16"), (1, "::/0", "fc00::/7")] {
        let block = &to_everywhere["to"][block]["ipBlock"];
        assert_eq!(block["cidr"], cidr);
        assert!(block["except"].as_array().unwrap().iter().any(|range| range == closed), "{block}");
    }
    let without_address = rules.iter().filter(|rule| rule.get("to").is_none());
    for rule in without_address {
        assert_eq!(rule["ports"], serde_json::json!([{ "port": 5432, "protocol": "TCP" }]));
    }
}

#[test]
fn names_are_looked_up_in_the_cluster_and_at_the_node_and_nothing_else_is_asked_there() {
    let policy = of_kind("NetworkPolicy")["spec"].clone();
    let rules = policy["egress"].as_array().unwrap();
    let dns: Vec<&Value> = rules.iter().filter(|rule| rule["ports"][0]["port"] == 53).collect();
    let [dns] = dns[..] else { panic!("one rule is about names: {dns:?}") };
    assert_eq!(
        dns["ports"],
        serde_json::json!([{ "port": 53, "protocol": "UDP" }, { "port": 53, "protocol": "TCP" }])
    );
    assert_eq!(dns["to"][0]["podSelector"]["matchLabels"]["k8s-app"], "kube-dns");
    assert_eq!(dns["to"][1], serde_json::json!({ "ipBlock": { "cidr": "169.254.20.10/32" } }));
}

#[test]
fn a_gateway_that_systemd_starts_writes_no_core_file() {
    let unit = read("postrider.service");
    assert_eq!(
        unit.lines().filter(|line| line.starts_with("LimitCORE")).collect::<Vec<_>>(),
        ["LimitCORE=0"]
    );
}

#[test]
fn images_of_others_are_of_a_version() {
    let lines = |file: &str| read(file).lines().map(str::trim).map(str::to_owned).collect::<Vec<_>>();
    let from =
        lines("Dockerfile").into_iter().filter_map(|line| Some(line.strip_prefix("FROM ")?.to_owned()));
    let mut images: Vec<String> = from.collect();
    for file in ["compose.yaml", "kubernetes/postrider.yaml"] {
        images.extend(lines(file).iter().filter_map(|line| Some(line.strip_prefix("image: ")?.to_owned())));
    }
    assert!(images.len() >= 5, "{images:?}");
    for image in images {
        let (name, tag) = image.split(' ').next().unwrap().rsplit_once(':').expect("an image has a tag");
        // That of distroless has none but of the system's version, which stands in its name.
        let version = if name == "gcr.io/distroless/cc-debian12" { "12" } else { tag };
        let is_version = version.split(['.', '-']).next().is_some_and(|part| part.parse::<u32>().is_ok());
        assert!(is_version && tag != "latest", "{image}");
    }
}

#[test]
fn nodes_run_the_image_of_this_version() {
    let version = concat!("postrider:", env!("CARGO_PKG_VERSION"));
    assert_eq!(container()["image"], version);
    for file in ["compose.yaml", "Dockerfile", "kubernetes/postrider.yaml"] {
        let text = read(file);
        assert!(text.contains(version) && !text.contains(":latest"), "{file}");
    }
}

#[test]
fn probes_and_services_reach_what_is_served() {
    let described = Command::new(env!("CARGO_BIN_EXE_postrider")).arg("openapi").output().unwrap();
    let described: Value = serde_json::from_slice(&described.stdout).unwrap();
    let container = container();
    let port = &container["ports"][0];
    let listens_on =
        variable("POSTRIDER_LISTEN").split(':').next_back().and_then(|port| port.parse::<u64>().ok());
    assert_eq!(port["containerPort"].as_u64(), listens_on);
    for (probe, path) in
        [("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")]
    {
        let get = &container[probe]["httpGet"];
        assert_eq!((&get["path"], &get["port"]), (&Value::from(path), &port["name"]), "{probe}");
        assert!(described["paths"][path]["get"].is_object(), "{path} is no call of the API");
    }
    assert_eq!(of_kind("Service")["spec"]["ports"][0]["targetPort"], port["name"]);
}

#[test]
fn a_node_has_time_to_stop_and_secrets_that_are_made() {
    let deployment = of_kind("Deployment");
    let seconds = |value: &Value| value.as_u64().unwrap();
    let stop = seconds(&deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]);
    let text = read("kubernetes/postrider.yaml");
    let container = container();
    let pause = seconds(&container["lifecycle"]["preStop"]["sleep"]["seconds"]);
    // Nodes are asked every so often whether they are ready, and lists of endpoints follow within seconds of that.
    assert!(pause >= seconds(&container["readinessProbe"]["periodSeconds"]), "{pause} s");
    let grace: u64 = variable("POSTRIDER_GRACE_SECONDS").parse().unwrap();
    assert!(stop > pause + grace, "it is killed before its attempts may end");
    // Nobody starts it without having said by which name it is reached.
    let named = container["env"].as_array().unwrap().iter().find(|one| one["name"] == "POSTRIDER_PUBLIC_URL");
    assert_eq!(named.unwrap()["valueFrom"]["secretKeyRef"]["key"], "public-url");
    let mut names = std::collections::BTreeSet::new();
    for one in container["env"].as_array().unwrap() {
        assert!(names.insert(one["name"].as_str().unwrap()), "{} is set twice", one["name"]);
        if let Some(reference) = one["valueFrom"].get("secretKeyRef") {
            assert_eq!(reference["name"], "postrider");
            let made = format!("--from-literal={}=", reference["key"].as_str().unwrap());
            assert!(text.contains(&made), "the command at the top does not make {}", reference["key"]);
        }
    }
}
