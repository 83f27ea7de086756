# SPDX-License-Identifier: MIT
"""The commands in the pages work: clients, curl and grep run against a server with conf/srs.conf, of other programs the
options, targets, actions and files exist. pagecommands.NOT_RUN has the programs that no test runs, with reasons."""
import functools
import json
import os
import re
import shlex
import signal
import subprocess
import time

import pytest

import pagecommands
import procs
from httpapi import Api
from pagecommands import NOT_RUN, PAGES, every
from procs import ROOT, SLOW, Proc, have, wait_for
from test_configurations import begin  # noqa: F401

CLIENTS = ("ffmpeg", "ffplay", "gst-launch-1.0", "./scripts/rtmfp.py")
# Parts of client commands that this server does not have, and why.
ELSEWHERE = {
    "/vod/": "test_vod_players.py plays files", "live/camera": "test_rtsp_pull.py has cameras", "/dev/video": "needs a camera",
    "rtmfp.py peer": "test_rtmfp_peers.py meets peers", "rtmfp.py group": "test_rtmfp_meet.py has groups",
    "passphrase=": "test_srt_conf.py encrypts", "| ffplay": "needs a window",
}
NAMES = r"YOUR-HOST|HOST|SERVER"


def ours(command):
    return command.program in CLIENTS and not command.abridged and not any(part in command.text for part in ELSEWHERE)


def publishes(command):
    text = command.text
    return "publish" in text or bool(re.search(r"-f (flv|rtsp|mpegts) |rtmpsink|rtspclientsink|srtsink", text))


def unique(commands):
    """One of each text, whatever host the page names."""
    out = {}
    for c in commands:
        out.setdefault(re.sub(rf"\b(?:{NAMES})\b", "127.0.0.1", re.sub(r"\s+#\s.*", "", c.text)), c)
    return list(out.values())


def here(text, s, client="0"):
    """The text of a command with the ports and names of this server."""
    text = re.sub(rf"\b(?:{NAMES})\b", "127.0.0.1", re.sub(r"\s#\s.*", "", text))
    for scheme in ("rtmp", "rtmfp"):
        text = text.replace(f"{scheme}://127.0.0.1/", f"{scheme}://127.0.0.1:{s.ports[1935]}/")
    text = re.sub(r"127\.0\.0\.1:(\d+)\b", lambda m: f"127.0.0.1:{s.ports.get(int(m[1]), m[1])}", text)
    return re.sub(r"\bCLIENT_ID\b|\bk2x9q1ab\b", client, text)


@pytest.fixture
def server(begin):  # noqa: F811
    s = begin("srs", {"rtsp_server {\n": "exporter {\n    enabled on;\n    listen 9972;\n}\nrtsp_server {\n"})
    s.api = Api(s.ports[1985])
    return s


@pytest.fixture
def live(server, tmp_path):
    """The server with live/livestream on air, which is in playlists of HLS and DASH."""
    Proc(["ffmpeg", "-v", "error", "-re", "-stream_loop", "-1", "-i", os.path.join(ROOT, "doc/source.flv"), "-c", "copy", "-f", "flv",
          f"rtmp://127.0.0.1:{server.ports[1935]}/live/livestream"], tmp_path / "live.log")
    for name in ("livestream.m3u8", "livestream.mpd"):
        web = Api(server.ports[8080])
        assert wait_for(lambda: web.raw(f"/live/{name}")[0] == 200, 20, 0.2), name
    return server


@functools.cache
def gst_has(text):
    elements = [e.split()[0] for e in re.sub(r"^gst-launch-1.0 ", "", text).split("!")]
    return all("/" in e or e == "playbin" or not subprocess.run(["gst-inspect-1.0", e], capture_output=True).returncode for e in elements)


def argv(command, s, out):
    """What runs for a client: players show nothing and end after a second."""
    words = shlex.split(here(command.text, s))
    if command.program == "ffplay":
        seek = [w for i, w in enumerate(words) if words[i - 1] == "-ss" or w == "-ss"]
        words = [w for i, w in enumerate(words[1:], 1) if w not in seek]
        return ["ffmpeg", "-v", "error", "-nostdin", *seek, *words[:-1], "-i", words[-1], "-t", "1", "-f", "null", "-"]
    if command.program == "ffmpeg":
        words = ["ffmpeg", "-v", "error", "-nostdin", "-y", *["1" if words[i] == "-t" else w for i, w in enumerate(words[1:])]]
    if command.program.endswith("rtmfp.py") and words[1] == "play":
        words += ["--seconds", "2"]
    words = ["fakesink" if w == "autovideosink" else w for w in words]
    files = {"out.flv", "x.flv", "a.mp4", "b.mp4"}
    words = [str(out / w) if w in files else w for w in words]
    return ["gst-launch-1.0", "playbin", "video-sink=fakesink", "audio-sink=fakesink", *words[2:]] if "playbin" in words else words


