# SPDX-License-Identifier: MIT
"""Shows coroutines in gdb, of a running process or a core dump.

    gdb -p $(pidof srs) -x scripts/gdb_co.py      or      gdb objs/srs core -x scripts/gdb_co.py
    (gdb) co list            each coroutine: number, worker (if several), name, id in the log, state,
                             position
    (gdb) co bt 3            stack of coroutine 3; "co bt k3x9q2aa": of an id; "co bt all": of all
    (gdb) co count           number of coroutines by name and position

As one command: gdb -p PID -batch -x scripts/gdb_co.py -ex 'co list' -ex 'co bt all'

Each scheduler has an entry in the list co_views (src/co/co.c), which refers to the stacks in use
(3rdparty/st/stack.c). A suspended coroutine has its registers at the top of its stack, in the order of
3rdparty/st/context.S. An unwinder passes them to gdb as the caller of the innermost frame. No register is
written, so this works with core dumps too.
"""
import gdb
import gdb.unwinder

X86 = ("r15", "r14", "r13", "r12", "rbx", "rbp")  # followed by the return address
ARM = tuple(f"x{n}" for n in range(19, 31)) + tuple(f"d{n}" for n in range(8, 16))
KEYS_MAX = 16  # of state-threads: number of pointers between a thread and the top of its stack
STATES = {0: "runs", 1: "ready", 2: "io", 3: "lock", 4: "waits", 5: "sleeps", 6: "ended", 7: "stopped"}
HIDDEN = {"_st_vp_schedule", "go_to", "st_cond_timedwait", "st_cond_wait", "st_usleep", "st_step_back",
          "_st_idle_thread_start", "_st_thread_main", "_st_context_entry", "_st_context_switch",
          "run", "co_park", "co_sleep", "sock_wait"}


def word(address):
    kind = gdb.lookup_type("unsigned long").pointer()
    return int(gdb.Value(address).cast(kind).dereference())


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = gdb.Value(sp), gdb.Value(pc)


class Switch(gdb.unwinder.Unwinder):
    """While .context is set, the coroutine of that context appears as the caller of the innermost frame."""

    def __init__(self):
        super().__init__("coroutine")
        self.context = self.top = None

    def __call__(self, frame):
        if self.context is None:
            return None
        arm = "aarch64" in gdb.selected_inferior().architecture().name()
        sp = int(frame.read_register("sp" if arm else "rsp"))
        if sp != self.top:
            return None
        info = frame.create_unwind_info(FrameId(self.context - 64, 0))
        kind = gdb.lookup_type("unsigned long")
        names = ARM if arm else X86
        for i, name in enumerate(names):
            info.add_saved_register(name, gdb.Value(word(self.context + 8 * i)).cast(kind))
        if arm:
            info.add_saved_register("pc", gdb.Value(word(self.context + 8 * 11)).cast(kind))
            info.add_saved_register("sp", gdb.Value(self.context + 160).cast(kind))
        else:
            size = 8 * len(names)
            info.add_saved_register("rip", gdb.Value(word(self.context + size)).cast(kind))
            info.add_saved_register("rsp", gdb.Value(self.context + size + 8).cast(kind))
        return info


class At:
    """with At(coroutine): all frames after the first belong to the coroutine."""
    unwinder = Switch()

    def __init__(self, co):
        self.co = co

    def __enter__(self):
        select_thread(self.co.tid)
        gdb.invalidate_cached_frames()
        if not self.co.runs:
            newest = gdb.newest_frame()
            register = "sp" if "aarch64" in newest.architecture().name() else "rsp"
            At.unwinder.top = int(newest.read_register(register))
            At.unwinder.context = self.co.context
            gdb.invalidate_cached_frames()
        return self

    def __exit__(self, *unused):
        At.unwinder.context = None
        gdb.invalidate_cached_frames()
        gdb.newest_frame().select()

    def frames(self):
        f = gdb.newest_frame()
        if not self.co.runs:
            f = f.older()
        while f is not None:
            yield f
            f = f.older()

    def text(self):
        """Returns gdb's backtrace without the first frame, which does not belong to the coroutine."""
        lines = gdb.execute("bt", to_string=True).splitlines()
        out, skipped = [], 0 if self.co.runs else 1
        for line in lines:
            if line.startswith("#"):
                number, _, rest = line.partition(" ")
                n = int(number[1:]) - skipped
                line = f"    #{n:<2} {rest.strip()}" if n >= 0 else None
            elif line.startswith("Backtrace stopped") or "corrupt stack" in line:
                line = None
            if line:
                out.append(line if line.startswith("    #") else "        " + line.strip())
        return "\n".join(out)


def select_thread(tid):
    """Selects the thread of a scheduler; without one, the first of the process."""
    inferior = gdb.selected_inferior()
    for t in inferior.threads():
        if t.ptid[1] == (tid or inferior.pid):
            t.switch()
            return
    inferior.threads()[-1].switch()


