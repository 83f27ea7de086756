# SPDX-License-Identifier: MIT
"""Real clients: ffmpeg, ffprobe, GStreamer, VLC, rtmpdump; and nginx with its RTMP module."""
import glob
import json
import os
import pathlib
import pwd
import signal
import subprocess

from procs import PACE, SLOW, SOURCE, Proc, free_port, wait_port

NGINX_MODULE = "/usr/lib/nginx/modules/ngx_rtmp_module.so"
STREAM_MODULE = "/usr/lib/nginx/modules/ngx_stream_module.so"


def run(argv, timeout=60.0, check=True, **how):
    r = subprocess.run([str(a) for a in argv], capture_output=True, timeout=timeout * SLOW,
                       stdin=subprocess.DEVNULL, **how)
    if check and r.returncode:
        raise AssertionError(f"{argv[0]} ended with {r.returncode}: "
                             + r.stderr.decode(errors="replace")[-2000:])
    return r


def ffmpeg_publish(url, log, path=SOURCE, rate=PACE, seconds=None, loop=False, options=()):
    """ffmpeg that copies a file to url, in real time times rate; a Proc."""
    argv = ["ffmpeg", "-hide_banner", "-loglevel", "info", "-nostdin"]
    argv += ["-readrate", rate] if rate else []
    argv += ["-stream_loop", "-1"] if loop else []
    argv += ["-i", path]
    argv += ["-t", seconds] if seconds else []
    return Proc([*argv, "-c", "copy", *options, "-f", "flv", url], log)


def ffmpeg_frames(url, log, out, seconds=None, options=()):
    """ffmpeg that plays url and writes one line per packet with its hash to `out`; a Proc."""
    argv = ["ffmpeg", "-hide_banner", "-loglevel", "info", "-nostdin", "-y",
            "-copyts", *options, "-i", url]
    argv += ["-t", seconds] if seconds else []
    return Proc([*argv, "-c", "copy", "-copyinkf", "-f", "framemd5", "-flush_packets", "1", out], log)


def frame_list(path, kind=None):
    """[(kind, dts, pts, size, hash)] of a framemd5 file; streams 0 and 1 are distinguished by media type."""
    kinds, out = {}, []
    if not os.path.exists(path):
        return out
    with open(path) as f:
        for line in f:
            if line.startswith("#media_type"):
                index, name = line.split(" ", 1)[1].split(": ")
                kinds[int(index)] = name.strip()
            elif line[0] != "#" and line.count(",") >= 5 and line.endswith("\n"):
                s, dts, pts, _, size, digest = [x.strip() for x in line.split(",")[:6]]
                out.append((kinds[int(s)], int(dts), int(pts), int(size), digest))
    return [x for x in out if kind in (None, x[0])]


def source_frames(path=SOURCE, seconds=None, options=()):
    """The same list, directly from the file."""
    argv = ["ffmpeg", "-loglevel", "error", "-nostdin", "-copyts", "-i", path]
    argv += ["-t", str(seconds)] if seconds else []
    argv += ["-c", "copy", *options, "-f", "framemd5", "-"]
    text = run(argv).stdout.decode()
    kinds, out = {}, []
    for line in text.splitlines():
        if line.startswith("#media_type"):
            index, name = line.split(" ", 1)[1].split(": ")
            kinds[int(index)] = name.strip()
        elif line[0] != "#":
            s, dts, pts, _, size, digest = [x.strip() for x in line.split(",")[:6]]
            out.append((kinds[int(s)], int(dts), int(pts), int(size), digest))
    return out


def ffprobe(url, *options, timeout=60.0):
    r = run(["ffprobe", "-v", "error", "-of", "json", *options, url], timeout)
    return json.loads(r.stdout)


def decode(path):
    """Decodes a whole file; raises AssertionError if the decoder reports anything."""
    r = run(["ffmpeg", "-v", "error", "-i", path, "-f", "null", "-"], 60)
    return r.stderr.decode()


def gst(pipeline, log):
    return Proc(["gst-launch-1.0", "-q", "-e", *pipeline.split()], log)


