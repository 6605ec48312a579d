"""A receiver that checks deliveries with the standardwebhooks package: receive.py KEYS RESULTS

KEYS holds {"secrets": {name: whsec_…}, "public_key": whpk_… or null}. RESULTS gets a line of JSON for each delivery."""

import base64
import http.server
import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from standardwebhooks.webhooks import Webhook

KEYS, RESULTS = sys.argv[1:]


def holds(secret, body, headers):
    try:
        Webhook(secret).verify(body, headers, json_parse=False)
        return True
    except Exception:
        return False


def holds_asymmetric(public_key, body, headers):
    """v1a, which the package does not know."""
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key.removeprefix("whpk_")))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    for one in headers["webhook-signature"].split(" "):
        version, signature = one.split(",")
        try:
            if version == "v1a":
                key.verify(base64.b64decode(signature), signed)
                return True
        except InvalidSignature:
            pass
    return False


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with open(KEYS, encoding="utf-8") as file:
            keys = json.load(file)
        result = {}
        for name, secret in keys["secrets"].items():
            result[name] = holds(secret, body, headers)
            result[name + " tampered"] = holds(secret, body + b" ", headers)
        if keys["public_key"]:
            result["v1a"] = holds_asymmetric(keys["public_key"], body, headers)
            result["v1a tampered"] = holds_asymmetric(keys["public_key"], body + b" ", headers)
        with open(RESULTS, "a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
