# SPDX-License-Identifier: MIT
"""Which stream is meant: every form in which clients write vhost, app, stream and parameters."""
import pytest

import flv
from flv import VIDEO
from rtmpclient import Closed, Rejected

VHOSTS = "vhost __defaultVhost__ { }\nvhost a.b { }\nvhost off.b { enabled off; }"

# the player's form: app, tcUrl, stream; all mean live/s of the default vhost
DEFAULT = {
    "plain": ("live", "rtmp://127.0.0.1:{port}/live", "s"),
    "no-port": ("live", "rtmp://127.0.0.1/live", "s"),
    "name-of-host": ("live", "rtmp://localhost:{port}/live", "s"),
    "unknown-host": ("live", "rtmp://what.ever:{port}/live", "s"),
    "slash": ("live/", "rtmp://127.0.0.1:{port}/live/", "s"),
    "instance": ("live/_definst_", "rtmp://127.0.0.1:{port}/live/_definst_", "s"),
    "default-vhost": ("live?vhost=__defaultVhost__",
                      "rtmp://127.0.0.1:{port}/live?vhost=__defaultVhost__", "s"),
    "token-in-stream": ("live", "rtmp://127.0.0.1:{port}/live", "s?token=abc&x=1"),
    "token-in-app": ("live?token=abc", "rtmp://127.0.0.1:{port}/live?token=abc", "s"),
    "white-space": ("live ", " rtmp://127.0.0.1:{port}/live ", " s"),
    "no-tcurl-port-0": ("live", "rtmp://127.0.0.1:/live", "s"),
}
# all mean live/s of a.b
VHOST = {
    "tcurl-host": ("live", "rtmp://a.b:{port}/live", "s"),
    "vhost-in-app": ("live?vhost=a.b", "rtmp://127.0.0.1:{port}/live?vhost=a.b", "s"),
    "vhost-in-tcurl": ("live", "rtmp://127.0.0.1:{port}/live?vhost=a.b", "s"),
    "domain": ("live?domain=a.b", "rtmp://127.0.0.1:{port}/live?domain=a.b", "s"),
    "dots": ("live...vhost...a.b", "rtmp://127.0.0.1:{port}/live...vhost...a.b", "s"),
    "vhost-in-stream": ("live", "rtmp://127.0.0.1:{port}/live", "s?vhost=a.b"),
    "domain-in-stream": ("live", "rtmp://127.0.0.1:{port}/live", "s?domain=a.b&k=v"),
    "vhost-and-token": ("live?vhost=a.b&token=1", "rtmp://127.0.0.1:{port}/live?vhost=a.b&token=1",
                        "s"),
}


def plays(s, app, tcurl, stream, count=5):
    c = s.client().connect(app, tcurl.format(port=s.port))
    c.play(stream)
    c.collect(1.5, count=count)
    n = len(flv.frames(c.tags, VIDEO))
    c.close()
    return n > 0


def test_ways_to_the_default_vhost(srs, source):
    s = srs(VHOSTS)
    s.push(source, loop=True)
    bad = [k for k, v in DEFAULT.items() if not plays(s, *v)]
    assert not bad, bad


def test_ways_to_a_vhost(srs, source):
    s = srs(VHOSTS)
    s.push(source, loop=True, tcurl=f"rtmp://a.b:{s.port}/live")
    bad = [k for k, v in VHOST.items() if not plays(s, *v)]
    assert not bad, bad
    assert not plays(s, *DEFAULT["plain"], count=None), "the vhosts share streams"


@pytest.mark.parametrize("how", ["tcurl-host", "vhost-in-app", "vhost-in-stream", "dots"])
def test_publish_into_a_vhost(srs, source, how):
    s = srs(VHOSTS)
    app, tcurl, stream = VHOST[how]
    s.push(source, stream, loop=True, app=app, tcurl=tcurl.format(port=s.port))
    assert plays(s, *VHOST["tcurl-host"])


def test_stream_with_slashes_and_long_apps(srs, source):
    s = srs()
    s.push(source, "b/c", loop=True, app="a")
    assert plays(s, "a", "rtmp://127.0.0.1:{port}/a", "b/c") or \
        plays(s, "a/b", "rtmp://127.0.0.1:{port}/a/b", "c")


def test_disabled_and_missing_vhost(srs):
    s = srs("vhost only.this { }\nvhost off.b { enabled off; }")
    s.client().connect("live", f"rtmp://only.this:{s.port}/live").close()
    for host in ("off.b", "127.0.0.1", "other"):
        with pytest.raises((Rejected, Closed)):
            c = s.client().connect("live", f"rtmp://{host}:{s.port}/live")
            c.publish("s")
    assert s.wait_log(r"vhost", 2)


def test_tcurl_missing(srs, source):
    """connect without tcUrl: an error for this client, or the default vhost; never a crash."""
    s = srs()
    c = s.client().handshake()
    tid = c.call("connect", obj={"app": "live"})
    try:
        c.result(tid, 3)
    except (Rejected, Closed, TimeoutError):
        pass
    s.publisher("other")


def test_long_names(srs):
    s = srs()
    for n in (500, 5000, 60000):
        c = s.client().connect()
        try:
            c.publish("x" * n, wait=False)
            c.status(timeout=2)
        except (Rejected, Closed, TimeoutError):
            pass
        c.close()
    s.publisher("s")
    s.allow_errors = False
