# SPDX-License-Identifier: MIT
"""What floods of hostile peers share: so many a second, from many addresses."""
import time


def paced(rate, seconds, say):
    """say(n) so often; how many there were."""
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
    """Of 127.0.0.0/8."""
    return [f"127.{1 + i % 200}.{i // 200 % 250}.{1 + i % 250}" for i in range(n)]
