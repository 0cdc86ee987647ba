"""What is measured in one lab: how many ranks each host has, how fast the links are, and in which order the ranks come."""
import dataclasses
import re

ORDERS = ("packed", "round-robin")
HOSTS_MAX = 16  # of a lab


@dataclasses.dataclass(frozen=True)
class Setting:
    shape: str  # HOSTSxRANKS, or the ranks of each host with + between them
    rate: str   # of each host's link, each way; or one for each host, with commas; a colon between those of its rails
    order: str = "packed"

    def ranks_of_hosts(self):
        return ranks_in(self.shape)

    def ranks(self):
        return sum(self.ranks_of_hosts())

    def host_of_ranks(self):
        """As strata-run --lab-order has it: round-robin takes first one of each host, then another of each, and so on."""
        places = [(local, host) for host, count in enumerate(self.ranks_of_hosts()) for local in range(count)]
        return [host for _, host in (sorted(places) if self.order == "round-robin" else places)]

    def lab(self):
        return f"{self.shape}@{self.rate}"

    def name(self):
        return f"{self.shape}-{self.rate}-{self.order}"

    def text(self):
        return f"{self.shape} at {self.rate}, {self.order}"


def parse(name):
    """The setting of that name."""
    return Setting(*name.split("-", 2))


def ranks_in(shape):
    """Of each host. ValueError, with what is right, if it is no shape of two hosts or more."""
    if re.fullmatch(r"[1-9]\d?x[1-9]\d?", shape):
        hosts, ranks = map(int, shape.split("x"))
        found = [ranks] * hosts
    elif re.fullmatch(r"[1-9]\d?(\+[1-9]\d?)+", shape):
        found = [int(ranks) for ranks in shape.split("+")]
    else:
        raise ValueError(f"'{shape}' is neither HOSTSxRANKS, as in 2x4, nor the ranks of each host, as in 3+5")
    if not 2 <= len(found) <= HOSTS_MAX:
        raise ValueError(f"'{shape}' has {len(found)} hosts; there must be from 2 to {HOSTS_MAX}")
    return found
