# SPDX-License-Identifier: Apache-2.0
"""Reports as `weft report --json` writes them (docs/explanation/report.md), of runs that are made up.

A made-up run is played tick by tick: each CPU's track says what it did, and the same ticks are added up to the work
and the losses of the sites. So the parts of a report agree with each other, as those of a real one do.

    sample.py small|big|odd|quiet|busy|hung|ranks|empty > FILE
"""

import json
import math
import random
import sys

IDLE, WORK, RUNTIME, WAIT, BLOCKED = range(5)
LOSSES = ["serial", "imbalance", "synchronisation", "overhead", "few_threads", "transfer", "blocked"]


class MadeUpRun:
    def __init__(self, cpus, ticks, tick, seed):
        self.random = random.Random(seed)
        self.cpus, self.ticks, self.tick = cpus, ticks, tick
        self.sites = []
        self.tracks = [[] for _ in range(cpus)]
        self.now = 0

    def site(self, kind, parent=0, file="", line=0, function="", library="", **more):
        """Adds a site and returns its number."""
        offset = 0x1000 + 0x40 * len(self.sites)
        binary = library or "/home/user/heat/heat"
        name = f"{file.rsplit('/', 1)[-1]}:{line}" if file else f"{function} ({library.rsplit('/', 1)[-1]})"
        level = 0
        if kind == "region":
            above = parent
            while above > 0:
                level += self.sites[above]["kind"] == "region"
                above = self.sites[above]["parent"]
        self.sites.append(
            {
                "parent": -1 if not self.sites else parent,
                "kind": kind,
                "name": more.pop("name", name),
                "place": {"file": file, "line": line, "function": function, "object": binary, "offset": offset},
                "schedule": "",
                "count": 0,
                "iterations": 0,
                "pieces": 0,
                "stolen": 0,
                "members": 0,
                "requested": 0,
                "level": level,
                "wall": 0.0,
                "useful": 0.0,
                "lost": dict.fromkeys(LOSSES, 0.0),
                "lengths": {"timed": 0, "mean": 0.0, "histogram": [0] * 40},
            }
        )
        self.sites[-1].update(more)
        return len(self.sites) - 1

    def put(self, cpu, ticks, site, doing, loss=None, blame=None):
        """One CPU does one thing for some ticks; what is not work is charged to `blame`."""
        if ticks <= 0:
            return
        track = self.tracks[cpu]
        if track and track[-1][1:] == [site, doing]:
            track[-1][0] += ticks
        else:
            track.append([ticks, site, doing])
        if doing == WORK:
            self.sites[site]["useful"] += ticks * self.tick
        else:
            self.sites[site if blame is None else blame]["lost"][loss] += ticks * self.tick

    def serial(self, site, ticks):
        """One CPU works, the others have nothing to do."""
        ticks = min(ticks, self.ticks - self.now)
        self.put(0, ticks, site, WORK)
        for cpu in range(1, self.cpus):
            self.put(cpu, ticks, 0, IDLE, "serial", site)
        self.sites[site]["count"] += 1
        self.sites[site]["wall"] += ticks * self.tick
        self.now += ticks

    def awaited(self, site, ticks):
        """Nobody works: a message is awaited."""
        ticks = min(ticks, self.ticks - self.now)
        self.put(0, ticks, site, WAIT, "transfer")
        for cpu in range(1, self.cpus):
            self.put(cpu, ticks, 0, IDLE, "transfer", site)
        self.sites[site]["count"] += 1
        self.sites[site]["wall"] += ticks * self.tick
        self.now += ticks

    def region(
        self,
        region,
        inner,
        ticks,
        members=None,
        uneven=0.0,
        overhead=0.0,
        lock=None,
        locked=0.0,
        blocked=0.0,
        steps=6,
        begin=True,
    ):
        """All members work at the constructs `inner`, in turn, each for a time of its own."""
        ticks = min(ticks, self.ticks - self.now)
        members = members or self.cpus
        for cpu in range(self.cpus):
            if cpu >= members:
                self.put(cpu, ticks, 0, IDLE, "few_threads", region)
                continue
            busy = max(1, round(ticks * (1 - uneven * self.random.random()))) if uneven else ticks
            left = busy
            while left > 0:
                construct = self.random.choice(inner)
                part = min(left, max(1, round(busy / steps * self.random.uniform(0.5, 1.5))))
                over = round(part * overhead * self.random.uniform(0, 2))
                wait = round(part * locked * self.random.uniform(0, 2)) if lock is not None else 0
                gone = round(part * blocked * self.random.uniform(0, 2))
                over, wait = min(over, part), min(wait, max(0, part - over))
                gone = min(gone, part - over - wait)
                self.put(cpu, part - over - wait - gone, construct, WORK)
                self.put(cpu, over, construct, RUNTIME, "overhead")
                if wait:
                    self.put(cpu, wait, lock, WAIT, "synchronisation")
                self.put(cpu, gone, construct, BLOCKED, "blocked")
                left -= part
            self.put(cpu, ticks - busy, region, WAIT, "imbalance", inner[0])
        for construct in {region, *inner} if begin else set(inner):
            self.sites[construct]["count"] += 1
            self.sites[construct]["wall"] += ticks * self.tick
            if self.sites[construct]["members"] == 0:
                self.sites[construct]["members"] = members
                self.sites[construct]["requested"] = members
        self.now += ticks

    def lengths(self, site, mean, pieces, spread=0.6):
        """Gives the site pieces around the mean, with a logarithmic spread."""
        histogram = [0.0] * 40
        for i in range(40):
            middle = math.log(1.5 * 2**i * 1e-9)
            histogram[i] = math.exp(-(((middle - math.log(mean)) / spread) ** 2) / 2)
        whole = sum(histogram)
        histogram = [round(part / whole * pieces) for part in histogram]
        self.sites[site]["lengths"] = {"timed": max(1, pieces // 16), "mean": mean, "histogram": histogram}

    def inside(self, root):
        """The sites from `root` down."""
        found = [root]
        for number, site in enumerate(self.sites):
            if number != root and site["parent"] in found and number not in found:
                found.append(number)
        return found

    def factors(self, sites, whole):
        lost = {loss: sum(self.sites[i]["lost"][loss] for i in sites) / (whole or 1) for loss in LOSSES}
        return {"parallel_efficiency": 1 - sum(lost.values()), **{loss: 1 - part for loss, part in lost.items()}}

    def report(self, command, advice, messages=(), threads=(), notes=(), **run):
        seconds = self.ticks * self.tick
        whole = seconds * self.cpus
        assert self.now == self.ticks and all(sum(s[0] for s in track) == self.ticks for track in self.tracks)
        for number, site in enumerate(self.sites):
            if site["kind"] == "region":
                inside = self.inside(number)
                own = sum(self.sites[i]["useful"] + sum(self.sites[i]["lost"].values()) for i in inside)
                site["factors"] = self.factors(inside, own) if own else {}
        self.sites[0]["wall"] = seconds
        self.sites[0]["count"] = 1
        base = {
            "command": command,
            "host": "node017",
            "began": "2026-03-05T14:02:11Z",
            "version": "weft 1.2.3",
            "seconds": seconds,
            "cpus": self.cpus,
            "exit_code": 0,
            "process": 48213,
            "rank": -1,
            "ranks": 0,
            "samples": self.ticks,
            "period": self.tick,
            "settings": {"OMP_NUM_THREADS": str(self.cpus), "OMP_SCHEDULE": "static"},
            "memory_nodes": 1,
            "memory_on_one_node": 0.0,
            "own_seconds": 0.0,
            "own_cpu_seconds": 0.0,
            "others_cpu": 0.0,
            "node": {"others": 0, "share": 0.0, "held": 0.0, "lent": 0.0, "borrowed": 0.0, "waited": 0.0},
            "notes": list(notes),
        }
        base.update(run)
        report = {
            "format": "weft report 1",
            "run": base,
            "factors": self.factors(range(len(self.sites)), whole),
            "sites": self.sites,
            "timeline": {"tick": self.tick, "cpus": self.tracks},
            "threads": list(threads),
            "messages": list(messages),
            "advice": advice,
        }
        return json.loads(json.dumps(report), parse_float=lambda text: round(float(text), 9))


def small():
    """Eight CPUs, three seconds: a solver with a rank of MPI, nested regions, tasks and most kinds of faults."""
    run = MadeUpRun(cpus=8, ticks=3200, tick=0.001, seed=7)
    home = "/home/user/heat/src/"
    run.site("program", name="heat")
    start = run.site("serial", 0, home + "main.c", 18, "main")
    assemble = run.site("region", 0, home + "assemble.f90", 88, "assemble_matrix")
    rows = run.site("loop", assemble, home + "assemble.f90", 91, "assemble_matrix", schedule="static")
    only = run.site("single", assemble, home + "assemble.f90", 120, "assemble_matrix")
    solve = run.site("region", 0, home + "solver.c", 42, "solve_step")
    relax = run.site("loop", solve, home + "solver.c", 45, "solve_step", schedule="dynamic")
    critical = run.site("critical", solve, home + "solver.c", 61, "solve_step")
    between = run.site("serial", 0, home + "solver.c", 42, "solve_step", name="after solver.c:42")
    tree = run.site("region", 0, home + "tree.cpp", 33, "Tree::walk(Node*)")
    task = run.site("task", tree, home + "tree.cpp", 51, "Tree::visit(Node*, int)")
    lock = run.site("lock", task, home + "tree.cpp", 64, "Tree::insert(Key)")
    dgemm = run.site("region", relax, "", 0, "dgemm_thread_nn", "/usr/lib/libopenblas.so.0")
    tiles = run.site("loop", dgemm, "", 0, "inner_thread", "/usr/lib/libopenblas.so.0", schedule="guided")
    halo = run.site("call", 0, home + "halo.c", 29, "exchange_halo")

    run.serial(start, 240)
    for step in range(10):
        run.region(assemble, [rows], 60, uneven=0.75 if step % 2 else 0.55)
        run.serial(only, 6)
        run.region(solve, [relax], 85, overhead=0.22, lock=critical, locked=0.09, uneven=0.1, steps=12)
        run.region(solve, [tiles], 45, uneven=0.12, overhead=0.02, begin=False, steps=4)
        run.serial(between, 18)
        run.awaited(halo, 9)
        run.region(tree, [task], 62, members=6, overhead=0.16, lock=lock, locked=0.12, blocked=0.03, steps=14)
        run.sites[dgemm]["wall"] += 0.045
        run.sites[dgemm]["count"] += 64
    run.serial(start, run.ticks - run.now)
    run.sites[dgemm].update(members=2, requested=2)
    for site, pieces, stolen, mean, iterations in (
        (rows, 80, 0, 21e-3, 1_200_000),
        (relax, 1_843_200, 412_774, 1.4e-6, 3_686_400),
        (tiles, 5_120, 702, 520e-6, 163_840),
        (task, 912_345, 0, 2.3e-6, 0),
    ):
        run.sites[site].update(pieces=pieces, stolen=stolen, iterations=iterations)
        run.lengths(site, mean, pieces)
    for site, mean in ((assemble, 66e-3), (solve, 130e-3), (tree, 62e-3), (dgemm, 702e-6)):
        run.lengths(site, mean, run.sites[site]["count"], spread=0.4)
    lost = run.sites[rows]["lost"]["imbalance"]
    advice = [
        {
            "kind": "uneven_static",
            "site": rows,
            "title": "The rows of the loop at assemble.f90:91 differ in length, and each member gets a fixed part",
            "evidence": f"{lost:.2f} CPU seconds were spent waiting at the loop's end, "
            f"{lost / 8:.2f} s of the run's time.",
            "action": "Let members that are ready take more rows.",
            "command": "!$omp do schedule(dynamic, 16)",
            "gain": round(0.9 * lost / 8, 6),
        },
        {
            "kind": "small_chunks",
            "site": relax,
            "title": "The chunks of the loop at solver.c:45 are too small",
            "evidence": "A chunk takes 1.4 us on average, and 0.3 us go to dealing it out; 1,843,200 chunks were made.",
            "action": "Take several iterations at once. Sixteen of them make a chunk of about 22 us.",
            "command": "#pragma omp for schedule(dynamic, 16)",
            "gain": 0.141,
        },
        {
            "kind": "serial_part",
            "site": start,
            "title": "One thread works alone before the first region",
            "evidence": "With any number of CPUs the run takes at least 0.59 s.",
            "action": "Read the input by several threads, or while the mesh is built.",
            "command": "",
            "gain": 0.12,
        },
        {
            "kind": "one_node",
            "site": 0,
            "title": "Most memory lies on one node of the machine",
            "evidence": "91 % of the pages are on node 0, and threads ran on both nodes.",
            "action": "Look which arrays these are, then spread them.",
            "command": "weft numa -- ./heat --grid 2048 'two words'",
            "gain": 0,
        },
    ]
    threads = [{"name": f"weft-{i}", "whose": "weft", "cpu": round(2.9 - 0.05 * i, 3)} for i in range(1, 8)]
    threads += [
        {"name": "heat", "whose": "program", "cpu": 3.061},
        {"name": "cuda-EvtHandlr", "whose": "other", "cpu": 0.012},
        {"name": "jemalloc_bg_thd", "whose": "other", "cpu": 0.148},
    ]
    messages = [
        {"call": "MPI_Waitall", "peer": 1, "count": 20, "waited": 0.061},
        {"call": "MPI_Waitall", "peer": 3, "count": 20, "waited": 0.029},
        {"call": "MPI_Recv", "peer": 1, "count": 5, "waited": 0.0007},
        {"call": "MPI_Allreduce", "peer": -1, "count": 11, "waited": 0.0123},
    ]
    notes = ["libopenblas.so.0 has no debug information: functions are named, lines are not."]
    return run.report(
        ["./heat", "--grid", "2048", "two words"],
        advice,
        messages,
        threads,
        notes,
        rank=2,
        ranks=4,
        memory_nodes=2,
        memory_on_one_node=0.91,
    )


def big():
    """192 CPUs, a minute, 300 sites: about four megabytes."""
    run = MadeUpRun(cpus=192, ticks=60000, tick=0.001, seed=11)
    run.site("program", name="climate")
    start = run.site("serial", 0, "/src/climate/main.f90", 40, "climate")
    regions = []
    for r in range(46):
        file, function = f"/src/climate/physics/module_{r % 23:02}.f90", f"physics_step_{r:02}"
        region = run.site("region", 0, file, 100 + 7 * r, function)
        inner = []
        for k in range(4):
            kind = ("loop", "loop", "taskloop", "loop")[k]
            schedule = ("static", "dynamic", "", "guided")[k]
            inner.append(run.site(kind, region, file, 103 + 7 * r + 20 * k, function, schedule=schedule))
        lock = run.site(("critical", "lock", "ordered")[r % 3], inner[1], file, 190 + 7 * r, function)
        regions.append((region, inner, lock))
    between = [run.site("serial", 0, f"/src/climate/io/output_{i}.c", 60 + i, "write_field") for i in range(20)]
    run.site("barrier", regions[0][0], "/src/climate/physics/module_00.f90", 199, "physics_step_00")
    calls = [run.site("call", 0, "/src/climate/halo.c", 20 + 9 * i, "exchange") for i in range(2)]
    run.serial(start, 2200)
    number = 0
    while run.now < run.ticks:
        region, inner, lock = regions[min(45, int(run.random.expovariate(1 / 5)))]
        number += 1
        run.region(
            region,
            inner,
            run.random.randint(150, 420),
            members=192 if number % 9 else 128,
            uneven=run.random.choice([0, 0.05, 0.1, 0.4]),
            overhead=0.04,
            lock=lock,
            locked=0.03,
            blocked=0.004,
            steps=5,
        )
        if number % 3 == 0:
            run.serial(run.random.choice(between), run.random.randint(5, 60))
        if number % 5 == 0:
            run.awaited(calls[number % 2], run.random.randint(3, 25))
    for region, inner, _ in regions:
        for site in inner:
            count = run.sites[site]["count"]
            if count:
                pieces = count * run.random.randint(200, 90_000)
                mean = max(2e-7, run.sites[site]["useful"] / pieces)
                run.sites[site].update(pieces=pieces, stolen=pieces // 5, iterations=pieces * 8)
                run.lengths(site, mean, pieces, spread=run.random.uniform(0.4, 1.6))
        if run.sites[region]["count"]:
            run.lengths(region, run.sites[region]["wall"] / run.sites[region]["count"], run.sites[region]["count"])
    lost = [(sum(site["lost"].values()), i) for i, site in enumerate(run.sites)]
    advice = [
        {
            "kind": "uneven_static" if run.sites[i]["kind"] == "loop" else "serial_part",
            "site": i,
            "title": f"{run.sites[i]['name']} loses {part:.0f} CPU seconds",
            "evidence": f"{part:.1f} CPU seconds are lost here.",
            "action": "Deal out the iterations while the loop runs.",
            "command": "!$omp do schedule(guided)",
            "gain": round(part / 192 * 0.8, 4),
        }
        for part, i in sorted(lost, reverse=True)[:5]
    ]
    threads = [{"name": f"weft-{i}", "whose": "weft", "cpu": round(run.random.uniform(40, 58), 2)} for i in range(191)]
    threads += [{"name": "climate", "whose": "program", "cpu": 58.2}]
    threads += [{"name": f"pool-{i}", "whose": "other", "cpu": round(run.random.uniform(0, 5), 2)} for i in range(24)]
    messages = [
        {"call": ("MPI_Waitall", "MPI_Recv")[peer % 2], "peer": peer, "count": 400 + peer, "waited": 0.02 * peer}
        for peer in range(1, 32)
    ]
    return run.report(["mpirun-child", "./climate", "--days", "30"], advice, messages, threads, rank=0, ranks=32)


HOSTILE = [
    "</script><script>document.title='broken'</script>",
    "<img src=x onerror=\"document.title='broken'\">",
    "<!--<script>",
    "\"quotes\" and 'quotes' & \\backslash\\ `tick` ${1+1}",
    "\u2028 line \u2029 ends \u202e turned",
    "{{x}} %s $& @WEFT_TITLE@ @WEFT_REPORT@",
]


def odd():
    """The small run, in which every text that a user can choose tries to leave its place."""
    report = small()
    for number, site in enumerate(report["sites"]):
        site["name"] = HOSTILE[number % len(HOSTILE)] + f" {number}"
        site["place"]["function"] = HOSTILE[(number + 1) % len(HOSTILE)]
        site["place"]["file"] = "/tmp/" + HOSTILE[(number + 2) % len(HOSTILE)]
    report["run"]["command"] = HOSTILE
    report["run"]["notes"] = HOSTILE
    report["run"]["settings"] = {text: text for text in HOSTILE}
    report["run"]["host"] = HOSTILE[0]
    for number, row in enumerate(report["threads"]):
        row["name"] = HOSTILE[number % len(HOSTILE)]
    for row in report["messages"]:
        row["call"] = HOSTILE[0]
    for number, row in enumerate(report["advice"]):
        row.update({key: HOSTILE[number % len(HOSTILE)] for key in ("title", "evidence", "action", "command")})
    return report


def quiet():
    """A run without faults, messages or notes, of which most was work."""
    run = MadeUpRun(cpus=4, ticks=1000, tick=0.001, seed=3)
    run.site("program", name="axpy")
    start = run.site("serial", 0, "/src/axpy.c", 9, "main")
    region = run.site("region", 0, "/src/axpy.c", 20, "axpy")
    loop = run.site("loop", region, "/src/axpy.c", 20, "axpy", schedule="static")
    run.serial(start, 10)
    run.region(region, [loop], 990, uneven=0.01)
    report = run.report(["./axpy"], [], settings={})
    report["conclusion"] = {"good": True, "text": "no fault of a known kind costs 2 % of the run or more."}
    report["sites"][region]["place"]["excerpt"] = {
        "first": 19,
        "lines": ["void axpy() {", "#pragma omp parallel for", "\tfor (int i = 0; i < n; i++) y[i] += a < b;", "}"],
    }
    return report


def busy():
    """The same on a machine whose CPUs others had."""
    report = quiet()
    report["conclusion"] = {"good": False, "text": "only 3 % was work. Other processes used 3.80 s (95 % of all)."}
    return report


def empty():
    """A program that ended at once: no region, no sample."""
    run = MadeUpRun(cpus=2, ticks=0, tick=0.001, seed=1)
    run.site("program", name="true")
    report = run.report(["/bin/true"], [], exit_code=1, notes=["The program called no OpenMP."])
    report["timeline"]["cpus"] = []
    return report


def ranks():
    """The small one as if of two ranks, the second of which waits for the first."""
    report = small()
    whole = report["run"]["seconds"] * 4
    report["run"].update(rank=-1, ranks=2)
    nothing = dict.fromkeys(LOSSES, 0.0)
    report["ranks"] = [
        {
            "rank": rank,
            "host": f"node{rank}",
            "seconds": report["run"]["seconds"],
            "cpus": 4,
            "parallel_efficiency": useful / whole,
            "useful": useful,
            "lost": nothing | {"transfer": whole - useful},
            "waited": (whole - useful) / 4,
            "exit_code": 0,
        }
        for rank, useful in enumerate((8.0, 6.0))
    ]
    for row in report["messages"]:
        row["rank"] = 1
    for site in report["sites"]:
        if site["kind"] == "call":
            site["callee"] = "MPI_Waitall"
    return report


def hung():
    """A program that was in a deadlock at its end."""
    report = quiet()
    report["headline"] = "3.80 s on weft, 0.02 of 2 CPUs used."
    report["run"]["deadlock"] = [
        "DEADLOCK: 2 threads can never go on. These wait for each other:",
        "  c0 waits for lock 0x10, which c1 has; at solve at model.c:51",
        "  c1 waits for lock 0x20, which c0 has; at solve at model.c:51",
    ]
    return report


SAMPLES = {
    "ranks": ranks,
    "small": small,
    "big": big,
    "odd": odd,
    "quiet": quiet,
    "busy": busy,
    "hung": hung,
    "empty": empty,
}

if __name__ == "__main__":
    json.dump(SAMPLES[sys.argv[1]](), sys.stdout, separators=(",", ":"), ensure_ascii=False)
