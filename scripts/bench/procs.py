# SPDX-License-Identifier: MIT
"""Processes: the servers and the load tools, each on its core, and their cost."""
import functools, json, os, pwd, shutil, signal, socket, subprocess, time
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
FILES = 20000


def cores():
    """(server's core, load's core): the first two cores that we may use, or the only one."""
    mine = sorted(os.sched_getaffinity(0))
    return mine[0], mine[1 % len(mine)]


@functools.cache
def first():
    """Command prefix that gives a program priority over all other work; empty without permission."""
    real_time = ["chrt", "--fifo", "1"]
    try:
        done = subprocess.run([*real_time, "true"], stderr=subprocess.DEVNULL, check=False)
        return real_time if done.returncode == 0 else []
    except OSError:
        return []


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def cpu_seconds(pid):
    """CPU time of all threads, user and system: in ns if the kernel reports it, otherwise in ticks."""
    try:
        tasks = [t.read_text().split() for t in Path(f"/proc/{pid}/task").glob("*/schedstat")]
        if tasks:
            return sum(int(t[0]) for t in tasks) / 1e9
    except (OSError, IndexError):
        pass
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def busy(seconds):
    """How much processor time all processes use now, in cores."""
    def ticks():
        f = Path("/proc/stat").read_text().split("\n", 1)[0].split()
        return sum(int(v) for i, v in enumerate(f[1:8]) if i not in (3, 4))

    before = ticks()
    time.sleep(seconds)
    return (ticks() - before) / TICK / seconds


def wait_seconds(pid):
    """How long a process has waited for its core since its start."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0


def rss_kb(pid):
    for name, key in (("smaps_rollup", "Rss:"), ("status", "VmRSS:")):
        try:
            for line in Path(f"/proc/{pid}/{name}").read_text().splitlines():
                if line.startswith(key):
                    return int(line.split()[1])
        except OSError:
            pass
    return 0


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def key_pair(folder):
    """A P-256 key and its certificate."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    if not cert.exists():
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-days", "30", "-subj", "/CN=localhost", "-keyout", key, "-out", cert],
                       check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return key, cert


class Process:
    """A child process on one core. Its output goes to files in the work folder."""

    def __init__(self, argv, core, out, err):
        self.out, self.err = out, err
        self.child = subprocess.Popen(
            [*first(), "taskset", "-c", str(core), *map(str, argv)], stdin=subprocess.DEVNULL,
            stdout=open(out, "wb"), stderr=open(err, "wb"))

    def wait(self, seconds):
        try:
            self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            return False
        return True


class Tool(Process):
    """A load tool. stop() ends it and returns its report."""

    def __init__(self, bench, program, url, clients, *args):
        bench.number += 1
        base = bench.work / f"{bench.number:03d}-{program}"
        argv = [bench.objs / program, "--json", "-r", url, "-c", clients, *args]
        super().__init__(argv, bench.load_core, base.with_suffix(".json"), base.with_suffix(".err"))
        bench.running.append(self)

    def stop(self):
        self.child.send_signal(signal.SIGINT)
        ended = self.wait(60)
        text = Path(self.out).read_text()
        if not ended or not text:
            raise RuntimeError(f"{self.child.args[3]}: {Path(self.err).read_text().strip() or 'no report'}")
        return json.loads(text)


class Server(Process):
    """A media server. It is ready when its port answers."""
    name = None

    def __init__(self, bench, argv, conf):
        bench.wait_quiet()
        bench.number += 1
        self.port = free_port()
        base = bench.work / f"{bench.number:03d}-{self.name}"
        path, self.log = base.with_suffix(".conf"), base.with_suffix(".log")
        path.write_text(conf.format(port=self.port, dir=bench.work, base=base, files=FILES))
        super().__init__([a.format(path=path, dir=bench.work, port=self.port) for a in argv],
                         bench.server_core, base.with_suffix(".out"), base.with_suffix(".err"))
        bench.running.append(self)
        self.wait_up()
        self.pid = self.find_pid()

    def wait_up(self):
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.child.poll() is not None:
                    break
                time.sleep(0.1)
        raise RuntimeError(f"{self.name} does not start: {Path(self.err).read_text()[-500:]}")

    def find_pid(self):
        return self.child.pid

    def url(self, stream):
        return f"rtmp://127.0.0.1:{self.port}/live/{stream}"

    def cpu(self):
        return cpu_seconds(self.pid)

    def rss(self):
        return rss_kb(self.pid)

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        self.wait(10)


