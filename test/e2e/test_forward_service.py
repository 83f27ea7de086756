# SPDX-License-Identifier: MIT
"""Forward to a service that accepts one app and key, like YouTube and Twitch, over rtmp:// and rtmps://; the key appears nowhere."""
import json
import os

import pytest

import flv
from flv import VIDEO
from httpapi import Api, Backend, conf
from procs import ROOT, free_port, wait_for
from webclient import Cert, once

APP, KEY, LOGIN = "live2", "abcd-K3Y5-efgh-1234", "pa55w0rd"


class Service:
    """A server that rejects everything not published as its app, with its key and parameters."""

    def __init__(self, srs, folder, stream=KEY, param="", app=APP):
        self.stream, self.app = stream, app
        self.backend = Backend(lambda e: 0 if (e.get("app"), e.get("stream"), e.get("param", "")) == (app, stream, param) else 1)
        self.cert, self.tls = Cert(folder, "service"), free_port()
        self.server = srs(f"http_hooks {{ enabled on; on_publish {self.backend.url()}; }}", f"rtmps {{ {self.cert.conf(self.tls)} }}", name="service")

    def url(self, scheme="rtmp", path=f"/{APP}/{KEY}", login="", host="127.0.0.1"):
        return f"{scheme}://{login}{host}:{self.tls if scheme == 'rtmps' else self.server.port}{path}"

    def gets(self, want, seconds=8):
        """Returns the frames that arrive, and checks that they are those that were sent."""
        w = self.server.watch(self.stream, app=self.app)
        assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 40, seconds), self.server.log()[-2000:]
        got = flv.hashes(w.stop(), VIDEO)[:40]
        assert flv.find_run(got, flv.hashes(want, VIDEO) * 2) >= 0
        return [e for e in self.backend.of("on_publish")]


@pytest.fixture
def service(srs, tmp_path):
    made = []

    def start(**how):
        made.append(Service(srs, tmp_path, **how))
        return made[-1]
    yield start
    for s in made:
        s.backend.close()


def told(s, api_port, *more):
    """Everything that this server reveals: log, API, metrics."""
    pages = [once(api_port, f"/api/v1/{x}").body.decode() for x in ("forwards", "children", "clients", "streams", "console", "log", *more)]
    return "\n".join([s.text(), once(api_port, "/metrics").body.decode(), *pages])


def to(url, more=""):
    return f"forward {{ enabled on; destination {url}; {more} }}"


@pytest.mark.parametrize("scheme", ["rtmp", "rtmps"])
def test_a_service_takes_it(srs, service, source, scheme):
    """The media arrive under the key; neither key nor login nor parameters are shown anywhere; the same after a reload."""
    y, api = service(param="?mode=s3cr3t;x"), free_port()
    url = y.url(scheme, f"/{APP}/{KEY}?mode=s3cr3t;x", f"me:{LOGIN}@", host="localhost")
    more = f"tls_ca {y.cert.cert};"
    glob = conf(api, more="exporter { enabled on; listen 127.0.0.1:%d; }" % free_port())
    s = srs(to(f'"{url}"', more), glob)
    s.push(source, loop=True, speed=6)
    y.gets(source)
    (f,) = Api(api).get("forwards")["forwards"]
    port = y.tls if scheme == "rtmps" else y.server.port
    assert f["url"] == f"{scheme}://***@localhost:{port}/{APP}/***" and f["state"] == "publishing"
    s.reload(to(f'"{url}" 127.0.0.1:{free_port()}', more), glob)
    s.reload(to(f"{y.url(scheme, '/other/0therK3Y', host='localhost')}", more), glob)
    assert wait_for(lambda: any(f["failures"] for f in Api(api).get("forwards")["forwards"]), 8)
    everything = told(s, api)
    for secret in (KEY, LOGIN, "s3cr3t", "0therK3Y"):
        assert secret not in everything, [x for x in everything.splitlines() if secret in x][:3]
    assert f"{scheme}://localhost:{port}/other/***" in everything
    s.allow_errors = y.server.allow_errors = True


def test_the_certificate_is_of_that_host(srs, service, source):
    y = service()
    y.cert.renew(("other.example",))
    y.server.reload()
    s = srs(to(y.url("rtmps", host="localhost"), f"tls_ca {y.cert.cert};"))
    s.push(source, loop=True)
    assert s.wait_log(r"forward to localhost:\d+ fails: .*TLS.*certificate", 8), s.log()[-2000:]
    assert not y.backend.events and KEY not in s.text()


