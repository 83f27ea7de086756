# SPDX-License-Identifier: MIT
"""Shared by floods of hostile peers: pacing and source addresses."""
import time


def paced(rate, seconds, say):
    """Calls say(n) at a given rate; returns the number of calls."""
    begin, n = time.monotonic(), 0
    while (at := time.monotonic() - begin) < seconds:
        due = int(at * rate)
        for _ in range(min(due - n, 500)):
            say(n)
            n += 1
        if n >= due:
            time.sleep(0.001)
    return n


def addresses(n):
    """Yields addresses of 127.0.0.0/8."""
    return [f"127.{1 + i % 200}.{i // 200 % 250}.{1 + i % 250}" for i in range(n)]
