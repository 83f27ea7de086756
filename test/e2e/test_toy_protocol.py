# SPDX-License-Identifier: MIT
"""A new protocol needs only its own folders and edits of the files that CONTRIBUTING lists.

test/data/toy_protocol has the folders of a toy: it echoes lines over TCP and datagrams over UDP, with directives, a check, an error
code, a counter and a type of client. EDITS lists all changes of existing files.

"""
import os
import re
import shlex
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

import procs
from httpapi import Api, conf as api_conf
from procs import ROOT, SLOW, free_port, wait_for

TOY = Path(ROOT, "test", "data", "toy_protocol")
EDITS = {
    "src/conf/protocols.h": [(r"(    XX\(RTSP, rtsp\) \\\n)", r"\1    XX(TOY, toy) \\" "\n"),
                             (r'(    XX\(RTMP_PLAY, [^\n]*\n)', r'\1    XX(TOY_PLAY, "toy-play", "Toy player", 0) \\' "\n")],
    "src/conf/settings.h": [(r"(struct conf_rtc_tcp \{)", "struct conf_toy_server {\n    bool enabled;\n    struct conf_endpoints listen;\n"
                             "    const char *word;\n};\n\n" r"\1"),
                            (r"(struct conf_rtsp_auth \{)", "struct conf_vhost_toy {\n    bool enabled;\n};\n\n" r"\1")],
    "src/base/err.h": [(r"(    XX\(RTMFP, +7001)", r'    XX(TOY, 6900, PROTO, "Toy line is wrong") \\' "\n" r"\1")],
}


def edited(path):
    text = Path(ROOT, path).read_text()
    for pattern, new in EDITS[path]:
        text, n = re.subn(pattern, new, text)
        assert n == 1, f"{path}: {pattern}"
    return text


def setting(name):
    return shlex.split(re.search(rf"^{name} = (.*)$", Path(ROOT, "objs/config.mk").read_text(), re.M)[1])


def test_contributing_lists_the_files():
    text = Path(ROOT, "CONTRIBUTING.md").read_text().split("## Add a protocol")[1].split("\n## ")[0]
    listed = re.search(r"existing files[^:]*: (.*?)\.\n", text, re.S)[1]
    assert set(re.findall(r"`(src/[\w/.]+)`", listed)) == set(EDITS)
    assert len(EDITS) <= 4


@pytest.mark.needs("make")
def test_its_files_compile_with_those_edits(tmp_path):
    """The edited headers come first, so the rest of the tree is unchanged."""
    for path in EDITS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(edited(path))
    args = [*setting("CC"), "-std=c17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", f"-I{tmp_path}/src", f"-I{TOY}/src",
            f"-I{ROOT}/src", f"-I{ROOT}/objs", "-isystem", f"{ROOT}/objs/st"]
    lists = [Path(ROOT, "src", f) for f in ("app/protocols.c", "conf/protocol.c", "session/clients.c", "conf/table/root.c", "conf/table/vhost.c")]
    sources = [*sorted(TOY.rglob("*.c")), *lists]
    assert len(sources) >= 9
    for source in sources:
        r = subprocess.run([*args, str(source)], capture_output=True, text=True, timeout=60 * SLOW)
        assert r.returncode == 0, r.stderr[:3000]


@pytest.fixture
def toy(tmp_path):
    """The server with the toy, built in a copy of the tree."""
    copy = tmp_path / "tree"
    for name in ("src", "3rdparty", "scripts", "www", "conf"):
        shutil.copytree(Path(ROOT, name), copy / name)
    (copy / "test/unit").mkdir(parents=True)
    for name in ("Makefile", "configure", "test/unit/FAKES"):
        shutil.copy2(Path(ROOT, name), copy / name)
    for st in Path(ROOT, "objs").glob("st*"):
        shutil.copytree(st, copy / "objs" / st.name) if st.is_dir() else None
    shutil.copytree(TOY / "src", copy / "src", dirs_exist_ok=True)
    for path in EDITS:
        (copy / path).write_text(edited(path))
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "OBJS")}
    for command in (["./configure", "--jobs=2"], ["make", "-s", "objs/srs"]):
        r = subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True, timeout=900 * SLOW)
        assert r.returncode == 0, r.stderr[-3000:]
    return str(copy / "objs" / "srs")


def ask(sock, text):
    sock.send(text.encode())
    return sock.recv(300).decode()


@pytest.mark.long
@pytest.mark.needs("make")
def test_it_is_served_counted_listed_and_checked(srs, toy, monkeypatch):
    monkeypatch.setattr(procs, "BINARY", toy)
    api, port = free_port(), free_port()
    server = f"toy_server {{ enabled on; listen 127.0.0.1:{port}; word hello; }}\n"
    more = "exporter { enabled on; listen 127.0.0.1:%d; }\n" % (metrics := free_port())
    s = srs(vhost="toy { enabled on; }", glob=api_conf(api, more=server + more))
    with socket.create_connection(("127.0.0.1", port), 10) as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
        tcp.sendall(b"live/show\n")
        assert ask(tcp, "one\n") == "hello one\n"
        udp.settimeout(10)
        udp.connect(("127.0.0.1", port))
        assert ask(udp, "two") == "hello two"
        client = Api(api).wait_clients(1)[0]
        assert client["type"] == "toy-play" and client["name"] == "show" and client["toy"] == {"lines": 1} and not client["publish"]
        wait_for(lambda: b"srs_toy_echoes_total 2" in Api(metrics).raw("/metrics")[2], 5)
        assert b"srs_toy_echoes_total 2" in Api(metrics).raw("/metrics")[2]
        assert re.search(rb'^srs_protocol_clients\{protocol="toy-play"\} 1$', Api(metrics).raw("/metrics")[2], re.M)
        assert Api(api).get("console")["data"]["toy"] == port and Api(api).get("console")["data"]["vhosts"][0]["toy"] is True
        Api(api).kick(client["id"])
        assert tcp.recv(10) == b""
    with socket.create_connection(("127.0.0.1", port), 10) as tcp:
        tcp.sendall(b"nothing\n")
        assert tcp.recv(10) == b""
    assert s.wait_log(r"6900\(TOY\)")
    s.write(vhost="toy { enabled on; }", glob=api_conf(api, more=server.replace("hello", "too-long-a-word")))
    r = subprocess.run([toy, "-t", "-c", s.conf_path], capture_output=True, text=True, timeout=20)
    assert r.returncode != 0 and "word has at most 8 letters" in r.stdout + r.stderr