class Nginx(Server):
    """nginx with its RTMP module, from Debian: one worker, defaults."""
    name = "nginx-rtmp"
    CONF = """
load_module {module};
daemon off; worker_processes 1; pid {{base}}.pid; error_log {{base}}.log warn;
worker_rlimit_nofile {{files}};
events {{{{ worker_connections {{files}}; }}}}
rtmp {{{{ server {{{{ listen 127.0.0.1:{{port}}; application live {{{{ live on; }}}} }}}} }}}}
"""
    MODULES = ("/usr/lib/nginx/modules/ngx_rtmp_module.so", "/usr/lib64/nginx/modules/ngx_rtmp_module.so")

    def __init__(self, bench, variant=None):
        module = next((m for m in self.MODULES if Path(m).exists()), self.MODULES[0])
        self.variant = "default"
        super().__init__(bench, [self.program(), "-p", "{dir}", "-c", "{path}"],
                         self.CONF.format(module=module))

    @staticmethod
    def program():
        return shutil.which("nginx") or "/usr/sbin/nginx"

    def find_pid(self):
        """The process that is measured: the worker."""
        for _ in range(50):
            path = Path(f"/proc/{self.child.pid}/task/{self.child.pid}/children")
            children = path.read_text().split()
            if children:
                return int(children[0])
            time.sleep(0.1)
        raise RuntimeError("nginx has no worker")


class NginxFiles(Nginx):
    """nginx that serves a folder: sendfile, no log."""
    name = "nginx"
    CONF = """
daemon off; worker_processes 1; user {user}; pid {{base}}.pid; error_log {{base}}.log warn;
worker_rlimit_nofile {{files}};
events {{{{ worker_connections {{files}}; }}}}
http {{{{
    sendfile on; tcp_nopush on; access_log off; keepalive_requests 1000000;
    types {{{{ application/vnd.apple.mpegurl m3u8; video/mp2t ts; }}}}
    server {{{{ listen 127.0.0.1:{{port}} backlog=4096; root {folder}; }}}}
}}}}
"""

    def __init__(self, bench, folder):
        self.variant = "default"
        user = pwd.getpwuid(os.geteuid()).pw_name
        Server.__init__(self, bench, [self.program(), "-p", "{dir}", "-c", "{path}"],
                        self.CONF.format(folder=folder, user=user))