class Coroutine:
    def __init__(self, thread, main, view):
        """thread: a struct _st_thread; main: the struct co of the first of its scheduler"""
        self.thread = thread
        self.worker, self.tid = int(view["number"]), int(view["tid"])
        self.address = int(thread.address)
        self.context = int(thread["context"])
        self.state = STATES.get(int(thread["state"]), "?")
        self.runs = self.state == "runs"
        self.cid, self.name, self.record = "", "main", None
        self.describe(main)

    def describe(self, main):
        if int(main["thread"]) == self.address:
            self.take(main)
            return
        start = self.thread["start"]
        block = gdb.block_for_pc(int(start))
        function = str(block.function) if block and block.function else "?"
        where = block.function.symtab.filename if block and block.function else ""
        self.name = {"_st_idle_thread_start": "(scheduler)", "ticker": "(ticker)"}.get(function, function)
        if function == "run" and where.endswith("co/co.c"):
            self.take(self.thread["arg"].cast(gdb.lookup_type("struct co").pointer()).dereference())

    def take(self, record):
        self.record = record
        self.name = record["name"].string()
        self.cid = record["cid"].string()
        if self.state == "waits" and bool(record["stop"]):
            self.state = "stops"

    def used(self):
        """Returns the bytes of stack in use."""
        stack = self.thread["stack"]
        return int(stack["stk_top"]) - self.context if int(stack) and not self.runs else 0

    def where(self, most=5):
        with At(self) as at:
            names = [f.name() or hex(f.pc()) for f in at.frames()]
        while names and names[0] in HIDDEN:
            names.pop(0)
        names = [n for n in names if n not in HIDDEN]
        return " < ".join(names[:most]) + (" ..." if len(names) > most else "")


def coroutines():
    if gdb.selected_inferior().pid == 0:
        raise gdb.GdbError("no process and no core")
    select_thread(None)
    try:
        view = gdb.parse_and_eval("(struct co_view *)co_views")
    except gdb.error as e:
        raise gdb.GdbError(f"this is not srs with its debugging symbols: {e}")
    views = []
    while int(view):
        views.append(view.dereference())
        view = view["next"]
    views.sort(key=lambda v: int(v["number"]))
    return [co for v in views for co in of_scheduler(v)]


def of_scheduler(view):
    thread_type = gdb.lookup_type("struct _st_thread")
    stack_type = gdb.lookup_type("struct _st_stack").pointer()
    main = view["primordial"].dereference()
    found = [Coroutine(main["thread"].cast(thread_type.pointer()).dereference(), main, view)]
    head = view["stacks"].cast(gdb.lookup_type("struct _st_clist").pointer())
    link = head["prev"]  # the oldest first
    while int(link) != int(head):
        stack = link.cast(stack_type)
        at = int(stack["stk_top"]) - KEYS_MAX * 8 - thread_type.sizeof
        thread = gdb.Value(at).cast(thread_type.pointer()).dereference()
        if int(thread["stack"]) == int(stack):
            found.append(Coroutine(thread, main, view))
        link = link["prev"]
    return found


class Co(gdb.Command):
    """Coroutines: co list, co bt NUMBER|ID|all, co count."""

    def __init__(self):
        super().__init__("co", gdb.COMMAND_STACK, prefix=True)


def worker_column(found):
    """Returns a function that formats the worker column; None: the heading. "" with a single worker."""
    if len({co.worker for co in found}) < 2:
        return lambda co: ""
    return lambda co: f"{'w' if co is None else co.worker:>2} "


class CoList(gdb.Command):
    """co list: number, worker (if several), name, id, state, bytes of stack in use, position (innermost first)."""

    def __init__(self):
        super().__init__("co list", gdb.COMMAND_STACK)

    def invoke(self, arg, from_tty):
        found = coroutines()
        worker = worker_column(found)
        print(f"{'no':>4} {worker(None)}{'name':<12} {'id':<8} {'state':<7} {'stack':>6} where")
        for n, co in enumerate(found):
            state = "runs" if co.runs else co.state
            print(f"{n:>4} {worker(co)}{co.name:<12} {co.cid:<8} {state:<7} {co.used():>6} {co.where()}")


class CoCount(gdb.Command):
    """co count: number of coroutines by name and position."""

    def __init__(self):
        super().__init__("co count", gdb.COMMAND_STACK)

    def invoke(self, arg, from_tty):
        groups = {}
        for co in coroutines():
            key = (co.name, co.where())
            groups[key] = groups.get(key, 0) + 1
        for (name, where), n in sorted(groups.items(), key=lambda g: -g[1]):
            print(f"{n:>6} {name:<12} {where}")


class CoBt(gdb.Command):
    """co bt NUMBER | ID | all: prints the stack of a coroutine."""

    def __init__(self):
        super().__init__("co bt", gdb.COMMAND_STACK)

    def invoke(self, arg, from_tty):
        want = arg.strip()
        if not want:
            raise gdb.GdbError("co bt NUMBER | ID | all")
        hit = False
        found = coroutines()
        worker = worker_column(found)
        for n, co in enumerate(found):
            if want in ("all", str(n)) or (co.cid and want == co.cid):
                hit = True
                print(f"{n} {worker(co)}{co.name} {co.cid}")
                with At(co) as at:
                    print(at.text())
        if not hit:
            raise gdb.GdbError(f"no coroutine {want}")


gdb.unwinder.register_unwinder(None, At.unwinder, replace=True)
Co()
CoList()
CoCount()
CoBt()