def test_a_wrong_key_is_not_shown(srs, service, source):
    y, api = service(stream="an0ther"), free_port()
    s = srs(to(y.url()), conf(api))
    s.push(source, loop=True)
    assert s.wait_log(r"forward \S+live/s to rtmp://.*/live2/\*\*\*, again in 1 s", 8), s.log()[-2000:]
    assert y.backend.events[0]["stream"] == KEY
    assert KEY not in told(s, api)
    s.allow_errors = y.server.allow_errors = True


@pytest.mark.parametrize("path, app, stream", [("/[vhost]/[app]-[stream]", "a.b", "live-cam"), (f"/{APP}", APP, "cam"), (f"/{APP}/", APP, "cam")])
def test_names_of_the_stream(srs, service, source, path, app, stream):
    """[vhost], [app] and [stream] are those of the stream; an app without stream keeps the name."""
    y, api = service(app=app, stream=stream), free_port()
    s = srs(vhost=f"vhost a.b {{ {to(y.url(path=path))} }}", glob=conf(api))
    s.push(source, "cam", loop=True, speed=6, tcurl=f"rtmp://127.0.0.1:{s.port}/live?vhost=a.b")
    y.gets(source)
    (f,) = Api(api).get("forwards")["forwards"]
    assert f["url"].endswith(f"/{app}/{stream}"), "names that are shown anyway are not secret"


def test_parameters_of_the_app(srs, service, source):
    """rtmp://b.rtmp.example/live2?backup=1/KEY: the service gets them with its app."""
    y = service(param="?backup=1")
    s = srs(to(y.url(path=f"/{APP}?backup=1/{KEY}")))
    s.push(source, loop=True, speed=6)
    (e, *_) = y.gets(source)
    assert e["tcUrl"].endswith(f"/{APP}?backup=1") and KEY not in s.text()


@pytest.mark.parametrize("scheme", ["rtmp", "rtmps"])
def test_a_backend_names_it(srs, service, source, scheme):
    y, api = service(), free_port()
    urls = [y.url(scheme, "/[app]2/" + KEY), "nonsense://x/y"]
    b = Backend(lambda e: json.dumps({"code": 0, "data": {"urls": urls}}))
    s = srs(f"forward {{ enabled on; tls_ca {y.cert.cert}; backend {b.url()}; }}", conf(api))
    s.push(source, loop=True, speed=6)
    y.gets(source)
    assert Api(api).get("forwards")["forwards"][0]["url"].endswith("/live2/***")
    assert s.wait_log("URL 2 of the response : not a URL such as rtmp", 2)
    assert KEY not in told(s, api)
    b.close()


def test_not_to_itself(srs, source):
    port = free_port()
    s = srs(to(f"rtmp://127.0.0.1:{port}/live/[stream] rtmp://127.0.0.1:{port}/copies/[stream]"), port=port)
    s.push(source, loop=True, speed=6)
    assert s.wait_log("no forward of .*live/s to .*the stream comes from there", 3)
    w = s.watch(app="copies")
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 20, 5)
    w.stop()
    s.allow_errors = True  # the copy is sent to live/s, which has a publisher


@pytest.mark.needs("ffmpeg")
def test_keys_in_programs(srs, source):
    """A program that sends to a service: its command and its output are shown without the key; local urls are shown completely."""
    api, port = free_port(), free_port()
    s = srs(f"exec {{ enabled on; publish sh -c 'echo to rtmps://a.example:443/live2/{KEY}: no >&2; sleep 100' "
            f"rtmp://a.example/live2/{KEY} rtmp://127.0.0.1:{port}/live/copy; }}", conf(api))
    s.push(source, loop=True)
    child = lambda: (Api(api).get("children")["children"] or [{"line": ""}])[0]
    assert wait_for(lambda: child()["line"] == "to rtmps://a.example:443/live2/***: no", 5), child()
    assert "rtmp://a.example/live2/*** rtmp://127.0.0.1" in child()["command"] and child()["command"].endswith("/live/copy")
    assert KEY not in told(s, api)


def test_the_configuration_that_is_handed_out(srs, service, source, tmp_path):
    """conf/forward.service.conf, with the service and key filled in."""
    y, port, api = service(), free_port(), free_port()
    (tmp_path / "objs").mkdir()
    with open(os.path.join(ROOT, "conf/forward.service.conf")) as f:
        text = f.read()
    for old, new in (("rtmps://a.rtmps.youtube.com:443/live2/YOUR-STREAM-KEY;", f"{y.url('rtmps')}; tls_ca {y.cert.cert};"),
                     ("1935;", f"127.0.0.1:{port};"), ("1985;", f"127.0.0.1:{api};")):
        assert old in text
        text = text.replace(old, new)
    s = srs(conf=text, port=port, tank="console")
    s.push(source, loop=True, speed=6)
    y.gets(source)
    assert KEY not in told(s, api)
