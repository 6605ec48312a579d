// A receiver that checks deliveries with the standardwebhooks package: receive.mjs KEYS RESULTS
//
// As receive.py; it stands beside the node_modules with the package.

import { appendFileSync, readFileSync } from "node:fs";
import { createPublicKey, verify } from "node:crypto";
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const [KEYS, RESULTS] = process.argv.slice(2);
// The header of an Ed25519 public key in DER (RFC 8410).
const ED25519 = Buffer.from("302a300506032b6570032100", "hex");

function holds(secret, body, headers) {
    try {
        new Webhook(secret).verify(body, headers);
        return true;
    } catch {
        return false;
    }
}

// v1a, which the package does not know.
function holdsAsymmetric(publicKey, body, headers) {
    const raw = Buffer.from(publicKey.replace("whpk_", ""), "base64");
    const key = createPublicKey({ key: Buffer.concat([ED25519, raw]), format: "der", type: "spki" });
    const signed = Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`);
    const ones = headers["webhook-signature"].split(" ").map((one) => one.split(","));
    return ones.some(([version, text]) => version === "v1a" && verify(null, signed, key, Buffer.from(text, "base64")));
}

const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
        const body = Buffer.concat(parts).toString();
        const keys = JSON.parse(readFileSync(KEYS, "utf8"));
        const result = {};
        for (const [name, secret] of Object.entries(keys.secrets)) {
            result[name] = holds(secret, body, request.headers);
            result[`${name} tampered`] = holds(secret, `${body} `, request.headers);
        }
        if (keys.public_key) {
            result["v1a"] = holdsAsymmetric(keys.public_key, body, request.headers);
            result["v1a tampered"] = holdsAsymmetric(keys.public_key, `${body} `, request.headers);
        }
        appendFileSync(RESULTS, `${JSON.stringify(result)}\n`);
        response.writeHead(200, { "content-length": 0 }).end();
    });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
