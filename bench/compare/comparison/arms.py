"""What is measured side by side: each arm's name, where it applies, and the commands that run it."""
import dataclasses
import os

COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "barrier")
POINT_TO_POINT = ("ping_pong", "send")  # of two ranks: a message at a time, and a window of them
MEASURED = (*COLLECTIVES, *POINT_TO_POINT)
STREAMS = "tcp-2-streams"  # two connections to each peer, for `send`
MODES = ("shm", "shm-allocated", "tcp", STREAMS)
SHARED_OUT = ("all_gather", "reduce_scatter", "all_to_all")  # each rank has a part of the size
STRATA, STRATA_AGAIN = "strata", "strata-again"  # the same program twice a round: what differs is noise
LIMIT_PREFIX = "limit:"
LIMIT = LIMIT_PREFIX + "composed"
ROUNDS = LIMIT_PREFIX + "rounds"  # what recursive doubling would take if each rank had a core of its own
LIMITS = "limits"  # in place of a collective: the machine's
FLOAT_BYTES = 4
STREAM_BYTES_MIN = 64 << 10  # what has no messages is measured from here on
MANY = 16  # ranks, for small all-reduces only
LARGE_BYTES = 16 << 20  # from here on, a call takes so long that the first round has to do
BIND_TO_CORE = ["sh", "-c", 'exec taskset -c "$LOCAL_RANK" "$@"', "sh"]
SHM = ("shm", "shm-allocated")


@dataclasses.dataclass(frozen=True)
class Job:
    """What an arm is asked to measure in one segment. folder: empty, its own. programs: {name: path}.

    bound: Strata's ranks are bound to a core each, as the MPIs' launchers do; strata-run does not.
    """
    collective: str
    sizes: tuple  # bytes, as bytes_of() gives them
    ranks: int
    mode: str
    seconds: float
    samples_min: int
    touched: bool
    bound: bool
    cores: int
    programs: dict
    folder: str
    checked: bool = True  # Strata's results; it takes as long as the measuring

    def oversubscribed(self):
        return self.ranks > self.cores

    def arguments(self):
        return ["--collective", self.collective, *self.timing()]

    def timing(self):
        return ["--sizes", ",".join(map(str, self.sizes)), "--seconds", str(self.seconds), "--samples-min",
                str(self.samples_min), "--touched", str(int(self.touched))]


@dataclasses.dataclass(frozen=True)
class Arm:
    """command: a function of the job that gives one argument list for each process to start."""
    name: str
    peer: str  # as --peers names it
    modes: tuple
    command: object
    collectives: tuple = COLLECTIVES
    environment: dict = dataclasses.field(default_factory=dict)
    tuned: bool = False       # by hand
    once: bool = False        # measured in the first round only
    cores_only: bool = False  # it polls without end: no more ranks than cores
    ranks_max: int = 1 << 10    # more would take too long to start
    bytes_below: int = 1 << 62  # it is measured below this size only,
    bytes_min: int = 0          # and from this one on,
    crowded_bytes_min: int = 0  # and with more ranks than cores from this one
    namespace: bool = False   # runs in a network namespace whose congestion control is reno

    def applies(self, collective, ranks, mode, cores):
        crowds = ranks > cores and (self.cores_only or collective == "barrier" and self.crowded_bytes_min)
        return collective in self.collectives and mode in self.modes and not crowds

    def sizes_of(self, sizes, ranks, cores):
        least = max(self.bytes_min, self.crowded_bytes_min if ranks > cores else 0)
        return [size for size in sizes if least <= size < self.bytes_below]


