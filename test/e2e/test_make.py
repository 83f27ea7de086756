# SPDX-License-Identifier: MIT
"""What a user who builds sees: progress, and the server before the load tools."""
import os
import re
import subprocess

import pytest

from procs import ROOT, SLOW

ENV = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "OBJS")}
pytestmark = pytest.mark.needs("make")


def make(objs, *arguments):
    r = subprocess.run(["make", f"OBJS={objs}", *arguments], cwd=ROOT, env=ENV, capture_output=True, text=True,
                       timeout=120 * SLOW)
    assert r.returncode == 0, r.stdout[-2000:] + r.stderr[-2000:]
    return r.stdout


@pytest.fixture
def objs(tmp_path):
    subprocess.run(["./configure", f"--objs={tmp_path}/o", "--jobs=2"], cwd=ROOT, check=True, capture_output=True)
    return f"{tmp_path}/o"


def test_each_compilation_is_numbered(objs):
    count = lambda text: sorted(re.findall(r"^  CC (\d+ of \d+) ", text, re.M))
    two = [f"{objs}/o/src/base/{name}.o" for name in ("base64", "ip")]
    assert count(make(objs, *two)) == ["1 of 2", "2 of 2"]
    assert count(make(objs, *two)) == []
    os.unlink(two[0])
    assert count(make(objs, "CFLAGS=-DX -g0", *two)) == ["1 of 1"], "up-to-date files are counted"
    os.unlink(two[0])
    assert not count(make(objs, "V=1", *two))


def test_the_server_comes_before_the_load_tools(objs):
    """With any number of parallel compilers, no file of a tool is compiled before the server's."""
    plan = make(objs, "-n", "-j50")
    server, tools = plan.index(f"LD {objs}/srs'"), [m.start() for m in re.finditer(r"\bsrc/tools/load/\w+\.o'", plan)]
    assert len(tools) > 20 and server < min(tools)
    rules = make(objs, "-n", "-p", "all")
    for name in set(re.findall(r"src/tools/load/(\w+)\.o'", plan)):
        after = re.search(rf"^{re.escape(objs)}/o/src/tools/load/{name}\.o:[^|\n]*\|(.*)$", rules, re.M)
        assert after and f"{objs}/srs" in after[1].split(), name
    assert "src/tools/load" not in make(objs, "-n", "server") and "LD" in make(objs, "-n", "server")


SOUND = {"libavcodec/avcodec.h": "libavcodec-dev", "libswresample/swresample.h": "libswresample-dev", "opus/opus.h": "libopus-dev"}


def configure(tmp_path, *arguments, without=()):
    """Runs ./configure with a compiler that does not find those headers. Returns its message about audio, and its whole output."""
    cc = tmp_path / "cc"
    hidden = "\n".join(f'grep -qs -e "#include <{header}>" -- "$@" && {{ echo "{header}: none" >&2; exit 1; }}' for header in without)
    cc.write_text(f'#!/bin/sh\n{hidden}\nexec gcc "$@"\n')
    cc.chmod(0o755)
    r = subprocess.run(["./configure", f"--objs={tmp_path}/o", f"--cc={cc}", *arguments], cwd=ROOT, capture_output=True, text=True,
                       timeout=60 * SLOW)
    return r, [line.split(None, 1)[1] for line in r.stdout.splitlines() if line.startswith("audio ")]


def sound_of(tmp_path):
    """The files of audio conversion in the server."""
    return set(re.findall(r"src/audio/(fit/|none)", make(f"{tmp_path}/o", "-n", "server")))


def test_audio_is_built_in_where_the_headers_are(tmp_path):
    """Without a flag: one line has the license, and that nothing is linked. `off` leaves it out."""
    r, audio = configure(tmp_path)
    assert r.returncode == 0, r.stderr
    assert len(audio) == 1 and "LGPL" in audio[0] and "BSD" in audio[0] and "loaded at run time" in audio[0], r.stdout
    assert sound_of(tmp_path) == {"fit/"} and "#define BUILD_FFMPEG_FIT 1" in (tmp_path / "o/config.h").read_text()
    assert not re.search("avcodec|opus|swresample", (tmp_path / "o/config.mk").read_text())
    r, audio = configure(tmp_path, "--ffmpeg-fit=off")
    assert r.returncode == 0 and audio == ["conversion for WebRTC: not built in"], r.stdout
    assert sound_of(tmp_path) == {"none"} and "#define BUILD_FFMPEG_FIT 0" in (tmp_path / "o/config.h").read_text()


@pytest.mark.parametrize("hidden", [[h] for h in SOUND] + [list(SOUND)], ids=[*SOUND.values(), "all"])
def test_audio_without_headers(tmp_path, hidden):
    """It builds without, and says what to install; `on` fails."""
    packages = " ".join(SOUND[h] for h in hidden)
    r, audio = configure(tmp_path, without=hidden)
    assert r.returncode == 0 and len(audio) == 1, r.stderr
    assert f"the headers of {packages} are missing" in audio[0] and f"apt-get install {packages} && ./configure" in audio[0], audio
    assert sound_of(tmp_path) == {"none"}
    r, _ = configure(tmp_path, "--ffmpeg-fit=on", without=hidden)
    assert r.returncode == 1 and f"apt-get install {packages}\n" in r.stderr, r.stderr
