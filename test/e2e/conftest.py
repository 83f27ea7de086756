# SPDX-License-Identifier: MIT
"""Fixtures: the server, nginx, media. Run with `python3 -m pytest test/e2e`.

SRS_BINARY  the server to test (objs/srs)
E2E_SLOW    factor for all time limits
E2E_WORKERS number of workers for servers whose test does not choose one
E2E_KEEP    folder for the logs of failed tests (objs/e2e)

"""
import os
import shutil
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import flv        # noqa: E402
import flvgen     # noqa: E402
import numbered   # noqa: E402
import procs      # noqa: E402
import tools      # noqa: E402
from server import Server  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes seconds of waiting, or is one more of a kind (left out by --quick)")
    config.addinivalue_line("markers", "alone: not in parallel with other tests (measures time, uses the whole machine)")
    config.addinivalue_line("markers", "needs(tool, ...): skipped when a tool is not installed")


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="leave out the long tests")


def pytest_collection_modifyitems(config, items):
    for item in items:
        if config.getoption("--quick") and item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="long"))
        mark = item.get_closest_marker("needs")
        if mark:
            lacking = [t for t in mark.args
                       if not (tools.Nginx.there() if t == "nginx-rtmp" else
                              tools.NginxStream.there() if t == "nginx-stream" else procs.have(t))]
            if lacking:
                item.add_marker(pytest.mark.skip(reason="not installed: " + ", ".join(lacking)))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    setattr(item, "report_" + report.when, report)


@pytest.fixture(autouse=True)
def clean(request, tmp_path):
    """Ends everything that a test started; keeps the files of a failed test."""
    yield
    procs.end_all()
    failed = hasattr(request.node, "failed_at_stop") or any(getattr(request.node, "report_" + w, None) is not None
                 and getattr(request.node, "report_" + w).failed for w in ("setup", "call"))
    if failed:
        keep = os.path.join(os.environ.get("E2E_KEEP", os.path.join(procs.ROOT, "objs", "e2e")),
                            request.node.name.replace("/", "_")[:80])
        shutil.rmtree(keep, ignore_errors=True)
        shutil.copytree(tmp_path, keep, ignore=shutil.ignore_patterns("*.ts", "*.flv", "up", "work"),
                        ignore_dangling_symlinks=True)
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture
def srs(request, tmp_path, clean):
    """srs(vhost="...", glob="...") starts a server; all are stopped and checked at the end."""
    servers = []

    def start(vhost="", glob="", begin=True, **how):
        how.setdefault("name", f"srs{len(servers) or ''}")
        s = Server(tmp_path, vhost, glob, **how)
        servers.append(s)
        return s.start() if begin else s
    yield start
    try:
        for s in servers:
            s.stop()
    except AssertionError:
        request.node.failed_at_stop = True
        raise


@pytest.fixture
def nginx(tmp_path, clean):
    """nginx(extra="") starts an nginx-rtmp."""
    all_of_them = []

    def start(extra="", **how):
        n = tools.Nginx(tmp_path, f"nginx{len(all_of_them) or ''}", extra=extra, **how)
        all_of_them.append(n)
        return n.start()
    yield start
    for n in all_of_them:
        n.stop()


@pytest.fixture(scope="session")
def source():
    """All tags of doc/source.flv."""
    return flv.read(procs.SOURCE)


@pytest.fixture(scope="session")
def media():
    """flvgen.Media: HEVC, AV1, VP9, Opus, MP3 made once by ffmpeg and kept below objs/."""
    return flvgen.Media(os.path.join(procs.ROOT, "objs", "e2e-media"))


@pytest.fixture(scope="session")
def numbered_files():
    """numbered_files("bframes.mp4") is the path of a file whose frames show their number (numbered.KINDS)."""
    return numbered.path
