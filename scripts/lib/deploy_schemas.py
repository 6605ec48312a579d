"""Writes the schemas that the files in deploy/ are held against, as far as those could ever use them.

    deploy_schemas.py KUBERNETES_WHEEL COMPOSE_WHEEL DIRECTORY
"""

import json
import sys
import zipfile

KUBERNETES = "kubernetes_validate/kubernetes-json-schema/v1.30.0-local-strict/_definitions.json"
KINDS = [
    "io.k8s.api.apps.v1.Deployment", "io.k8s.api.core.v1.Service", "io.k8s.api.networking.v1.NetworkPolicy",
    "io.k8s.api.policy.v1.PodDisruptionBudget",
]
# What only a cluster writes, and what nodes without a disk of their own have no use for: refused until it is taken off
# this list.
LEFT_OUT = {
    "DeploymentStatus", "PodDisruptionBudgetStatus", "ServiceStatus", "ManagedFieldsEntry", "EphemeralContainer",
    "Volume", "Affinity",
}
COMPOSE = "compose/config/compose_spec.json"


def stripped(schema):
    """Without what is written for people."""
    if isinstance(schema, list):
        return [stripped(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: stripped(value)
        for name, value in schema.items()
        if not (name == "description" and isinstance(value, str)) and not name.startswith("x-kubernetes")
    }


def named(schema):
    """The definitions that a schema refers to."""
    if isinstance(schema, dict):
        return {schema["$ref"].split("/")[-1]} if "$ref" in schema else set().union(*map(named, schema.values()))
    return set().union(*map(named, schema)) if isinstance(schema, list) else set()


def kubernetes(wheel):
    known = json.loads(wheel.read(KUBERNETES))["$defs"]
    kept, wanted = {}, set(KINDS)
    while wanted:
        name = wanted.pop()
        kept[name] = False if name.split(".")[-1] in LEFT_OUT else stripped(known[name])
        wanted |= named(kept[name]) - kept.keys()
    return {
        "$comment": "Of Kubernetes 1.30 (Apache-2.0), by scripts/deploy-schemas.",
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$defs": dict(sorted(kept.items())),
    }


def compose(wheel):
    origin = "Of the Compose specification, as docker-compose 1.29.2 has it (Apache-2.0), by scripts/deploy-schemas."
    return {"$comment": origin, **stripped(json.loads(wheel.read(COMPOSE)))}


def written(schema):
    """A line for each definition, so that a change of one is one line of a difference."""
    definitions = schema.get("$defs") or schema.get("definitions")
    text = json.dumps(schema)
    for name, definition in definitions.items():
        one = f"{json.dumps(name)}: {json.dumps(definition)}"
        text = text.replace(one, "\n" + one, 1)
    return text + "\n"


def main(kubernetes_wheel, compose_wheel, directory):
    for name, schema in [
        ("kubernetes", kubernetes(zipfile.ZipFile(kubernetes_wheel))),
        ("compose", compose(zipfile.ZipFile(compose_wheel))),
    ]:
        with open(f"{directory}/{name}.json", "w", encoding="utf-8") as file:
            file.write(written(schema))


main(*sys.argv[1:])
