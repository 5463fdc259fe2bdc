# SPDX-License-Identifier: Apache-2.0
"""The OpenMP threads of a program that runs on weft, for gdb (docs/how-to/debug.md).

    (gdb) source PREFIX/lib/weft/weft-gdb.py
    (gdb) weft threads

gdb itself knows the OS threads, of which each shows only the OpenMP thread that it runs at the moment. Those that are
suspended are found in the runtime's tables. Their frames are shown by an unwinder that tells gdb, while it is asked to, that
the caller of the innermost frame is the suspended one: no register and no memory of the program is written, so that core
dumps work as well.

A thread that waits has usually stopped in a function that the compiler has inlined. gdb shows each of these as a frame
of its own, in front of the frame that has the registers. So the innermost frame is known by its registers, not by its
level.
"""

import gdb
from gdb.unwinder import Unwinder

LIBRARIES = ("libgomp.so", "libomp.so", "libiomp5.so")

# What jump_fcontext of Boost.Context leaves at the saved stack pointer on x86-64.
SAVED_REGISTERS = {"r12": 0x08, "r13": 0x10, "r14": 0x18, "r15": 0x20, "rbx": 0x28, "rbp": 0x30, "rip": 0x38}
SAVED_BYTES = 0x40

# core::Token and core::Departure
TOKEN_SUSPENDED = 2
TOKEN_SLEEPING = 3
DEPARTURE_IDLE = 4
DEPARTURE_QUEUE = 2
DEPARTURE_NONE = 0
DEPARTURE_ELSEWHERE = 5


class Failure(gdb.GdbError):
    """Told to the user as it is, without a trace."""


def atomic(value):
    """What a std::atomic of libstdc++ holds."""
    while value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        # std::atomic<bool> and <T*> hold an __atomic_base, the integers inherit from one.
        value = value[
            next(
                field
                for field in value.type.strip_typedefs().fields()
                if not hasattr(field, "enumval") and (field.is_base_class or field.name in ("_M_b", "_M_p", "_M_i"))
            )
        ]
    return value


def lookup(name):
    try:
        return gdb.parse_and_eval(name)
    except gdb.error:
        pass
    # The selected frame may be in another namespace of the dynamic linker, as that of the audit library is.
    for objfile in gdb.objfiles():
        symbol = objfile.lookup_global_symbol(name.strip("'"))
        if symbol is not None:
            return symbol.value()
    return None


def the_pool():
    if gdb.selected_thread() is None:
        raise Failure("weft: no process or core file")
    pool = lookup("'weft::core::g_pool'")
    if pool is None:
        raise Failure("weft: the program does not use weft, or the library was stripped of its debug information")
    pool = atomic(pool)
    if int(pool) == 0:
        raise Failure("weft: no parallel region has begun yet")
    return pool.dereference()


class Context:
    """A weft::core::Context with its name in the list: a number, or cN for the own context of carrier N."""

    def __init__(self, name, value):
        self.name = name
        self.value = value
        self.thread_pointer = int(value["thread_pointer"])
        self.thread = None  # the gdb.InferiorThread that runs it now

    @property
    def departure(self):
        return int(self.value["departure"])

    @property
    def is_free(self):
        return self.thread is None and self.departure == DEPARTURE_IDLE or int(self.value["stack_pointer"]) == 0

    def state(self):
        if self.thread is not None:
            sleeping = int(atomic(self.value["token"])) == TOKEN_SLEEPING
            return f"{'asleep' if sleeping else 'on'} LWP {self.thread.ptid[1]} (thread {self.thread.num})"
        if self.is_free:
            return "free"
        if self.departure in (DEPARTURE_NONE, DEPARTURE_ELSEWHERE):
            return "new"
        if self.departure == DEPARTURE_QUEUE:
            queue = self.value["queue"].dereference()
            return "suspended" if int(atomic(queue["releases_"])) == int(self.value["ticket"]) else "ready"
        return "suspended" if int(atomic(self.value["token"])) == TOKEN_SUSPENDED else "ready"

    def member(self):
        """The weft::openmp::Member that it is, or None: read from its thread-local data."""
        # With a tool of OMPT it stands in the second of the two.
        for name in ("g_member_offset", "g_reported_member_offset"):
            offset = lookup(f"'weft::openmp::{name}'")
            if offset is None:
                return None
            member_type = gdb.lookup_type("weft::openmp::Member").pointer()
            member = gdb.Value(self.thread_pointer + int(offset)).cast(member_type.pointer()).dereference()
            if int(member) != 0:
                return member.dereference()
        return None

    def frames(self):
        """Its frames, innermost first; each holds until the next is asked for."""
        if self.thread is not None:
            with UNWINDER.pretending(None), selected(self.thread):
                yield from outwards(gdb.newest_frame())
        else:
            with UNWINDER.pretending(self):
                yield from outwards(innermost_with_registers().older())


