"""What takes turns in a lab: each arm's name, and the commands that run it."""
import dataclasses
import os

from comparison.arms import STRATA, STRATA_AGAIN, Arm, mca
from levels.setting import Setting

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The best algorithms that know nothing of hosts.
FLAT = {"all_reduce": "ring", "all_gather": "ring", "reduce_scatter": "ring", "broadcast": "chain", "all_to_all": "pairwise"}
COLLECTIVES = tuple(FLAT)
STRATA_FLAT = "strata-flat"
PEERS = ("openmpi", "gloo")
RAIL = "rail0"
SAMPLES_MIN = 5


@dataclasses.dataclass(frozen=True)
class Job:
    """What an arm is asked to measure in one segment. folder: empty, its own. programs: {name: path}. lab: one that is up."""
    setting: Setting
    collective: str
    sizes: tuple  # bytes, as comparison.arms.bytes_of() gives them
    seconds: float
    programs: dict
    lab: object
    folder: str

    @property
    def mode(self):
        return self.setting.name()

    @property
    def ranks(self):
        return self.setting.ranks()

    def size_list(self):
        return ",".join(map(str, self.sizes))

    def arguments(self):
        """Of the peers' programs."""
        return ["--collective", self.collective, "--sizes", self.size_list(), "--seconds", str(self.seconds),
                "--samples-min", str(SAMPLES_MIN)]


def strata(*perf, run=(), checked=True):
    """perf, run: further options of strata-perf and of strata-run, which starts a lab of its own, of the same shape."""
    def command(job):
        return [[job.programs["strata-run"], "--lab", job.setting.lab(), "--lab-order", job.setting.order, *run, "--no-prefix",
                 "--only-rank", "0", "--", job.programs["strata-perf"], job.collective, "--sizes", job.size_list(), "--sampled",
                 str(job.seconds), "--untouched", "--check", str(int(checked)), "--csv", os.path.join(job.folder, "strata.csv"),
                 *perf]]
    return command


def flat(job):
    return strata("--algorithm", FLAT[job.collective])(job)


def openmpi(job):
    """TCP between hosts, shared memory within. The launcher is on no host, so that it can start daemons on each."""
    hosts = os.path.join(job.folder, "hosts")
    with open(hosts, "w", encoding="ascii") as file:
        file.writelines(f"host{host}\n" for host in job.setting.host_of_ranks())
    agent = f"{os.path.join(HERE, 'mpi_agent')} {job.lab.command} {job.lab.name}"
    return [[*job.lab.in_network_of(0), "mpirun.openmpi", "--allow-run-as-root", "-np", str(job.ranks), "--hostfile", hosts,
             "--map-by", "seq", "--oversubscribe", "--bind-to", "none", "--leave-session-attached",
             *mca(("plm_rsh_agent", agent), ("btl", "tcp,vader,self"), ("btl_tcp_if_include", RAIL), ("oob_tcp_if_include", RAIL),
                  ("mpi_yield_when_idle", "1"), ("orte_tmpdir_base", job.folder)), job.programs["openmpi"], *job.arguments()]]


def gloo(algorithm):
    def command(job):
        return [[*job.lab.on(host), job.programs["gloo"], "--rank", str(rank), "--ranks", str(job.ranks), "--store", job.folder,
                 "--interface", RAIL, "--algorithm", algorithm, *job.arguments()]
                for rank, host in enumerate(job.setting.host_of_ranks())]
    return command


ARMS = (
    Arm(STRATA, "strata", (), strata(), COLLECTIVES),
    Arm("openmpi", "openmpi", (), openmpi, COLLECTIVES),
    Arm(STRATA_FLAT, "strata", (), flat, COLLECTIVES),
    Arm("gloo", "gloo", (), gloo("ring"), COLLECTIVES),
    Arm(STRATA_AGAIN, "strata", (), strata(checked=False), COLLECTIVES),
    Arm("gloo-ring-chunked", "gloo", (), gloo("ring-chunked"), ("all_reduce",)),
)


def arms_for(collective, peers, round_number):
    """In the order in which they are run, which goes round from round to round."""
    return rotated([arm for arm in ARMS if arm.peer in ("strata", *peers) and collective in arm.collectives], round_number)


def rotated(arms, round_number):
    turn = (round_number - 1) % len(arms)
    return arms[turn:] + arms[:turn]
