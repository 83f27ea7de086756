# SPDX-License-Identifier: MIT
"""Child programs: ingest, transcode, exec with real ffmpeg; their end, and the server's."""
import os
import signal
import time

import pytest

import flv
import procs
import tools
from flv import VIDEO
from procs import alive, wait_for
from rtmpclient import Watcher

ffmpeg = pytest.mark.needs("ffmpeg")


def ingest(name="i", url=procs.SOURCE, out="in", kind="file", more="", engine=""):
    return f"""ingest {name} {{ enabled on; input {{ type {kind}; url {url}; }} {more}
        engine {{ enabled on; perfile {{ stream_loop -1; }} vcodec copy; acodec copy; {engine}
                  output rtmp://127.0.0.1:[port]/live/{out}; }} }}"""


def transcode(rule="", output="rtmp://127.0.0.1:[port]/[app]/[stream]_[engine]", name="sd"):
    return f"""transcode {rule} {{ enabled on; ffmpeg ffmpeg; engine {name} {{ enabled on;
        vcodec libx264; vbitrate 100; vfps 10; vwidth 160; vheight 90; vpreset ultrafast;
        vparams {{ g 10; tune zerolatency; }} acodec copy; output {output}; }} }}"""


def children(pid):
    """Processes whose parent is pid: {pid: command line}."""
    found = {}
    for p in os.listdir("/proc"):
        if not p.isdigit():
            continue
        try:
            with open(f"/proc/{p}/stat") as f:
                state, parent = f.read().rpartition(")")[2].split()[:2]
            with open(f"/proc/{p}/cmdline") as f:
                line = f.read().replace("\0", " ")
        except OSError:
            continue
        if int(parent) == pid and state not in "ZX":
            found[int(p)] = line
    return found


def wait_children(s, count, timeout=6):
    got = wait_for(lambda: len(children(s.pid)) == count and (children(s.pid) or True), timeout)
    assert got, f"{children(s.pid)}\n{s.log()[-3000:]}"
    return children(s.pid)


def wait_play(s, stream, frames=20, timeout=12, vhost=None):
    """Plays a stream as soon as it has a publisher; returns its tags."""
    assert s.wait_log(rf"client identified, type=.*publish.*stream={stream},", timeout), s.log()[-3000:]
    tcurl = f"rtmp://127.0.0.1:{s.port}/live?vhost={vhost}" if vhost else None
    w = Watcher(s.client().play(stream, "flash", tcurl=tcurl))
    w.start()
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= frames, timeout), s.log()[-3000:]
    return w.stop()


@ffmpeg
def test_ingest_of_a_file_plays(srs, source):
    s = srs(ingest(), glob="pithy_print_ms 500;\nff_log_dir ./fflog;")
    got = flv.hashes(wait_play(s, "in"), VIDEO)
    assert flv.find_run(got, flv.hashes(source, VIDEO)) >= 0, "it differs from the file"
    assert s.wait_log(r"-> IGS time=\d+, pid=\d+", 3), s.log()[-2000:]
    log = os.path.join(s.tmp, "fflog", "ffmpeg-ingest-__defaultVhost__-i.log")
    assert wait_for(lambda: os.path.exists(log) and "Input #0" in open(log).read(), 3)
    assert "frame=" not in open(log).read(), "counters were logged"


@ffmpeg
def test_ingest_takes_the_ffmpeg_of_the_system(srs):
    s = srs(ingest(more="ffmpeg ./objs/ffmpeg/bin/ffmpeg;"))
    wait_play(s, "in", 3)
    assert s.wait_log(r"\./objs/ffmpeg/bin/ffmpeg does not exist", 1)


@ffmpeg
def test_ingest_reload_by_id(srs):
    s = srs(ingest("a", out="a") + ingest("b", out="b"))
    first = wait_children(s, 2)
    stays = [p for p, line in first.items() if line.rstrip().endswith("/a")]
    s.reload(ingest("a", out="a") + ingest("b", out="b2") + ingest("c", out="c"))
    assert wait_for(lambda: len(children(s.pid)) == 3 and stays[0] in children(s.pid) and
                    any(x.rstrip().endswith("/b2") for x in children(s.pid).values()), 6), \
        (first, children(s.pid))
    s.reload("")
    wait_children(s, 0)
    s.reload(ingest("a", out="a"))
    wait_children(s, 1)


