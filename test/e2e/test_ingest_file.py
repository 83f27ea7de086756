# SPDX-License-Identifier: MIT
"""A file becomes a stream without ffmpeg: the server publishes it in a loop."""
import os
import shutil

import pytest

import flv
import procs
import tools
from flv import AUDIO, VIDEO


def ingest(url=procs.SOURCE, out="in", name="i"):
    return f"""ingest {name} {{ enabled on; input {{ type file; url {url}; }}
        engine {{ enabled off; output rtmp://127.0.0.1:[port]/live/{out}; }} }}"""


def test_a_file_plays_byte_for_byte(srs, source):
    s = srs(ingest())
    own = s.watch("in")
    assert own.wait(lambda got: len(flv.frames(got, VIDEO)) >= 15, 5), s.log()[-2000:]
    got = own.stop()
    for kind in (VIDEO, AUDIO):
        assert flv.find_run(flv.hashes(got, kind), flv.hashes(source, kind)) >= 0


@pytest.mark.long
@pytest.mark.needs("ffmpeg")
@pytest.mark.parametrize("end", ["flv", "mp4"])
def test_times_go_on_from_round_to_round(srs, tmp_path, end):
    path = str(tmp_path / f"short.{end}")
    tools.run(["ffmpeg", "-v", "error", "-y", "-i", procs.SOURCE, "-t", "2", "-c", "copy", path])
    s = srs(ingest(path))
    own = s.watch("in")
    assert own.wait(lambda got: got and got[-1].ts > 6500, 15), s.log()[-2000:]
    got = own.stop()
    for kind in (VIDEO, AUDIO):
        at = [t.ts for t in flv.frames(got, kind)]
        steps = [b - a for a, b in zip(at, at[1:])]
        assert min(steps) >= 0 and max(steps) < 200, steps
    assert len(flv.frames(got, VIDEO)) > 6 * 20


@pytest.mark.long
def test_a_file_that_comes_later_and_is_replaced(srs, tmp_path):
    path = str(tmp_path / "a.flv")
    s = srs(ingest(path))
    assert s.wait_log(r"ingest i of .*: .*a\.flv, again in 3 s", 5), s.log()[-2000:]
    shutil.copy(procs.SOURCE, path)
    own = s.watch("in")
    assert own.wait(lambda got: len(flv.frames(got, VIDEO)) >= 10, 8), s.log()[-2000:]
    s.reload(ingest(path) + ingest(out="two", name="j"))
    two = s.watch("two")
    assert two.wait(lambda got: len(flv.frames(got, VIDEO)) >= 10, 5), s.log()[-2000:]
    n = len(flv.frames(own.tags, VIDEO))
    assert own.wait(lambda got: len(flv.frames(got, VIDEO)) > n + 10, 5), "it did not continue"
    s.reload("")
    assert s.wait_log(r"ingest j: ended", 3) and s.wait_log(r"ingest i: ended", 3)
    assert os.path.exists(path)