def works(command, s, out, publish):
    """None, or why it does not: a publisher is in the list of clients, a player too or it ends well."""
    if command.program == "gst-launch-1.0" and not (have("gst-launch-1.0") and gst_has(command.text)):
        return None
    if command.program.endswith("rtmfp.py"):
        pytest.importorskip("cryptography")
    before = {c["id"] for c in s.api.clients()}
    p = Proc(argv(command, s, out), out / "client.log", cwd=ROOT)
    seen = lambda: [c["id"] for c in s.api.clients() if c["id"] not in before and c["publish"] == publish]  # noqa: E731
    came = wait_for(lambda: seen() or not p.running(), 15, 0.05) and seen()
    p.end(signal.SIGKILL)
    for client in seen():
        s.api.raw(f"/api/v1/clients/{client}", "DELETE")  # those over datagrams would stay until a timeout
    wait_for(lambda: not seen(), 5, 0.05)
    return None if came else f"{command}\n  ran {shlex.join(p.argv)}: {p.poll()}\n  {p.text()[-600:]}"


def all_work(commands, s, out, publish):
    wrong = []
    for command in commands:
        why = works(command, s, out, publish)
        if why:
            os.truncate(out / "client.log", 0)
            why = works(command, s, out, publish)  # a port may have been taken, or the machine is busy
        wrong += [why] if why else []
        (out / "client.log").unlink(missing_ok=True)
    assert not wrong, "\n".join(wrong)


@pytest.mark.needs("ffmpeg")
def test_publishers(server, tmp_path):
    commands = unique(c for c in every() if ours(c) and publishes(c))
    assert len(commands) >= 6
    all_work(commands, server, tmp_path, True)


def all_end_well(commands, s, out):
    """Players that end by themselves, side by side; the second time one by one, as the machine may have been busy."""
    def start(command, n):
        folder = out / str(n)
        folder.mkdir(exist_ok=True)
        return Proc(argv(command, s, folder), folder / "client.log", cwd=ROOT)
    running = [(command, start(command, n)) for n, command in enumerate(commands)]
    again = [command for command, p in running if p.wait(60)]
    wrong = [(command, p) for n, command in enumerate(again) if (p := start(command, 100 + n)).wait(30)]
    assert not wrong, "\n".join(f"{command}\n  ran {shlex.join(p.argv)}\n  {p.text()[-600:]}" for command, p in wrong)


@pytest.mark.needs("ffmpeg")
def test_players(live, tmp_path):
    commands = unique(c for c in every() if ours(c) and not publishes(c))
    ends = [c for c in commands if c.program in ("ffplay", "ffmpeg")]
    assert len(ends) >= 10
    all_end_well(ends, live, tmp_path)
    all_work([c for c in commands if c not in ends], live, tmp_path, False)


def sh(text, s, **how):
    return subprocess.run(["sh", "-c", text], capture_output=True, text=True, cwd=os.path.dirname(os.path.dirname(s.log_path)),
                          timeout=30 * SLOW, **how)


@pytest.mark.needs("curl", "ffmpeg")
def test_curl_and_grep(live, tmp_path):
    """curl gets an answer without an error, and grep finds a line."""
    player = Proc(["ffmpeg", "-v", "error", "-nostdin", "-i", f"rtmp://127.0.0.1:{live.ports[1935]}/live/livestream", "-f", "null", "-"], tmp_path / "p")
    assert wait_for(lambda: [c for c in live.api.clients() if not c["publish"]], 10)
    assert live.wait_log("Hybrid", 10)
    wrong, ran = [], 0
    for c in every():
        if c.program not in ("curl", "grep") or c.abridged:
            continue
        if not wait_for(lambda: [x for x in live.api.clients() if not x["publish"]], 5):
            player = Proc(player.argv, tmp_path / "p")
            assert wait_for(lambda: [x for x in live.api.clients() if not x["publish"]], 10)
        client = next(x for x in live.api.clients() if not x["publish"])["id"]
        if c.program == "grep":
            text = here(c.text, live, client).replace("192.168.1.20", "127.0.0.1")
            if "Worker" not in text:  # one worker has no such line
                ran += 1
                wrong += [] if sh(text, live).stdout.strip() else [f"{c}: finds nothing"]
        elif re.search(r"https://|# 403|-u ", c.text):
            ran += 1
            path = re.search(r"https?://[^/\s]+(/[^\s'?]*)", here(c.text, live, client))[1]
            if path.startswith("/api/v1/"):
                wrong += [] if live.api.raw(re.sub(r"/clients/\w+$", "/clients/", path))[0] == 200 else [f"{c}: no such path"]
        else:
            ran += 1
            r = sh(here(c.text, live, client).replace("curl ", "curl -fsS ", 1), live)
            answer = json.loads(r.stdout) if r.stdout.startswith("{") else {}
            wrong += [] if r.returncode == 0 and answer.get("code", 0) == 0 else [f"{c}: {r.returncode} {r.stderr} {r.stdout[:200]}"]
    assert not wrong and ran >= 15, "\n".join(wrong)