def as_nobody(argv, folder):
    """VLC refuses to run as root; makes `folder` belong to the user nobody."""
    if os.geteuid() != 0:
        return argv
    folder = pathlib.Path(folder)
    folder.chmod(0o777)
    for parent in folder.parents:  # pytest's own folders are private
        if not parent.stat().st_mode & 1:
            parent.chmod(0o755)
    return ["runuser", "-u", "nobody", "--", *argv]


def vlc(url, out, log, seconds):
    """VLC without a window, as nobody, remuxing what it plays to out."""
    argv = ["cvlc", "-I", "dummy", "--no-video-title-show", "--run-time", str(seconds),
            "--network-caching", "300", "--play-and-exit",
            "--sout", f"#standard{{access=file,mux=ts,dst={out}}}", url, "vlc://quit"]
    env = dict(os.environ, HOME="/tmp", XDG_RUNTIME_DIR="/tmp", DBUS_SESSION_BUS_ADDRESS="none")
    return Proc(as_nobody(argv, pathlib.Path(out).parent), log, env=env)


def vlc_window(url, log, env):
    """VLC with a window for video only."""
    argv = ["cvlc", "-I", "dummy", "--no-video-title-show", "--vout", "xcb_x11", "--aout", "dummy", url]
    return Proc(as_nobody(argv, pathlib.Path(log).parent), log, env=dict(env, HOME="/tmp", XDG_RUNTIME_DIR="/tmp"))


def rtmpdump(url, out, log, options=()):
    """Plays until it is ended: its --stop does not work for live streams."""
    return Proc(["rtmpdump", "-q", "-r", url, "-o", out, "--live", *options], log)


class Nginx:
    """Debian's nginx with its RTMP module, as a third-party server."""

    def __init__(self, tmp, name="nginx", port=None, extra=""):
        self.dir = os.path.join(str(tmp), name)
        os.makedirs(os.path.join(self.dir, "logs"), exist_ok=True)
        self.port = port or free_port()
        self.name = name
        user = f"user {pwd.getpwuid(os.geteuid()).pw_name};" if os.geteuid() == 0 else ""
        self.conf = os.path.join(self.dir, "nginx.conf")
        with open(self.conf, "w") as f:
            f.write(f"""load_module {NGINX_MODULE};
daemon off; master_process off; worker_processes 1; {user}
pid {self.dir}/nginx.pid;
error_log {self.dir}/logs/error.log info;
events {{ worker_connections 1024; }}
rtmp {{ server {{
    listen 127.0.0.1:{self.port};
    chunk_size 4096;
    ping 5s; ping_timeout 5s;
    access_log {self.dir}/logs/rtmp.log;
    application live {{ live on; wait_key off; {extra} }}
}} }}
""")
        self.proc = None

    @staticmethod
    def there():
        return os.path.exists(NGINX_MODULE) and bool(glob.glob("/usr/sbin/nginx"))

    def start(self):
        self.proc = Proc(["/usr/sbin/nginx", "-p", self.dir, "-c", self.conf],
                         os.path.join(self.dir, "out.log"))
        assert wait_port(self.port, 5, proc=self.proc), "nginx does not start:\n" + self.proc.text()
        return self

    def kill(self):
        """Kills it, as in a crash."""
        self.proc.end(signal.SIGKILL)

    def stop(self):
        if self.proc:
            self.proc.end()

    def url(self, stream="s"):
        return f"rtmp://127.0.0.1:{self.port}/live/{stream}"


class NginxStream(Nginx):
    """Debian's nginx as a TCP balancer that reports the client's address: {its port: the server's}."""

    def __init__(self, tmp, ports, name="nginx-stream"):
        super().__init__(tmp, name, next(iter(ports)))
        servers = "".join(f"server {{ listen 127.0.0.1:{a}; proxy_pass 127.0.0.1:{b}; proxy_protocol on; }}\n"
                          for a, b in ports.items())
        with open(self.conf) as f:
            before = f.read().replace(NGINX_MODULE, STREAM_MODULE).partition("rtmp {")[0]
        with open(self.conf, "w") as f:
            f.write(before + f"stream {{\n{servers}}}\n")

    @staticmethod
    def there():
        return os.path.exists(STREAM_MODULE) and bool(glob.glob("/usr/sbin/nginx"))
