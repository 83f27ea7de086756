# SPDX-License-Identifier: MIT
"""WebKitGTK, a relative of Safari, on a virtual screen, driven over WebDriver."""
import glob
import json
import os
import shutil
import urllib.error
import urllib.request

import desktop
import webdriver
from procs import Proc, free_port, patience, wait_for

BROWSERS = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser"


def there():
    return all(shutil.which(x) for x in ("WebKitWebDriver", "Xvfb")) and glob.glob(BROWSERS)


class Page(webdriver.Page):
    """One page: see webdriver.Page."""

    def __init__(self, tmp):
        self.screen, port = desktop.Screen(tmp), free_port()
        env = dict(self.screen.environment(), WEBKIT_DISABLE_DMABUF_RENDERER="1")
        self.proc = Proc(["WebKitWebDriver", f"--port={port}", "--host=127.0.0.1"], os.path.join(str(tmp), "webkit.log"), env=env)
        self.at = f"http://127.0.0.1:{port}/session"
        assert wait_for(lambda: self._ready(port), 20, 0.1), self.proc.text()[-2000:]
        options = {"binary": glob.glob(BROWSERS)[0], "args": ["--automation"]}
        made = self.call("POST", "", capabilities={"alwaysMatch": {"webkitgtk:browserOptions": options}})
        self.at += "/" + made["sessionId"]
        self.call("POST", "/timeouts", script=60000)

    def _ready(self, port):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=2) as r:
                return json.load(r)["value"]["ready"]
        except OSError:
            return False

    def call(self, method, path, **params):
        data = json.dumps(params).encode() if method == "POST" else None
        asked = urllib.request.Request(self.at + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(asked, timeout=patience(60)) as r:
                return json.load(r)["value"]
        except urllib.error.HTTPError as e:
            raise AssertionError(e.read().decode()) from None

    def open(self, url):
        self.call("POST", "/url", url=url)

    def script(self, code, *args):
        return self.call("POST", "/execute/async", script=code, args=args)

    def image(self):
        return self.call("GET", "/screenshot")

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.proc.end()
            self.screen.proc.end()