class Ours(Server):
    name = "srs"
    CONF = """
listen 127.0.0.1:{{port}};
max_connections {{{{limit}}}};
daemon off; srs_log_tank file; srs_log_file {{base}}.log; srs_log_level warn; pid {{base}}.pid;
{top}
vhost __defaultVhost__ {{{{
    {vhost}
    play {{{{ {play} }}}}
    publish {{{{ {publish} }}}}
}}}}
"""
    RTSP = "rtsp_server {{ enabled on; listen 127.0.0.1:{{rtsp}}; udp_port {{udp}}; "
    RTSP_HOST = "rtsp {{ enabled on; }} "
    SRT = "srt_server {{ enabled on; listen 127.0.0.1:{{srt}}; "
    SRT_HOST = "srt {{ enabled on; }} "
    RTMFP = "rtmfp_server {{ enabled on; listen 127.0.0.1:{{rtmfp}}; }}"
    RTMFP_HOST = "rtmfp {{ enabled on; }} "
    HTTP_FILES = "http_server {{ enabled on; listen 127.0.0.1:{{http}}; dir {{html}}; }}"
    HLS = "hls {{ enabled on; hls_path {{html}}; hls_fragment 2; hls_window 6; "
    VARIANTS = {
        "default": {},
        "auto": {"vhost": "tcp_nodelay on;", "play": "mw_latency auto;"},
        "at once": {"vhost": "min_latency on; tcp_nodelay on;", "play": "mw_latency 0;"},
        "mw 30": {"vhost": "tcp_nodelay on;", "play": "mw_latency 30; mw_msgs 1;"},
        "mr": {"publish": "mr on;"},
        "no gop": {"play": "gop_cache off;"},
        "http": {"top": "http_server {{ enabled on; listen 127.0.0.1:{{http}}; }}",
                 "vhost": "http_remux {{ enabled on; }}"},
        "tls": {"top": "rtmps {{ enabled on; listen 127.0.0.1:{{rtmps}}; {{pair}} }} http_server {{ enabled on; "
                       "listen 127.0.0.1:{{http}}; https {{ enabled on; listen 127.0.0.1:{{https}}; {{pair}} }} }}",
                "vhost": "http_remux {{ enabled on; }}"},
        "api": {"top": "http_api {{ enabled on; listen 127.0.0.1:{{http}}; }} exporter {{ enabled on; listen "
                       "127.0.0.1:{{exporter}}; }}", "publish": "normal_timeout 60000;"},
        "hooks": {"top": "vhost none {{ }}", "vhost": "http_hooks {{ enabled on; on_publish {{hook}}; }}"},
        "rtsp": {"top": RTSP + "}}", "vhost": RTSP_HOST},
        "rtsp at once": {"top": RTSP + "}}", "vhost": RTSP_HOST + "min_latency on; tcp_nodelay on;", "play": "mw_latency 0;"},
        "rtsp auto": {"top": RTSP + "}}", "vhost": RTSP_HOST + "tcp_nodelay on;", "play": "mw_latency auto;"},
        "rtsp no gso": {"top": RTSP + "udp_gso off; }}", "vhost": RTSP_HOST},
        "rtmfp": {"top": RTMFP, "vhost": RTMFP_HOST},
        "rtmfp at once": {"top": RTMFP, "vhost": RTMFP_HOST + "min_latency on; tcp_nodelay on;", "play": "mw_latency 0;"},
        "srt": {"top": SRT + "}}", "vhost": SRT_HOST},
        "srt key": {"top": SRT + "passphrase 'correct horse battery'; }}", "vhost": SRT_HOST},
        "srt at once": {"top": SRT + "sei_filter off; }}", "vhost": SRT_HOST + "min_latency on; tcp_nodelay on;",
                        "play": "mw_latency 0;"},
        "rtc": {"top": "http_api {{ enabled on; listen 127.0.0.1:{{http}}; }} rtc_server {{ enabled on; listen {{rtc}}; "
                       "candidate 127.0.0.1; api_as_candidates off; }}",
                "vhost": "rtc {{ enabled on; rtmp_to_rtc on; }}"},
        "rtc no gso": {"top": "http_api {{ enabled on; listen 127.0.0.1:{{http}}; }} rtc_server {{ enabled on; listen {{rtc}}; "
                              "candidate 127.0.0.1; api_as_candidates off; udp_gso off; }}",
                       "vhost": "rtc {{ enabled on; rtmp_to_rtc on; }}"},
        "vod": {"top": RTSP + "}} http_server {{ enabled on; listen 127.0.0.1:{{http}}; }}",
                "vhost": RTSP_HOST + "vod {{ enabled on; dir {{vod}}; }} http_remux {{ enabled on; }}"},
        "vod 4m": {"top": RTSP + "}}", "vhost": RTSP_HOST + "vod {{ enabled on; dir {{vod}}; cache 4m; }}"},
        "hls": {"top": HTTP_FILES, "vhost": HLS + "hls_ctx off; }}"},
        "hls_ctx": {"top": HTTP_FILES, "vhost": HLS + "hls_ctx on; }}"},
        "hls_ll": {"top": HTTP_FILES, "vhost": HLS + "hls_ctx off; hls_use_fmp4 on; hls_ll on; }}"},
    }

    def __init__(self, bench, variant="default", hook="", top=""):
        self.variant = variant
        parts = dict.fromkeys(("top", "vhost", "play", "publish"), "") | self.VARIANTS[variant]
        parts["top"] += top
        self.http, self.https, self.rtmps, self.rtsp = free_port(), free_port(), free_port(), free_port()
        conf = self.CONF.format(**parts).replace("{{limit}}", str(FILES - 1000))
        conf = conf.replace("{{http}}", str(self.http)).replace("{{hook}}", hook)
        conf = conf.replace("{{vod}}", str(bench.out / "vod"))
        conf = conf.replace("{{exporter}}", str(free_port())).replace("{{rtsp}}", str(self.rtsp))
        self.srt, self.rtmfp = free_port(), free_port()
        conf = conf.replace("{{rtmfp}}", str(self.rtmfp))
        conf = conf.replace("{{srt}}", str(self.srt)).replace("{{rtc}}", str(free_port()))
        conf = conf.replace("{{udp}}", str(free_port() & ~1))
        conf = conf.replace("{{https}}", str(self.https)).replace("{{rtmps}}", str(self.rtmps))
        if "{{pair}}" in conf:
            conf = conf.replace("{{pair}}", "key {}; cert {};".format(*key_pair(bench.work)))
        self.html = bench.work / f"{bench.number + 1:03d}-html"
        if "{{html}}" in conf:
            self.html.mkdir()
            conf = conf.replace("{{html}}", str(self.html))
        super().__init__(bench, [str(bench.srs), "-c", "{path}"], conf)

    def where(self, program, stream):
        """URL of a stream for a load tool; (app, stream) if the application is not "live"."""
        app, name = stream if isinstance(stream, tuple) else ("live", stream)
        if "rtmfp" in program:  # without a stream: an app alone
            return f"rtmfp://127.0.0.1:{self.rtmfp}/" + (name if name == app else f"{app}/{name}")
        if "srt" in program:
            return f"srt://127.0.0.1:{self.srt}?streamid=#!::r={app}/{name},m=request"
        if "rtsp" in program:
            return f"rtsp://127.0.0.1:{self.rtsp}/{app}/{name}"
        if "http" in program:
            return f"http://127.0.0.1:{self.http}/{app}/{name}"
        return f"rtmp://127.0.0.1:{self.port}/{app}/{name}"

    def logged(self, word):
        """Number of log lines that contain the text."""
        return self.log.read_text(errors="replace").count(word) if self.log.exists() else 0

    def stop(self):
        super().stop()
        shutil.rmtree(self.html, ignore_errors=True)
