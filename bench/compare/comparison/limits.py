"""The least time of a collective on this machine, composed from what its parts are measured to take.

A limit, not an algorithm: every rank's bytes are moved once, the work is spread evenly over as many cores as there are
ranks or cores, and nobody waits for more than the first word of another rank. bench/README.md says it in words.
"""
import collections
import dataclasses
import math

from comparison.arms import LIMIT, LIMIT_PREFIX, MANY, MEASURED, ROUNDS, SHM, STRATA, workers_of

WORD_BYTES = 8
WINDOW_BYTES_MAX = 64 << 20


@dataclasses.dataclass(frozen=True)
class Demand:
    """What all ranks of a call have to do together. Bytes are counted in sizes of the call."""
    reads: float    # of the ranks' inputs
    writes: float   # of their outputs
    passes: float   # from core to core where others' memory is out of reach: a write and a read of slots are one
    sent: float     # and received
    added: float
    messages: int
    crossed: float = 0    # read by others than who wrote it last; else readers' caches have kept it from the last call
    rooted: bool = False  # the root goes round from call to call, so one call's way overlaps with the next one's


def demand_of(collective, ranks):
    """Inputs and outputs are out of place, a broadcast's are in place."""
    n, others = ranks, ranks - 1
    return {
        "all_reduce": Demand(n, n, (n + 2 * others) / 2, 2 * others, others, 2 * others),
        "all_gather": Demand(1, n, n / 2, others, 0, 2 * others),
        "reduce_scatter": Demand(n, 1, others, others, others, 2 * others),
        "broadcast": Demand(1, others, n / 2, others, 0, others, crossed=others, rooted=True),
        "reduce": Demand(n, 1, others, others, others, others, rooted=True),
        "all_to_all": Demand(n, n, others, others, 0, 2 * others),
        "barrier": Demand(0, 0, 0, 0, 0, 2 * others),
        "ping_pong": Demand(1, 1, 1, 1, 0, 1, rooted=True),
        "send": Demand(1, 1, 1, 1, 0, 1, rooted=True),
    }[collective]


def window_of(size):
    """How many messages are under way at once, as strata-perf's send has it."""
    return min(64, max(2, WINDOW_BYTES_MAX // size))


class Curve:
    """Time against bytes: straight between measured points, in proportion beyond them."""

    def __init__(self, points):
        self.points = sorted(points)

    def at(self, size):
        (first, least), (last, most) = self.points[0], self.points[-1]
        if size <= first:
            return least * size / first
        if size >= last:
            return most * size / last
        for (low, low_us), (high, high_us) in zip(self.points, self.points[1:]):
            if size <= high:
                return low_us + (high_us - low_us) * (size - low) / (high - low)
        raise ValueError(f"{size} is not among {self.points}")


@dataclasses.dataclass(frozen=True)
class Memory:
    """Microseconds a byte of one worker, when it works on so many bytes and all others do the same."""
    read: float
    write: float
    handed_on: float


def memory_of(parts, touched_bytes):
    """An addition reads once more than a copy, which tells a read from a write; a write costs no less than a read."""
    size = max(touched_bytes / 2, 1)
    copy = parts["copy"].at(size)
    read = min(max(parts["add"].at(size) - copy, 0), copy / 2)
    passed = parts["pass"].at(size) if "pass" in parts else copy
    return Memory(read / size, (copy - read) / size, max(passed - copy, 0) / size)


def limit_us(mode, collective, size, ranks, cores, parts):
    """parts: {primitive: Curve}, measured by workers_of() processes. size: bytes, as bytes_of() gives them."""
    demand, workers = demand_of(collective, ranks), workers_of(mode, ranks, cores)
    turns_us = turns_of(demand, ranks, cores) * parts["switch"].at(WORD_BYTES)
    if mode not in SHM and collective == "send":  # a window is one stream of bytes
        messages = window_of(size)
        return parts["tcp_stream"].at(messages * size) / messages
    memory = memory_of(parts, (demand.reads + demand.writes) * size / workers)
    if mode not in SHM:
        return tcp_us(demand, size, ranks, workers, memory, parts, turns_us)
    hop_us = parts["hop"].at(WORD_BYTES) if collective != "send" else 0
    work_us = (demand.reads * memory.read + demand.writes * memory.write) * size / workers
    if mode == "shm-allocated":
        return max(hop_us, turns_us) + max(work_us, demand.crossed * memory.handed_on * size / workers)
    return max(hop_us, turns_us + work_us + demand.passes * memory.handed_on * size / workers)


def turns_of(demand, ranks, cores):
    """How often a core changes from rank to rank in a call. The last one may go on to the next call; with a root that
    goes round, each has to be on its core once in as many calls as there are ranks."""
    if ranks <= cores:
        return 0
    return 1 / cores if demand.rooted else math.ceil(ranks / cores) - 1


def tcp_us(demand, size, ranks, workers, memory, parts, turns_us):
    """The longer of the cores' work on all messages and of the way that the last byte has to go."""
    messages, sent = demand.messages / workers, demand.sent * size / workers
    added_us = demand.added * memory.read * size / workers
    work_us = messages * parts["tcp_exchange"].at(max(sent / messages, WORD_BYTES)) + added_us + turns_us
    rounds = 1 if demand.rooted else math.ceil(math.log2(ranks))
    way_us = rounds * parts["tcp_hop"].at(WORD_BYTES)
    if demand.rooted:
        way_us = min(parts[way].at(max(size, WORD_BYTES)) for way in ("tcp_hop", "tcp_stream"))
    return max(work_us, way_us)


def rounds_us(mode, size, ranks, parts):
    """ceil(log2 n) times half of a round trip of a message of this size."""
    if mode in SHM:
        half_us = max(parts["hop"].at(WORD_BYTES), parts["pass"].at(size) / 2)
    else:
        half_us = parts["tcp_hop"].at(max(size, WORD_BYTES))
    return math.ceil(math.log2(ranks)) * half_us


def parts_of(samples):
    """{primitive: Curve} of the fastest way at each size."""
    fastest = collections.defaultdict(dict)
    for sample in samples:
        if sample.right:
            of_part = fastest[sample.collective]
            of_part[sample.bytes] = min(sample.p50_us, of_part.get(sample.bytes, math.inf))
    return {name: Curve(points.items()) for name, points in fastest.items()}


def composed(samples, cores):
    """A sample for each cell of each round that Strata has figures in, from the parts measured in the same block."""
    parts, cells = collections.defaultdict(list), {}
    for sample in samples:
        if sample.arm.startswith(LIMIT_PREFIX):
            parts[sample.round, sample.mode, sample.ranks].append(sample)
        elif sample.collective in MEASURED and sample.arm == STRATA:
            cells[sample.round, *sample.cell()] = sample
    limits = []
    for (number, mode, ranks, collective, _), of_strata in cells.items():
        measured = parts.get((number, mode, ranks)) or parts.get((number, "shm" if mode in SHM else "tcp", ranks))
        if not measured:
            continue
        curves = parts_of(measured)
        found = {LIMIT: limit_us(mode, collective, of_strata.bytes, ranks, cores, curves)}
        if collective == "all_reduce" and ranks == MANY:
            found[ROUNDS] = rounds_us(mode, of_strata.bytes, ranks, curves)
        limits += [dataclasses.replace(
            of_strata, arm=arm, p50_us=us, p99_us=us, min_us=us, right=True,
            probe_before_ns=measured[0].probe_before_ns, probe_after_ns=measured[0].probe_after_ns)
            for arm, us in found.items()]
    return limits