@ffmpeg
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_all_programs_end(srs, source, sig):
    """Ingest, transcode and exec: all programs end when the server ends, is killed, or crashes."""
    script = "trap '' TERM; while :; do sleep 0.2; done"
    s = srs(ingest() + transcode("live/s") + f'exec {{ enabled on; publish sh -c "{script}"; }}',
            begin=False)
    s.start()
    s.push(source, loop=True)
    assert wait_for(lambda: len(children(s.pid)) >= 3, 8), s.log()[-2000:]
    time.sleep(0.5)
    pids = list(children(s.pid))
    s.proc.kill(sig)
    s.proc.wait(8)
    left = wait_for(lambda: not [p for p in pids if alive(p)], 3)
    assert left, [p for p in pids if alive(p)]
    s.proc.end()
    s.proc = None


@pytest.mark.long
@ffmpeg
def test_transcode_makes_a_second_stream(srs, source, tmp_path):
    s = srs(transcode(), glob="pithy_print_ms 500;")
    p = s.push(source, loop=True)
    wait_play(s, "s_sd", 5, 20)
    info = tools.ffprobe(s.url("s_sd"), "-show_streams")
    video = [x for x in info["streams"] if x["codec_type"] == "video"][0]
    assert (video["width"], video["height"]) == (160, 90)
    assert s.wait_log(r"-> ENC time=\d+", 3), s.log()[-2000:]
    # its output matches the rule as well, and is not transcoded again
    assert s.wait_log(r"no transcode sd of .*/s_sd: it is the output of the transcode of .*/s$", 2), s.log()[-2000:]
    assert len(children(s.pid)) == 1
    s.reload(transcode() + "chunk_size 4096;")
    time.sleep(0.5)
    assert len(children(s.pid)) == 1, "it started after a reload"
    p.stop()
    p.client.close()
    wait_children(s, 0)


def test_exec_gets_what_it_asks_for(srs, source):
    out = "out-[stream].txt"
    s = srs(f"""exec {{ enabled on;
        publish sh -c 'for a; do echo "$a"; done; sleep 100' sh [vhost] [app] [stream] [url] [tcUrl]
                [2006] [pageUrl] [swfUrl] >{out};
    }}""".replace("\n                ", " "))
    p = s.push(source, "cam?key=a;b", loop=True, pageUrl="http://page/", swfUrl="http://page/p.swf")
    path = os.path.join(s.tmp, "out-cam.txt")
    assert wait_for(lambda: os.path.exists(path) and len(open(path).readlines()) == 8, 5), s.log()[-2000:]
    lines = open(path).read().splitlines()
    assert lines[:3] == ["__defaultVhost__", "live", "cam"]
    assert lines[3] == f"rtmp://127.0.0.1:{s.port}/live/cam?key=a;b"
    assert lines[4].startswith("rtmp://") and lines[4].endswith("/live")
    assert lines[5:] == [time.strftime("%Y"), "http://page/", "http://page/p.swf"]
    wait_children(s, 1)
    p.stop()
    p.client.close()
    wait_children(s, 0)


# Each runs the command in its argument, directly or through another program.
RUNNERS = ["sh -c 'echo [stream] >> ran'", "env sh -c 'echo [stream] >> ran'",
           "env -S 'echo [stream]'", "timeout 5 sh -c 'echo [stream] >> ran'",
           "nice sh -c 'echo [stream] >> ran'", "setsid nohup sh -c 'echo [stream] >> ran'",
           "python3 -c \"print('[stream]', file=open('ran', 'a'))\"",
           "awk 'BEGIN { print \"[stream]\" }'", "sh -c [stream]", "env -S [stream]"]


@pytest.mark.parametrize("name", ["a;touch${IFS}pwned", "$(touch pwned)", "sh -c 'touch pwned'",
                                  '\');__import__("os").system("touch pwned");(\''])
def test_what_a_publisher_names_runs_nothing(srs, source, name):
    s = srs("exec { enabled on; " + " ".join(f"publish {x};" for x in RUNNERS) + " }")
    own = s.watch(name)
    s.push(source, name, loop=True)
    assert s.wait_log(r"exec \S+ of .* is not started: \[stream\] is .* as a word of its own", 3,
                      count=len(RUNNERS)), s.log()[-2000:]
    assert own.wait(lambda got: len(flv.frames(got, VIDEO)) >= 3, 4), "the stream itself is affected"
    assert not os.path.exists(os.path.join(s.tmp, "pwned")) and not children(s.pid)


