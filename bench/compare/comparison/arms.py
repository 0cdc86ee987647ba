"""What is measured side by side: each arm's name, where it applies, and the commands that run it."""
import dataclasses
import os

COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "barrier")
MODES = ("shm", "shm-allocated", "tcp")
SHARED_OUT = ("all_gather", "reduce_scatter", "all_to_all")  # each rank has a part of the size
STRATA, STRATA_AGAIN = "strata", "strata-again"  # the same program twice a round: what differs is noise
LIMIT_PREFIX = "limit:"
FLOAT_BYTES = 4
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

    def oversubscribed(self):
        return self.ranks > self.cores

    def arguments(self, samples_min=None):
        return ["--collective", self.collective, "--sizes", ",".join(map(str, self.sizes)), "--seconds",
                str(self.seconds), "--samples-min", str(samples_min or self.samples_min), "--touched",
                str(int(self.touched))]


@dataclasses.dataclass(frozen=True)
class Arm:
    """command: a function of the job that gives one argument list for each process to start."""
    name: str
    peer: str  # as --peers names it
    modes: tuple
    command: object
    collectives: tuple = COLLECTIVES
    environment: dict = dataclasses.field(default_factory=dict)
    ranks_max: int = 1 << 10
    tuned: bool = False
    cores_only: bool = False  # it polls without end: no more ranks than cores
    namespace: bool = False   # runs in a network namespace whose congestion control is reno

    def applies(self, collective, ranks, mode, cores):
        fits = ranks <= self.ranks_max and not (self.cores_only and ranks > cores)
        return collective in self.collectives and mode in self.modes and fits