def innermost_with_registers():
    """The innermost frame of the selected thread behind those of functions that the compiler has put inside it."""
    frame = gdb.newest_frame()
    while frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    return frame


def outwards(frame):
    # Beyond the first frame of a context there is a return address of zero.
    while frame is not None and frame.pc() != 0:
        yield frame
        frame = frame.older()


class selected:
    """Another thread for a while."""

    def __init__(self, thread):
        self.thread = thread

    def __enter__(self):
        self.before = gdb.selected_thread()
        self.thread.switch()

    def __exit__(self, *_):
        self.before.switch()


class SuspendedFrames(Unwinder):
    """Puts the frames of a suspended context behind the innermost frame of the selected thread."""

    def __init__(self):
        super().__init__("weft")
        self.context = None
        self.stopped_at = {}  # by thread: its stack pointer and program counter, while the program stands still

    def __call__(self, pending):
        if self.context is None:
            return None
        # At any level: inlined functions come first. No frame further out has the same stack pointer.
        here = (unsigned(pending.read_register("rsp")), unsigned(pending.read_register("rip")))
        if self.stopped_at.get(gdb.selected_thread().ptid) != here:
            return None
        saved = int(self.context.value["stack_pointer"])
        word = gdb.lookup_type("unsigned long")
        above = saved + SAVED_BYTES
        stack = gdb.Value(above).cast(word.pointer())
        unwound = pending.create_unwind_info(FrameId(stack, pending.read_register("pc")))
        for register, offset in SAVED_REGISTERS.items():
            unwound.add_saved_register(register, gdb.Value(saved + offset).cast(word.pointer()).dereference())
        unwound.add_saved_register("rsp", gdb.Value(above).cast(word))
        return unwound

    def show(self, context):
        if context is not None and not self.stopped_at:
            self.note_threads()
        self.context = context
        gdb.invalidate_cached_frames()

    def note_threads(self):
        """Asks gdb where each thread has stopped, which it must not be asked while it unwinds."""
        for thread in gdb.selected_inferior().threads():
            if thread.is_valid():
                with selected(thread):
                    frame = gdb.newest_frame()
                    self.stopped_at[thread.ptid] = (unsigned(frame.read_register("rsp")), frame.pc())

    def forget(self, *_):
        """What a suspended thread looks like holds only while the program stands still."""
        self.context = None
        self.stopped_at = {}
        gdb.invalidate_cached_frames()

    def pretending(self, context):
        return Pretence(self, context)


class Pretence:
    def __init__(self, unwinder, context):
        self.unwinder, self.context = unwinder, context

    def __enter__(self):
        self.before = self.unwinder.context
        self.unwinder.show(self.context)

    def __exit__(self, *_):
        self.unwinder.show(self.before)


def unsigned(value):
    return int(value) & (1 << 64) - 1


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


UNWINDER = SuspendedFrames()
gdb.unwinder.register_unwinder(None, UNWINDER, True)
for ends in (gdb.events.cont, gdb.events.exited, gdb.events.stop):
    ends.connect(UNWINDER.forget)


def own_contexts(pool):
    """(name, weft::core::Context) of the carriers' own ones."""
    for index in range(int(atomic(pool["carrier_count"]))):
        carrier = pool["carriers"]["entries_"][index]
        if int(carrier) == 0:
            continue
        carrier = carrier.dereference()
        yield f"c{index}", carrier["own_context"], carrier


def donated_contexts(pool):
    """The others, oldest first, so that numbers stay."""
    found = []
    donor = pool["contexts"]["made_"]
    while int(donor) != 0:
        found.append(donor.dereference())
        donor = donor["next_made"]
    for number, context in enumerate(reversed(found), 1):
        yield str(number), context


def thread_pointer_of(thread):
    with selected(thread):
        return unsigned(gdb.newest_frame().read_register("fs_base"))


def numbers_of(thread):
    """Its numbers to the kernel: gdb's, and in a container those of the program's namespace, which the runtime has."""
    numbers = {thread.ptid[1]}
    try:
        with open(f"/proc/{thread.ptid[0]}/task/{thread.ptid[1]}/status", encoding="utf-8") as status:
            numbers.update(int(word) for line in status if line.startswith("NSpid:") for word in line.split()[1:])
    except OSError:
        pass  # a core file
    return numbers