def test_a_plain_name_runs_in_all_of_them(srs, source):
    s = srs("exec { enabled on; " + " ".join(f"publish {x};" for x in RUNNERS[:7]) + " }")
    s.push(source, "cam-1_a.b", loop=True)
    ran = os.path.join(s.tmp, "ran")
    assert wait_for(lambda: os.path.exists(ran) and open(ran).read().startswith("cam-1_a.b\n" * 6), 6), s.log()[-2000:]


def test_programs_get_names_and_no_secrets(srs, source):
    s = srs("exec { enabled on; publish sh -c 'cat /proc/self/environ > x; mv x env; sleep 100'; }",
            env={"SRS_HTTP_API_AUTH_PASSWORD": "hush", "TZ": "UTC", "AWS_SECRET_ACCESS_KEY": "hush"})
    s.push(source, "a;$(b)?key=c", loop=True)
    path = os.path.join(s.tmp, "env")
    assert wait_for(lambda: os.path.exists(path), 5), s.log()[-2000:]
    got = dict(line.split("=", 1) for line in open(path).read().split("\0") if line)
    assert got["SRS_STREAM"] == "a;$(b)" and got["SRS_PARAM"] == "?key=c" and got["SRS_APP"] == "live"
    assert got["SRS_URL"] == f"rtmp://127.0.0.1:{s.port}/live/a;$(b)?key=c"
    assert got["TZ"] == "UTC" and got["PATH"]
    usual = {"PATH", "HOME", "LANG", "TZ", "PWD", "OLDPWD", "SHLVL", "_"}
    assert all(name.startswith("SRS_") or name in usual for name in got), got
    assert "hush" not in open(path).read()


def test_transcode_does_not_write_where_a_publisher_says(srs, source):
    s = srs(transcode(output="[stream].flv"))
    s.push(source, "file:pwned", loop=True)
    assert s.wait_log(r'transcode sd of .* is not started: \[stream\] is "file:pwned"', 3), s.log()[-2000:]
    assert not children(s.pid)


def test_a_program_that_fails_is_started_again_ever_later(srs, source):
    s = srs("exec { enabled on; publish sh -c 'date +%s.%N >> starts.txt; echo why >&2; exit 7'; }")
    s.push(source, loop=True)
    path = os.path.join(s.tmp, "starts.txt")
    assert s.wait_log(r"exec sh of .*: ended with status 7 after \d s, again in 3 s\. It said: why", 4), \
        s.log()[-2000:]
    assert s.wait_log(r"ended with status 7 .* again in 6 s", 6), s.log()[-2000:]
    times = [float(x) for x in open(path)]
    assert len(times) == 2 and 2.9 <= times[1] - times[0] <= 20


@pytest.mark.long
def test_a_program_that_is_killed_is_started_again(srs, source):
    s = srs("exec { enabled on; publish sleep 100; }")
    s.push(source, loop=True)
    pid = list(wait_children(s, 1))[0]
    os.kill(pid, signal.SIGKILL)
    assert s.wait_log(r"exec sleep of .*: ended with signal 9 .* again in 3 s", 3)
    assert wait_for(lambda: children(s.pid) and pid not in children(s.pid), 6)


def test_a_program_that_is_not_there(srs, source):
    s = srs("exec { enabled on; publish ./not-there [url]; }")
    own = s.watch()
    s.push(source, loop=True)
    assert s.wait_log(r"exec not-there .*not-there is no program that can be run.* again in 3 s", 3), \
        s.log()[-2000:]
    assert own.wait(lambda got: len(flv.frames(got, VIDEO)) >= 20, 4)


@ffmpeg
def test_graceful_quit_ends_ingests(srs):
    """They are clients that would never leave."""
    s = srs(ingest(), glob="grace_start_wait 100;\ngrace_final_wait 100;")
    assert s.wait_log(r"client identified, type=.*publish.*stream=in,", 12)
    s.proc.kill(signal.SIGQUIT)
    assert s.proc.wait(8) == 0
    s.proc.end()
    s.proc = None
