# SPDX-License-Identifier: MIT
"""Files on demand: their configuration, the API, the metrics and the console, changes by reloads."""
import os
import shutil

import pytest

import flv
import httpapi
import procs
from flv import AUDIO, VIDEO
from httpapi import Api
from procs import free_port, wait_for
from rtmpclient import Rejected
from test_rtsp_conf import Rtsp
from webclient import FlvWatcher

KINDS = {"rtsp-vod", "rtmp-vod", "flv-vod"}


class Films(Rtsp):
    def url(self, stream="dir/a.flv", track=None, param=""):
        return f"rtsp://127.0.0.1:{self.port}/films/{stream}{param}" + ("" if track is None else f"/trackID={track}")


@pytest.fixture
def films(srs, tmp_path):
    """A server whose app `films` has files: dir/a.flv of 30 s."""
    def start(vod="enabled on;", vhost="", more=""):
        os.makedirs(tmp_path / "films/dir")
        shutil.copy(os.path.join(procs.ROOT, "doc/source.flv"), tmp_path / "films/dir/a.flv")
        p = {k: free_port() for k in ("rtsp", "http", "api")}
        s = srs(f"vod {{ app films; dir {tmp_path}/films; {vod} }} rtsp {{ enabled on; }} http_remux {{ enabled on; }} {vhost}",
                httpapi.conf(p["api"], more=f"""rtsp_server {{ enabled on; transports tcp; listen 127.0.0.1:{p["rtsp"]}; }}
http_server {{ enabled on; listen 127.0.0.1:{p["http"]}; }} exporter {{ enabled on; listen 127.0.0.1:{free_port()}; }} {more}"""))
        s.p, s.api = p, Api(p["api"])
        return s
    return start


def metric(s, name):
    _, _, body = s.api.raw("/metrics")
    return next((float(line.rsplit(b" ", 1)[1]) for line in body.splitlines() if line.startswith(name.encode() + b" ")), None)


def test_who_plays_a_file(films):
    """Three players of one file, over three protocols, each at its position: listed with their type, and removed."""
    s = films()
    rtmp = s.watch("dir/a.flv", app="films")
    http = FlvWatcher(s.p["http"], "/films/dir/a.flv.flv?start=5")
    with Films(s.p["rtsp"]) as rtsp:
        rtsp.play("dir/a.flv")
        assert wait_for(lambda: {c["type"] for c in s.api.clients() if c.get("vod")} == KINDS, 5), s.api.clients()
        rows = {c["type"]: c for c in s.api.clients()}
        assert http.wait(lambda got: flv.frames(got, VIDEO) and flv.frames(got, AUDIO), 5)
        for c in rows.values():
            assert c["vod"]["file"] == "dir/a.flv" and c["vod"]["scale"] == 1 and c["vod"]["duration"] > 8, c
            assert c["url"] == "/films/dir/a.flv" and c["publish"] is False and c["ip"] == "127.0.0.1"
        assert 3 < rows["flv-vod"]["vod"]["position"] < 7, rows["flv-vod"]
        assert rows["rtsp-vod"]["vod"]["position"] < 3 and rows["rtsp-vod"]["transport"] == "tcp"

        row = s.api.stream("a.flv")
        assert row["app"] == "films/dir" and row["clients"] == 3 and row["publish"] == {"active": False}
        assert row["vod"]["file"] == "dir/a.flv" and row["vod"]["kbps"] > 100
        assert row["video"]["codec"] == "H264" and row["video"]["width"] == 640 and row["audio"]["codec"] == "AAC"
        assert s.api.get("streams/" + row["id"])["stream"]["vod"] == row["vod"]
        assert len(s.api.get("clients?stream=" + row["id"])["clients"]) == 3
        vhost = s.api.get("vhosts")["vhosts"][0]
        assert vhost["clients"] == 3 and vhost["streams"] == 0, "a live stream"
        assert s.api.get("console")["data"]["vhosts"][0]["vod"] == "films"
        wait_for(lambda: metric(s, 'srs_protocol_clients{protocol="flv-vod"}') == 1, 3)
        assert metric(s, 'srs_protocol_clients{protocol="flv-vod"}') == 1 and metric(s, "srs_streams") == 0

        for c in rows.values():
            s.api.kick(c["id"])
        assert wait_for(lambda: s.api.streams() == [] and s.api.clients() == [], 5)
    assert wait_for(lambda: rtmp.ended and http.ended is not None, 5)


def test_live_streams_come_first(films, source):
    """A file is a row after those of streams, and a stream of the same app is a stream."""
    s = films()
    http = FlvWatcher(s.p["http"], "/films/dir/a.flv.flv")
    s.push(source, "cam", app="films", loop=True)
    assert wait_for(lambda: [x["name"] for x in s.api.streams()] == ["cam", "a.flv"], 5), s.api.streams()
    assert "vod" not in s.api.stream("cam") and s.api.get("vhosts")["vhosts"][0]["streams"] == 1
    w = s.watch("cam", app="films")
    assert wait_for(lambda: {c["type"] for c in s.api.clients()} == {"flv-vod", "fmle-publish", "rtmp-play"}, 5)
    w.stop()
    http.stop()


def test_a_reload_turns_it_on(films):
    """New players get the file when it is on; with another folder, its files."""
    s = films("enabled off;")
    text = open(s.conf_path).read()

    def change(old, new):
        nonlocal text
        assert old in text
        text = text.replace(old, new)
        with open(s.conf_path, "w") as f:
            f.write(text)
        s.reload()

    def status():
        with Films(s.p["rtsp"]) as c:
            return c.ask("DESCRIBE", c.url(), "Accept: application/sdp")[0]
    change("enabled off;", "enabled on;")
    assert status() == 200
    change("/films;", "/nothing;")
    assert status() == 404
    with pytest.raises(Rejected):
        s.player("dir/a.flv", app="films")


@pytest.mark.parametrize("end", ["mp4", "flv"])
def test_recordings_are_files(films, source, tmp_path, end):
    """A recording plays under its name while it is written, and when it is complete."""
    s = films(vhost=f"dvr {{ enabled on; dvr_path {tmp_path}/films/[stream].{end}; }}")
    p = s.push(source, "cam", speed=20)
    path = tmp_path / f"films/cam.{end}"

    def seconds():
        """The duration in the file's description, or 0."""
        with Films(s.p["rtsp"]) as c:
            status, _, body = c.ask("DESCRIBE", c.url(f"cam.{end}"), "Accept: application/sdp")
        return float(body.split(b"a=range:npt=0-")[1].split()[0]) if status == 200 else 0
    assert wait_for(lambda: seconds() > 5, 10)
    assert not path.exists(), "it does not have another name yet"
    p.stop()
    p.client.close()
    assert wait_for(path.exists, 5)
    all_of_it = seconds()
    assert all_of_it > 5
    w = FlvWatcher(s.p["http"], f"/films/cam.{end}.flv?start={all_of_it - 3}")
    assert w.wait(lambda got: flv.frames(got, VIDEO) and flv.frames(got, AUDIO), 5)
    assert all_of_it - 6 < flv.frames(w.tags, VIDEO)[0].ts / 1000 < all_of_it - 2
    w.stop()