def options(words):
    return [w.split("=")[0] for w in words if re.match(r"--?[A-Za-z]", w)]


@functools.cache
def help_of(program):
    r = subprocess.run([program, "--help"], capture_output=True, text=True, cwd=ROOT, timeout=30 * SLOW)
    return r.stdout + r.stderr


def built(path):
    """A program of the page in the build that is tested."""
    return os.path.join(os.path.dirname(procs.BINARY), os.path.basename(path)) if re.match(r"(\./)?objs/", path) else path


def wrong_words(words):
    """Why a program with these words cannot run, or None."""
    program = words[0].rstrip("/")
    name = re.sub(r"^\./", "", program)
    made = built(program)
    if name.startswith("objs/e2e") or program == "objs/test/test_conf_generated":
        return None  # a folder that a failure leaves; a unit test
    if "/" in program and not os.access(os.path.join(ROOT, made), os.X_OK):
        return f"no program {program}"
    if name == "objs/srs":
        conf = next((w for w in words if w.endswith(".conf")), None)
        if conf and not os.path.exists(os.path.join(ROOT, "conf", os.path.basename(conf))):
            return f"no {conf}"
        asked = [w for w in words[1:] if w in ("-t", "-v", "--doctor")]
        file = ["-c", os.path.join(ROOT, "conf", os.path.basename(conf))] if conf else []
        r = subprocess.run([made, *(asked or ["-t"]), *file], capture_output=True, text=True, cwd=ROOT, timeout=60 * SLOW)
        return None if r.returncode == 0 or "--doctor" in asked and r.stdout else r.stderr
    if name.startswith("objs/sb_"):
        hidden = open(os.path.join(ROOT, "src/tools/load", os.path.basename(name) + ".c")).read()  # such as --floor
        return next((f"{program} has no option {o}" for o in options(words)
                     if not re.search(rf"{o}\b", help_of(made)) and f'"{o}"' not in hidden), None)
    if name == "configure":
        return next((f"no option {o}" for o in options(words) if not re.search(rf"{o}[= ]", help_of(os.path.join(ROOT, "configure"))) and o != "--help"), None)
    if name.endswith("init.d/srs"):
        text = open(os.path.join(ROOT, "etc/init.d/srs")).read()
        return None if re.search(rf"^{words[1]}\)", text, re.M) else f"no action {words[1]}"
    if program == "make":
        text = open(os.path.join(ROOT, "Makefile")).read()
        goals = [w for w in words[1:] if "=" not in w]
        return next((f"no target {g}" for g in goals if not re.search(rf"^(?:[\w-]+ )*{re.escape(g)}(?: [\w-]+)*:(?!=)", text, re.M)), None)
    if name == "etc/sign-link.py":
        r = subprocess.run([os.path.join(ROOT, name), *words[1:]], capture_output=True, text=True)
        return None if r.returncode == 0 else r.stderr
    if program in NOT_RUN or program in pagecommands.RUN or re.match(r"(scripts|etc|3rdparty)/", name) or program in ("tail", "python3"):
        return None
    return f"nothing runs or checks {program}"


# Files that a reader has, or that a command of the page makes.
MADE = ("conf/my.conf", "objs/srs_", "conf/jwks.json", "conf/docker.conf")


def test_programs_options_and_files():
    wrong, seen = [], set()
    for c in [*every(), *(c for page in PAGES for c in pagecommands.inline(page))]:
        if c.abridged:
            continue
        for words in c.stages():
            if (key := tuple(words)) in seen:
                continue
            seen.add(key)
            why = wrong_words(list(words))
            for path in [w for w in words[1:] if re.match(r"(conf|doc|scripts|etc|test)/[\w./-]+$", w)]:
                if not path.startswith(MADE) and not os.path.exists(os.path.join(ROOT, path)):
                    why = f"no file {path}"
            wrong += [f"{c}: {why}"] if why else []
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_is_known(page):
    assert not pagecommands.commands(page)[1]


def test_a_wrong_command_is_found(server, tmp_path):
    """Of each kind one that a typing error may make."""
    def command(text):
        return pagecommands.Command("page.md", 1, text)
    assert pagecommands.LIKE.match("fmpeg -i doc/source.flv -f flv rtmp://127.0.0.1/live/s")
    for text in ("make benhc", "./objs/srs -c conf/none.conf", "./scripts/rn.sh", "./etc/init.d/srs halt", "./configure --ffmpeg=on",
                 "./objs/sb_rtmp_load --durations 3", "frobnicate -x"):
        assert wrong_words(shlex.split(text)), text
    before = time.monotonic()
    assert works(command("ffmpeg -i doc/source.flv -c copy -f flw rtmp://127.0.0.1/live/s"), server, tmp_path, True)
    with pytest.raises(AssertionError):
        all_end_well([command("ffplay http://127.0.0.1:8080/live/nothing.txt")], server, tmp_path)
    assert time.monotonic() - before < 60 * SLOW
    assert server.api.raw("/api/v1/strems/")[0] == 404