def bytes_of(collective, size, ranks):
    """What a size is rounded to: whole elements, at least one for each rank that has a part of it."""
    if collective == "barrier":
        return 0
    unit = FLOAT_BYTES * ranks if collective in SHARED_OUT else FLOAT_BYTES
    return max(unit, size // unit * unit)


def strata(job):
    transport = "tcp" if job.mode == "tcp" else "shm"
    binding = BIND_TO_CORE if job.bound and not job.oversubscribed() else []
    command = [job.programs["strata-run"], "-n", str(job.ranks), "--no-prefix", "--only-rank", "0", "--", *binding,
               job.programs["strata-perf"], job.collective, "--sampled", str(job.seconds), "--transport", transport,
               "--memory", "shared" if job.mode == "shm-allocated" else "private",
               "--csv", os.path.join(job.folder, "strata.csv")]
    if job.collective != "barrier":
        command += ["--sizes", ",".join(map(str, job.sizes))]
    return [command if job.touched else command + ["--untouched"]]


def mpi_memory(job):
    return ["--memory", "mpi" if job.mode == "shm-allocated" else "private"]


def openmpi(*options):
    def command(job):
        launch = ["mpirun.openmpi", "-np", str(job.ranks)]
        if os.geteuid() == 0:
            launch.append("--allow-run-as-root")
        if job.oversubscribed():
            launch += ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
        else:
            launch += ["--bind-to", "core"]
        return [launch + list(options) + [job.programs["openmpi"]] + job.arguments() + mpi_memory(job)]
    return command


def mca(*pairs):
    return [word for name, value in pairs for word in ("--mca", name, value)]


def mpich(job):
    binding = [] if job.oversubscribed() else ["-bind-to", "core"]
    # It polls without ever yielding: with more ranks than cores a call takes whole time slices.
    samples_min = min(5, job.samples_min) if job.oversubscribed() else None
    return [["mpirun.mpich", "-np", str(job.ranks), *binding, job.programs["mpich"], *job.arguments(samples_min),
             *mpi_memory(job)]]


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


def limit(job):
    kind = {"shm": "private", "shm-allocated": "shared", "tcp": "tcp", "memory": "memory"}[job.mode]
    return [[job.programs["limits"], "--kind", kind, *job.arguments()]]


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
    Arm("openmpi", "openmpi", SHM, openmpi()),
    Arm("openmpi-ucx", "openmpi-ucx", SHM, openmpi(*UCX)),
    Arm("mpich", "mpich", SHM, mpich),
    Arm("openmpi", "openmpi", ("tcp",), openmpi(*LOOPBACK)),
    Arm("openmpi-ucx", "openmpi-ucx", ("tcp",), openmpi(*UCX), environment=UCX_LOOPBACK),
    Arm("mpich", "mpich", ("tcp",), mpich, environment={"MPIR_CVAR_NOLOCAL": "1", **UCX_LOOPBACK}),
    Arm("gloo", "gloo", ("tcp",), gloo("ring")),
    Arm("gloo-bcube", "gloo", ("tcp",), gloo("bcube"), ALL_REDUCE),
    Arm("gloo-ring-chunked", "gloo", ("tcp",), gloo("ring-chunked"), ALL_REDUCE),
    Arm("gloo-halving-doubling", "gloo", ("tcp",), gloo("halving-doubling"), ALL_REDUCE),
    Arm("torch-gloo", "torch", ("tcp",), torch),

    Arm("openmpi+sm", "openmpi", SHM, openmpi(*mca(("coll_sm_priority", "100"))),
        ("all_reduce", "broadcast", "reduce", "barrier"), tuned=True),
    Arm("openmpi+ring", "openmpi", SHM, openmpi(*SEGMENTED_RING), ALL_REDUCE, tuned=True),
    Arm("openmpi+malloc", "openmpi", SHM, openmpi("-x", "GLIBC_TUNABLES"), REDUCING, KEPT_MEMORY, tuned=True),
    Arm("openmpi+malloc+ring", "openmpi", SHM, openmpi("-x", "GLIBC_TUNABLES", *SEGMENTED_RING), ALL_REDUCE,
        KEPT_MEMORY, tuned=True),
    Arm("mpich+malloc", "mpich", SHM, mpich, REDUCING, KEPT_MEMORY, tuned=True, cores_only=True),
    Arm("mpich+release-gather", "mpich", SHM, mpich, ("all_reduce", "broadcast", "reduce"), RELEASE_GATHER,
        tuned=True, cores_only=True),
    Arm("gloo-ring-chunked+sync", "gloo", ("tcp",), gloo("ring-chunked", sync=True), OLDER, tuned=True,
        cores_only=True),
    Arm("gloo-halving-doubling+sync", "gloo", ("tcp",), gloo("halving-doubling", sync=True), OLDER, tuned=True,
        cores_only=True),
    Arm("openmpi+reno", "openmpi", ("tcp",), openmpi(*LOOPBACK), tuned=True, namespace=True),
    Arm("gloo-halving-doubling+sync+reno", "gloo", ("tcp",), gloo("halving-doubling", sync=True), OLDER, tuned=True,
        cores_only=True, namespace=True),
)
PEERS = tuple(dict.fromkeys(arm.peer for arm in ARMS))
LIMITS = Arm("limit", "limits", MODES, limit, ALL_REDUCE, ranks_max=2)
MEMORY = Arm("limit", "limits", ("memory",), limit, ("copy",), ranks_max=2)


def arms_for(collective, ranks, mode, peers, tuned, cores, round_number):
    """The arms of one block, in the order in which they are run: Strata first and again half-way, rotated by round."""
    chosen = [arm for arm in ARMS
              if arm.peer in peers and (tuned or not arm.tuned) and arm.applies(collective, ranks, mode, cores)]
    if "limits" in peers and ranks == 2 and LIMITS.applies(collective, ranks, mode, cores):
        chosen.append(LIMITS)
    half = (len(chosen) + 1) // 2
    order = [Arm(STRATA, "strata", MODES, strata), *chosen[:half], Arm(STRATA_AGAIN, "strata", MODES, strata),
             *chosen[half:]]
    turn = (round_number - 1) % len(order)
    return order[turn:] + order[:turn]
