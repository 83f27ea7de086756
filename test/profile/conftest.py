# SPDX-License-Identifier: MIT
"""The profiling tools of operators, each as its manual page describes. Run with `make test-profile`.

OBJS        folder of the load tools, and of the builds of each variant (objs)
E2E_SLOW    factor for all time limits

"""
import os
import shutil
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))

import lab    # noqa: E402
import procs  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "needs(tool, ...): skipped when a tool is not installed")


def pytest_collection_modifyitems(config, items):
    for item in items:
        mark = item.get_closest_marker("needs")
        lacking = [t for t in mark.args if not procs.have(t)] if mark else []
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
    if getattr(request.node, "report_call", None) and request.node.report_call.failed:
        keep = os.path.join(lab.ROOT, lab.OBJS, "profile-failed", request.node.name)
        shutil.rmtree(keep, ignore_errors=True)
        shutil.copytree(tmp_path, keep, ignore_dangling_symlinks=True)
    shutil.rmtree(tmp_path, ignore_errors=True)
