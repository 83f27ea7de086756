#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sign-link.py - prints the parameters that sign a URL for a limited time.

    etc/sign-link.py SECRET play live/livestream                  # valid for an hour
    etc/sign-link.py SECRET publish live/livestream 7d            # s, m, h, d
    etc/sign-link.py SECRET play live/livestream 10m --ip 192.0.2.7 --vhost live.example.com

SECRET is one of security { token { secret ... } } in the configuration: doc/security-tokens.md.
"""
import argparse
import hashlib
import hmac
import time

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

p = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
p.add_argument("secret")
p.add_argument("action", choices=["publish", "play"])
p.add_argument("stream", help="app/stream")
p.add_argument("span", nargs="?", default="1h")
p.add_argument("--ip", default="")
p.add_argument("--vhost", default="__defaultVhost__")
a = p.parse_args()

app, name = a.stream.rsplit("/", 1)
expires = str(int(time.time()) + int(a.span[:-1]) * UNITS[a.span[-1]])
text = "\n".join([a.action, a.vhost, app, name, expires, a.ip])
sign = hmac.new(a.secret.encode(), text.encode(), hashlib.sha256).hexdigest()
print(f"?expires={expires}&sign={sign}" + (f"&ip={a.ip}" if a.ip else ""))
