# SPDX-License-Identifier: MIT
"""Tokens made by other tools: signed links by the script of etc/, JWT by the openssl command."""
import base64
import hashlib
import hmac
import json
import os
import subprocess
import sys
import time

from procs import ROOT

SECRET = "0123456789abcdef0123456789abcdef"


def link(action, stream="live/s", span="1h", secret=SECRET, **more):
    """Query to append to a url, as etc/sign-link.py prints it."""
    argv = [sys.executable, os.path.join(ROOT, "etc", "sign-link.py"), secret, action, stream, span]
    for name, value in more.items():
        argv += ["--" + name, value]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _join(head, claims):
    claims = {"exp": int(time.time()) + 60, **claims}
    return f"{b64(json.dumps(head).encode())}.{b64(json.dumps(claims).encode())}"


def hs256(secret=SECRET, alg="HS256", **claims):
    text = _join({"alg": alg, "typ": "JWT"}, claims)
    return f"{text}.{b64(hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest())}"


class Key:
    """A private key in a file, its public half as JWK."""

    def __init__(self, folder, kind, kid):
        self.path, self.kind, self.kid = os.path.join(str(folder), f"{kid}.pem"), kind, kid
        how = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"] if kind == "RS256" else \
            ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        self._openssl("genpkey", *how, "-out", self.path)

    def _openssl(self, *argv, data=None):
        return subprocess.run(["openssl", *argv], input=data, capture_output=True, check=True).stdout

    @property
    def jwk(self):
        if self.kind == "RS256":
            text = self._openssl("rsa", "-in", self.path, "-noout", "-modulus").decode()
            n = bytes.fromhex(text.strip().split("=")[1])
            return {"kty": "RSA", "kid": self.kid, "n": b64(n), "e": "AQAB", "use": "sig"}
        point = self._openssl("pkey", "-in", self.path, "-pubout", "-outform", "DER")[-64:]
        return {"kty": "EC", "crv": "P-256", "kid": self.kid, "x": b64(point[:32]),
                "y": b64(point[32:])}

    def jwt(self, **claims):
        text = _join({"alg": self.kind, "kid": self.kid}, claims)
        sign = self._openssl("dgst", "-sha256", "-sign", self.path, data=text.encode())
        return f"{text}.{b64(sign if self.kind == 'RS256' else raw(sign))}"


def raw(der):
    """Concatenates r and s of an ECDSA signature."""
    size = der[3]
    r, rest = der[4:4 + size], der[4 + size:]
    s = rest[2:2 + rest[1]]
    return b"".join(x.lstrip(b"\0").rjust(32, b"\0") for x in (r, s))


def jwks(path, *keys):
    with open(str(path) + ".new", "w") as f:
        json.dump({"keys": [k.jwk for k in keys]}, f)
    os.replace(str(path) + ".new", path)