def bytes_of(collective, size, ranks):
    """What a size is rounded to: whole elements, at least one for each rank that has a part of it."""
    if collective == "barrier":
        return 0
    if collective == LIMITS:
        return size
    unit = FLOAT_BYTES * ranks if collective in SHARED_OUT else FLOAT_BYTES
    return max(unit, size // unit * unit)


def strata(job):
    transport = "shm" if job.mode in SHM else "tcp"
    binding = BIND_TO_CORE if job.bound and not job.oversubscribed() else []
    command = [job.programs["strata-run"], "-n", str(job.ranks), "--no-prefix", "--only-rank", "0", "--", *binding,
               job.programs["strata-perf"], job.collective, "--sampled", str(job.seconds), "--transport", transport,
               "--memory", "shared" if job.mode == "shm-allocated" else "private",
               "--check", str(int(job.checked)), "--csv", os.path.join(job.folder, "strata.csv")]
    if job.collective != "barrier":
        command += ["--sizes", ",".join(map(str, job.sizes))]
    return [command if job.touched else command + ["--untouched"]]


def openmpi(*options):
    def command(job):
        launch = ["mpirun.openmpi", "-np", str(job.ranks)]
        if os.geteuid() == 0:
            launch.append("--allow-run-as-root")
        if job.oversubscribed():
            launch += ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
        else:
            launch += ["--bind-to", "core"]
        return [launch + list(options) + [job.programs["openmpi"]] + job.arguments()]
    return command


def mca(*pairs):
    return [word for name, value in pairs for word in ("--mca", name, value)]


def mpich(job):
    binding = [] if job.oversubscribed() else ["-bind-to", "core"]
    return [["mpirun.mpich", "-np", str(job.ranks), *binding, job.programs["mpich"], *job.arguments()]]


def gloo(algorithm, sync=False):
    def command(job):
        each = [job.programs["gloo"], "--ranks", str(job.ranks), "--store", job.folder, "--algorithm", algorithm,
                "--sync", str(int(sync)), *job.arguments()]
        pinned = (lambda rank: ["taskset", "-c", str(rank % job.cores)]) if sync else (lambda rank: [])
        return [pinned(rank) + each + ["--rank", str(rank)] for rank in range(job.ranks)]
    return command


def torch(job):
    each = ["/usr/bin/python3", job.programs["torch"], "--ranks", str(job.ranks), "--store", job.folder,
            *job.arguments()]
    return [each + ["--rank", str(rank)] for rank in range(job.ranks)]


def iperf3(streams):
    return lambda job: [["/usr/bin/python3", job.programs["iperf3"], "--streams", str(streams), *job.arguments()]]


def workers_of(mode, ranks, cores):
    """How many processes measure the limits of so many ranks; over TCP they work in pairs."""
    workers = min(ranks, cores)
    return workers if mode in SHM else max(2, workers // 2 * 2)


def limits(job):
    workers = workers_of(job.mode, job.ranks, job.cores)
    return [[job.programs["limits"], "--kind", "memory" if job.mode in SHM else "tcp", "--workers", str(workers),
             *dataclasses.replace(job, touched=False).timing()]]


UCX = mca(("pml", "ucx"), ("osc", "ucx"), ("opal_common_ucx_tls", "any"), ("opal_common_ucx_devices", "any"))
LOOPBACK = mca(("btl", "tcp,self"), ("btl_tcp_if_include", "lo"))
UCX_LOOPBACK = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}
SEGMENTED_RING = mca(("coll_tuned_use_dynamic_rules", "1"), ("coll_tuned_allreduce_algorithm", "5"),
                     ("coll_tuned_allreduce_algorithm_segmentsize", "131072"))
# The MPIs map and unmap temporary buffers in every call; with these limits glibc keeps the memory.
KEPT_MEMORY = {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296:"
                                 "glibc.malloc.top_pad=268435456"}
RELEASE_GATHER = {f"MPIR_CVAR_{name}_POSIX_INTRA_ALGORITHM": "release_gather"
                  for name in ("ALLREDUCE", "BCAST", "REDUCE")}
REDUCING = ("all_reduce", "reduce_scatter", "reduce")
ALL_REDUCE = ("all_reduce",)
OLDER = ("all_reduce", "reduce_scatter")  # what Gloo's older classes do

ARMS = (
    Arm("openmpi", "openmpi", SHM, openmpi(), MEASURED),
    Arm("openmpi-ucx", "openmpi-ucx", SHM, openmpi(*UCX), MEASURED),
    Arm("mpich", "mpich", SHM, mpich, MEASURED, crowded_bytes_min=LARGE_BYTES),
    Arm("openmpi", "openmpi", ("tcp",), openmpi(*LOOPBACK), MEASURED),
    Arm("openmpi-ucx", "openmpi-ucx", ("tcp",), openmpi(*UCX), MEASURED, environment=UCX_LOOPBACK),
    Arm("mpich", "mpich", ("tcp",), mpich, MEASURED, {"MPIR_CVAR_NOLOCAL": "1", **UCX_LOOPBACK},
        crowded_bytes_min=LARGE_BYTES),
    Arm("gloo", "gloo", ("tcp",), gloo("ring")),
    Arm("gloo-bcube", "gloo", ("tcp",), gloo("bcube"), ALL_REDUCE),
    Arm("gloo-ring-chunked", "gloo", ("tcp",), gloo("ring-chunked"), ALL_REDUCE),
    Arm("gloo-halving-doubling", "gloo", ("tcp",), gloo("halving-doubling"), ALL_REDUCE),
    Arm("torch-gloo", "torch", ("tcp",), torch, once=True, ranks_max=2),
    Arm("iperf3", "iperf3", ("tcp",), iperf3(1), ("send",), once=True, bytes_min=STREAM_BYTES_MIN),
    Arm("iperf3", "iperf3", (STREAMS,), iperf3(2), ("send",), once=True, bytes_min=STREAM_BYTES_MIN),
    Arm("openmpi", "openmpi", (STREAMS,), openmpi(*LOOPBACK, *mca(("btl_tcp_links", "2"))), ("send",)),

    Arm("openmpi+sm", "openmpi", SHM, openmpi(*mca(("coll_sm_priority", "100"))),
        ("all_reduce", "broadcast", "reduce", "barrier"), tuned=True, bytes_below=LARGE_BYTES),
    Arm("openmpi+malloc", "openmpi", SHM, openmpi("-x", "GLIBC_TUNABLES"), REDUCING, KEPT_MEMORY, tuned=True),
    Arm("openmpi+malloc+ring", "openmpi", SHM, openmpi("-x", "GLIBC_TUNABLES", *SEGMENTED_RING), ALL_REDUCE,
        KEPT_MEMORY, tuned=True),
    Arm("mpich+malloc", "mpich", SHM, mpich, REDUCING, KEPT_MEMORY, tuned=True, cores_only=True),
    Arm("mpich+release-gather", "mpich", SHM, mpich, ("all_reduce", "broadcast", "reduce"), RELEASE_GATHER,
        tuned=True, cores_only=True, bytes_below=LARGE_BYTES),
    Arm("gloo-ring-chunked+sync", "gloo", ("tcp",), gloo("ring-chunked", sync=True), OLDER, tuned=True,
        cores_only=True),
    # Of 64 MiB the next two do not end within a minute.
    Arm("gloo-halving-doubling+sync", "gloo", ("tcp",), gloo("halving-doubling", sync=True), OLDER, tuned=True,
        cores_only=True, bytes_below=LARGE_BYTES),
    Arm("openmpi+reno", "openmpi", ("tcp",), openmpi(*LOOPBACK), tuned=True, namespace=True),
    Arm("gloo-halving-doubling+sync+reno", "gloo", ("tcp",), gloo("halving-doubling", sync=True), OLDER, tuned=True,
        cores_only=True, namespace=True, bytes_below=LARGE_BYTES),
)
PEERS = tuple(dict.fromkeys(arm.peer for arm in ARMS))
LIMIT_ARM = Arm("limit", "limits", MODES, limits)


def goes_with(collective, ranks, mode):
    """Messages are of two ranks, and only windows of them are compared over several connections."""
    if mode == STREAMS:
        return collective == "send" and ranks == 2
    return collective not in POINT_TO_POINT or ranks == 2


def arms_for(collective, ranks, modes, peers, tuned, cores, round_number):
    """(arm, mode) of one block, in the order in which they are run: Strata in each mode, first and again half-way,
    rotated by round. Several modes differ in Strata's buffers only: in the first alone are peers measured, and messages.
    """
    if collective in POINT_TO_POINT:
        modes = modes[:1]
    chosen = [(arm, modes[0]) for arm in ARMS
              if arm.peer in peers and (tuned or not arm.tuned) and (round_number == 1 or not (arm.once or arm.tuned))
              and arm.applies(collective, ranks, modes[0], cores) and ranks <= arm.ranks_max]
    half = (len(chosen) + 1) // 2
    environment = {"STRATA_TCP_STREAMS": "2"} if modes[0] == STREAMS else {}
    first, again = ([(Arm(name, "strata", MODES, strata, environment=environment), mode) for mode in modes]
                    for name in (STRATA, STRATA_AGAIN))
    order = [*first, *chosen[:half], *again, *chosen[half:]]
    turn = (round_number - 1) % len(order)
    return order[turn:] + order[:turn]
