"""What the samples of all rounds come to: for each cell Strata's figures, the best peer's, the limit's."""
import collections
import dataclasses
import statistics

from comparison.arms import LIMIT, LIMIT_PREFIX, MEASURED, MODES, ROUNDS, STRATA, STRATA_AGAIN


@dataclasses.dataclass(frozen=True)
class Figure:
    """One arm in one cell: medians over the rounds that count."""
    arm: str
    p50_us: float
    p99_us: float
    ratio: float  # its time / Strata's, median of the ratios in each round


@dataclasses.dataclass(frozen=True)
class Cell:
    mode: str
    ranks: int
    collective: str
    size: int
    bytes: int
    p50_us: float
    p99_us: float
    noise: float  # Strata's slower figure of a round / its faster one, the largest of the rounds that count
    cores: str    # where they were in the rounds that count: near, far, moved or mixed
    probe_ns: float
    others_pct: float
    wrong: tuple  # arms whose results were wrong
    peers: tuple  # Figures, fastest first; those with wrong results are not among them
    limit: object  # Figure, or None
    rounds: object  # the same, of limits.rounds_us()

    def best_peer(self):
        return self.peers[0] if self.peers else None

    def is_behind(self):
        return bool(self.peers) and self.peers[0].ratio < 1

    def is_within_noise(self):
        return self.is_behind() and 1 / self.peers[0].ratio <= self.noise

    def busbw_gbs(self):
        return self.bytes / self.p50_us / 1e3 * bus_factor(self.collective, self.ranks) if self.p50_us > 0 else 0.0


def bus_factor(collective, ranks):
    """As nccl-tests: what makes a bandwidth independent of the number of ranks."""
    if collective == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if collective in ("all_gather", "reduce_scatter", "all_to_all") else 1.0


def is_strata(arm):
    return arm in (STRATA, STRATA_AGAIN)


def rounds_that_count(strata, others):
    """The rounds in which the cores were near for both; else those in which they were far; else all that both have."""
    for cores in ("near", "far", None):
        mine, theirs = ({s.round for s in samples if cores in (None, s.cores())} for samples in (strata, others))
        if mine & theirs:
            return cores, mine & theirs
    return None, set()


def in_rounds(samples, cores, rounds):
    return [s for s in samples if s.round in rounds and cores in (None, s.cores())]


def figure_of(arm, samples, strata):
    """None if no round has both."""
    cores, rounds = rounds_that_count(strata, samples)
    if not rounds:
        return None
    mine, theirs = in_rounds(strata, cores, rounds), in_rounds(samples, cores, rounds)
    ratios = [statistics.median(s.p50_us for s in theirs if s.round == r) /
              statistics.median(s.p50_us for s in mine if s.round == r) for r in rounds]
    return Figure(arm, statistics.median(s.p50_us for s in theirs), statistics.median(s.p99_us for s in theirs),
                  statistics.median(ratios))


def noise_of(strata):
    """1 if Strata was measured once a round only."""
    by_round = collections.defaultdict(list)
    for sample in strata:
        by_round[sample.round, sample.cores()].append(sample.p50_us)
    return max((max(times) / min(times) for times in by_round.values() if min(times) > 0), default=1.0)


def cell_of(key, samples):
    """None where Strata was not measured."""
    by_arm = collections.defaultdict(list)
    for sample in samples:
        by_arm[STRATA if is_strata(sample.arm) else sample.arm].append(sample)
    strata = by_arm.pop(STRATA, [])
    if not strata:
        return None
    wrong = tuple(sorted({s.arm for s in samples if not s.right}))
    figures = [figure_of(arm, rows, strata) for arm, rows in by_arm.items() if arm not in wrong]
    figures = sorted((f for f in figures if f), key=lambda f: f.ratio)
    by_name = {figure.arm: figure for figure in figures}
    kind, rounds = rounds_that_count(strata, strata)
    counted = in_rounds(strata, kind, rounds)
    return Cell(*key, bytes=counted[0].bytes, p50_us=statistics.median(s.p50_us for s in counted),
                p99_us=statistics.median(s.p99_us for s in counted), noise=noise_of(counted), cores=kind or "moved",
                probe_ns=statistics.median(s.probe_before_ns for s in counted),
                others_pct=max(s.others_pct for s in counted), wrong=wrong,
                peers=tuple(f for f in figures if not f.arm.startswith(LIMIT_PREFIX)), limit=by_name.get(LIMIT),
                rounds=by_name.get(ROUNDS))


def position(names, name):
    return names.index(name) if name in names else len(names)


def is_peer(arm):
    return not is_strata(arm) and not arm.startswith(LIMIT_PREFIX)


def with_peers_of_shm(grouped):
    """What peers do on Strata's allocated buffers is what they do on any: they are measured once, in the mode shm."""
    for key, samples in grouped.items():
        if key[0] == "shm-allocated" and not any(is_peer(s.arm) for s in samples):
            samples += [s for s in grouped.get(("shm", *key[1:]), ()) if is_peer(s.arm)]


def cells_of(samples):
    """All cells, by mode, ranks, collective and size."""
    grouped = collections.defaultdict(list)
    for sample in samples:
        grouped[sample.cell()].append(sample)
    with_peers_of_shm(grouped)
    keys = sorted(grouped, key=lambda k: (position(MODES, k[0]), k[1], position(MEASURED, k[2]), k[3]))
    return [cell for cell in (cell_of(key, grouped[key]) for key in keys) if cell]


def behind(cells):
    """The cells in which a peer is faster than Strata, the worst first."""
    return sorted((cell for cell in cells if cell.is_behind()), key=lambda cell: cell.peers[0].ratio)
