#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No call that blocks the thread of the coroutines, overruns a buffer or ends the process.

ALLOWED says where a call may stand all the same, each with its reason. Comments and strings do
not count. A name counts only where it is called: `name(`.
"""
import re
import sys
from pathlib import Path

BLOCKS = """sleep usleep nanosleep clock_nanosleep poll ppoll select pselect epoll_wait getaddrinfo
getnameinfo gethostbyname gethostbyaddr getpwnam system popen pclose wait waitpid flock lockf fsync
sync pthread_cond_wait pthread_join sem_wait pause sigwait sigsuspend""".split()
OVERRUNS = """strcpy strcat sprintf vsprintf gets alloca strtok scanf sscanf atoi atol atof tmpnam
mktemp setjmp longjmp signal""".split()
# They wait until the wall clock says so, which may be set back by a year.
WALL = """sem_timedwait pthread_timedjoin_np pthread_mutex_timedlock""".split()
# base/must.h says when the process may end, an assert() that it is our own mistake.
ENDS = """abort""".split()

# folder or file below src: calls that it may make, and why
ALLOWED = {
    # The threads that may block so that coroutines do not, and children asked with WNOHANG.
    "co": {"getaddrinfo", "getnameinfo", "waitpid", "poll", "pthread_cond_wait", "pthread_join",
           "epoll_wait", "nanosleep", "clock_nanosleep", "fsync", "sem_wait"},
    # The thread that writes the log.
    "app/log/writer.c": {"poll", "sem_wait"},
    "base/must.c": {"abort"},
    # The end of the program: the coroutines of all workers are gone.
    "app/worker_threads.c": {"pthread_join"},
    # To ignore one that may be on its way when its handler has gone.
    "co/watchdog.c": {"signal"},
    # No coroutines at all, on purpose.
    "tools/load/sb_floor.c": {"waitpid", "epoll_wait", "clock_nanosleep"},
    # Before the coroutines begin, or in the parent of a daemon; the watchdog's own thread.
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
