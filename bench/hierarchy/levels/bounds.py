"""What a collective takes at least between hosts, by what must leave or enter the busiest one over its one link.

Links carry the same in both directions at once; within a host nothing takes time.
"""
from comparison.arms import LIMIT
from comparison.samples import Sample


def of(collective, size, ranks, rate):
    """Seconds. size: bytes of the larger of a rank's buffers. ranks: of each host. rate: bytes a second of a host's link."""
    return _BYTES[collective](size, ranks) / rate


def unequal_all_reduce(size, rates):
    """Seconds, of hosts with these rates, in bytes a second.

    Each must give its data to somebody and get all sums, whatever its share; and the hosts together must send, and
    receive, the data 2 (n - 1) times.
    """
    return max(size / min(rates), 2 * (len(rates) - 1) * size / sum(rates))


def ring_all_reduce(size, rates):
    """Seconds that a ring takes: its equal shares go at the pace of the slowest host."""
    return 2 * (len(rates) - 1) / len(rates) * size / min(rates)


def as_sample(setting, collective, size, number, seconds):
    """What a call takes at least, as a sample beside those that it is compared with."""
    us = seconds * 1e6
    return Sample(round=number, arm=LIMIT, mode=setting.name(), ranks=setting.ranks(), collective=collective, size=size,
                  bytes=size, p50_us=us, p99_us=us, min_us=us, samples=1, calls=1, right=True, probe_before_ns=-1,
                  probe_after_ns=-1, others_pct=0)


def _all_reduce(size, ranks):
    return 2 * (len(ranks) - 1) / len(ranks) * size  # of a hierarchy whose hosts have equal shares


def _parts_of_others(size, ranks):
    """A host takes in (all-gather) or gives away (reduce-scatter) the parts that are not its own ranks'."""
    return max(1 - mine / sum(ranks) for mine in ranks) * size


def _all_to_all(size, ranks):
    return max(mine * (1 - mine / sum(ranks)) for mine in ranks) * size


_BYTES = {"all_reduce": _all_reduce, "all_gather": _parts_of_others, "reduce_scatter": _parts_of_others,
          "broadcast": lambda size, ranks: size if len(ranks) > 1 else 0, "all_to_all": _all_to_all}
