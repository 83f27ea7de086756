# SPDX-License-Identifier: MIT
"""Headless Firefox controlled over its own protocol (Marionette), with a fake camera and microphone."""
import json
import os
import shutil
import socket
import tempfile

import webdriver
from procs import Proc, free_port, patience, wait_for

PREFS = {
    "marionette.port": 0, "media.navigator.streams.fake": True, "media.navigator.permission.disabled": True, "media.autoplay.default": 0,
    "media.peerconnection.ice.obfuscate_host_addresses": False, "app.update.enabled": False, "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False, "toolkit.telemetry.reportingpolicy.firstRun": False, "media.gmp-manager.updateEnabled": False,
    "browser.startup.homepage_override.mstone": "ignore", "network.captive-portal-service.enabled": False, "media.volume_scale": "0.0",
}


def there():
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Page(webdriver.Page):
    """One page: see webdriver.Page."""

    def __init__(self, tmp):
        self.profile, self.port, self.id, self.buf = tempfile.mkdtemp(prefix="firefox-"), free_port(), 0, b""
        with open(os.path.join(self.profile, "user.js"), "w") as f:
            for name, value in {**PREFS, "marionette.port": self.port}.items():
                f.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        env = dict(os.environ, HOME=self.profile, MOZ_HEADLESS="1", MOZ_DISABLE_CONTENT_SANDBOX="1")
        self.proc = Proc([there(), "--headless", "--marionette", "--no-remote", "--profile", self.profile], os.path.join(str(tmp), "firefox.log"), env=env)
        assert wait_for(self._connect, 30, 0.2), self.proc.text()[-2000:]
        self._message()
        self.call("WebDriver:NewSession", capabilities={})
        self.call("WebDriver:SetTimeouts", script=60000)

    def _connect(self):
        try:
            self.sock = socket.create_connection(("127.0.0.1", self.port), patience(30))
        except OSError:
            return False
        return True

    def _message(self):
        while b":" not in self.buf or len(self.buf) < len(self.buf.partition(b":")[0]) + 1 + int(self.buf.partition(b":")[0]):
            got = self.sock.recv(65536)
            assert got, "Firefox is gone:\n" + self.proc.text()[-2000:]
            self.buf += got
        size, _, rest = self.buf.partition(b":")
        self.buf = rest[int(size):]
        return json.loads(rest[:int(size)])

    def call(self, command, **params):
        self.id += 1
        data = json.dumps([0, self.id, command, params]).encode()
        self.sock.sendall(b"%d:" % len(data) + data)
        _, number, error, result = self._message()
        assert number == self.id and not error, error
        return result

    def open(self, url):
        self.call("WebDriver:Navigate", url=url)

    def script(self, code, *args):
        return self.call("WebDriver:ExecuteAsyncScript", script=code, args=args, sandbox=None)["value"]

    def image(self):
        return self.call("WebDriver:TakeScreenshot", full=False)["value"]

    def close(self):
        self.sock.close()
        self.proc.end()
        shutil.rmtree(self.profile, ignore_errors=True)
