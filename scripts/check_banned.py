#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Refuses functions that block coroutines, overflow buffers or end the process.

ALLOWED lists exceptions with reasons. Comments and strings do not count, and a name counts only in a
call: `name(`.
"""
import re
import sys
from pathlib import Path

BLOCKS = """sleep usleep nanosleep clock_nanosleep poll ppoll select pselect epoll_wait getaddrinfo
getnameinfo gethostbyname gethostbyaddr getpwnam system popen pclose wait waitpid flock lockf fsync
sync pthread_cond_wait pthread_join sem_wait pause sigwait sigsuspend""".split()
OVERRUNS = """strcpy strcat sprintf vsprintf gets alloca strtok scanf sscanf atoi atol atof tmpnam
mktemp setjmp longjmp signal""".split()
# These wait by the wall clock, which may be set back by a year.
WALL = """sem_timedwait pthread_timedjoin_np pthread_mutex_timedlock""".split()
# base/must.h ends the process if memory runs out; a failed assert() is a bug.
ENDS = """abort""".split()

# folder or file below src: allowed functions, and the reason
ALLOWED = {
    # Helper threads block on behalf of coroutines; waitpid uses WNOHANG.
    "co": {"getaddrinfo", "getnameinfo", "waitpid", "poll", "pthread_cond_wait", "pthread_join",
           "epoll_wait", "nanosleep", "clock_nanosleep", "fsync", "sem_wait"},
    # The log writer's thread.
    "app/log/writer.c": {"poll", "sem_wait"},
    "base/must.c": {"abort"},
    # End of the program, after the coroutines of all workers.
    "app/worker_threads.c": {"pthread_join"},
    # Ignores a signal that may arrive after its handler was removed.
    "co/watchdog.c": {"signal"},
    # Runs without coroutines.
    "tools/load/sb_floor.c": {"waitpid", "epoll_wait", "clock_nanosleep"},
    # Before coroutines start, in the parent of a daemon, or in the watchdog's thread.
    "app": {"waitpid", "flock", "lockf", "fsync", "nanosleep", "clock_nanosleep"},
}

root = Path(sys.argv[1])
call = re.compile(r"(?<![\w.>])(" + "|".join(BLOCKS + OVERRUNS + WALL + ENDS) + r")\s*\(")
noise = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
bad = []
for f in sorted(root.glob("*/**/*.[ch]")):
    rel = f.relative_to(root)
    text = f.read_text()
    for n, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*#\s*include\s*<st\.h>", line) and rel.parts[0] != "co":
            bad.append(f"{f}:{n}: only co/ includes <st.h>")
    code = noise.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    allowed = ALLOWED.get(rel.parts[0], set()) | ALLOWED.get(str(rel), set())
    for m in call.finditer(code):
        if m[1] not in allowed:
            what = "blocks the coroutines" if m[1] in BLOCKS else "is banned"
            bad.append(f"{f}:{code.count(chr(10), 0, m.start()) + 1}: {m[1]}() {what}")
print("\n".join(bad))
sys.exit(len(bad) > 0)