def all_contexts():
    pool = the_pool()
    if "x86-64" not in gdb.selected_inferior().architecture().name():
        raise Failure("weft: this extension knows x86-64 only")
    contexts, lwps = [], set()
    for name, value, carrier in own_contexts(pool):
        context = Context(name, value)
        if context.thread_pointer == 0 or int(context.value["carrier"]) == 0:
            continue
        contexts.append(context)
        lwps.add(int(atomic(carrier["thread_id"])))
    contexts += [Context(name, value) for name, value in donated_contexts(pool)]
    running = {}
    with UNWINDER.pretending(None):
        for thread in gdb.selected_inferior().threads():
            if thread.is_valid() and lwps & numbers_of(thread):
                running[thread_pointer_of(thread)] = thread
    for context in contexts:
        context.thread = running.get(context.thread_pointer)
    return contexts


def is_weft(frame):
    library = (gdb.solib_name(frame.pc()) or "").rsplit("/", 1)[-1]
    return library.startswith(LIBRARIES)


def where(context):
    """`what it waits in`, called by `its innermost frame of the program`."""
    called = None
    for frame in context.frames():
        if not is_weft(frame):
            at = f"{name_of(frame)}{source_line(frame)}"
            return f"{called} called by {at}" if called else at
        name = name_of(frame).replace("(anonymous namespace)::", "")
        if not name.startswith(("weft::core::", "make_fcontext")):
            called = name.split("(")[0].replace("weft_abi_", "")
    return called or "-"


def name_of(frame):
    return frame.name() or hex(frame.pc())


def source_line(frame):
    line = frame.find_sal()
    return f" at {line.symtab.filename.rsplit('/', 1)[-1]}:{line.line}" if line.symtab is not None else ""


def describe(context):
    member = context.member()
    if member is None:
        return "-", "-", "-"
    team = member["team"].dereference()
    return (hex(int(team.address)), f"{int(member['number'])}/{int(team['size'])}", str(int(team["level"])))


class WeftCommand(gdb.Command):
    """The OpenMP threads of a program on weft."""

    def __init__(self):
        super().__init__("weft", gdb.COMMAND_STATUS, gdb.COMPLETE_NONE, True)


class ThreadsCommand(gdb.Command):
    """weft threads [all]: lists the contexts, each with its state, team, number in the team, and nesting level.

    Free contexts and workers that have nothing to do are listed with `all` only."""

    def __init__(self):
        super().__init__("weft threads", gdb.COMMAND_STATUS)

    def invoke(self, argument, _from_tty):
        everything = argument.strip() == "all"
        rows = []
        for context in all_contexts():
            team, number, level = describe(context)
            if not everything and (context.is_free or context.thread is not None and team == "-"):
                continue
            place = "-" if context.is_free else where(context)
            rows.append((context.name, context.state(), team, number, level, place))
        heads = ("id", "state", "team", "member", "level", "where")
        widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(5)]
        for row in [heads, *rows]:
            gdb.write("  ".join(text.ljust(width) for text, width in zip(row, [*widths, 0])).rstrip() + "\n")


def find(name):
    for context in all_contexts():
        if context.name == name:
            if context.is_free:
                raise Failure(f"weft: context {name} is free: it has no frames of the program")
            return context
    raise Failure(f"weft: no context {name}; see `weft threads all`")


class BacktraceCommand(gdb.Command):
    """weft backtrace ID|all: the frames of a context of `weft threads`, wherever it runs or waits."""

    def __init__(self):
        super().__init__("weft backtrace", gdb.COMMAND_STACK)

    def invoke(self, argument, _from_tty):
        name = argument.strip()
        if not name:
            raise Failure("weft: whose? `weft backtrace ID` or `weft backtrace all`")
        chosen = [c for c in all_contexts() if not c.is_free] if name == "all" else [find(name)]
        for context in chosen:
            team, number, level = describe(context)
            gdb.write(f"{context.name}: {context.state()}, team {team}, member {number}, level {level}\n")
            for depth, frame in enumerate(context.frames()):
                gdb.write(f"#{depth:<2} {name_of(frame)}{source_line(frame)}\n")


class ShowCommand(gdb.Command):
    """weft show ID: lets backtrace, frame, up, info locals and print look at a suspended context, until the program goes on.

    The first frames remain those of the function in which the selected OS thread has stopped; the context's come behind
    them. `weft show` alone ends it."""

    def __init__(self):
        super().__init__("weft show", gdb.COMMAND_STACK)

    def invoke(self, argument, _from_tty):
        name = argument.strip()
        if not name:
            UNWINDER.show(None)
            return
        context = find(name)
        if context.thread is not None:
            UNWINDER.show(None)
            context.thread.switch()
            return
        UNWINDER.show(context)
        innermost_with_registers().older().select()


WeftCommand()
ThreadsCommand()
BacktraceCommand()
ShowCommand()
