"""What a collective takes at least between hosts, by what must leave or enter the busiest one over its one link.

Links carry the same in both directions at once; within a host nothing takes time.
"""


def of(collective, size, ranks, rate):
    """Seconds. size: bytes of the larger of a rank's buffers. ranks: of each host. rate: bytes a second of a host's link."""
    return _BYTES[collective](size, ranks) / rate


def _all_reduce(size, ranks):
    return 2 * (len(ranks) - 1) / len(ranks) * size  # of a hierarchy whose hosts have equal shares


def _parts_of_others(size, ranks):
    """A host takes in (all-gather) or gives away (reduce-scatter) the parts that are not its own ranks'."""
    return max(1 - mine / sum(ranks) for mine in ranks) * size


def _all_to_all(size, ranks):
    return max(mine * (1 - mine / sum(ranks)) for mine in ranks) * size


_BYTES = {"all_reduce": _all_reduce, "all_gather": _parts_of_others, "reduce_scatter": _parts_of_others,
          "broadcast": lambda size, ranks: size if len(ranks) > 1 else 0, "all_to_all": _all_to_all}
