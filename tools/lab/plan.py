"""What a lab looks like: its hosts, rails and racks, and the rate of each link. Nothing here touches the system.

A link is named after what it connects to a switch: host1.rail0 is a host's interface, rack0 a rack's uplink. A target
names one or several of them: host1, rail0, host1.rail0, rack0.
"""
import dataclasses
import re

from errors import Mistake

HOSTS_MAX = 16
RAILS_MAX = 8
NETWORK = "10.77"  # the private range that exists inside of the namespaces only: NETWORK.RAIL.HOST+1
UNITS = {"kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
RATE_MIN, RATE_MAX = 64 * 10**3, 400 * 10**9  # bit/s
DELAY_UNITS_US = {"us": 1, "ms": 1000}
DELAY_MAX_US = 1_000_000
# What a link lets through at once: little, so that short messages feel the rate too, but enough for timers that come late.
# At 8 Gbit/s, on idle cores, 128 KiB cost 7 % of the goodput and 256 KiB nothing; busy cores come later.
BURST_S = 0.0005
BURST_BYTES_MIN = 128 << 10  # two of the largest packets before they are cut (64 KiB), which then stay whole
# What a port keeps before it drops.
QUEUE_S = 0.010
QUEUE_BYTES_MIN = 1 << 20


@dataclasses.dataclass
class Plan:
    hosts: int
    rails: int = 1
    racks: int = 1
    delay_us: float = 0
    rates: dict = dataclasses.field(default_factory=dict)  # link -> bit/s; a link that is not here is not shaped
    cut: list = dataclasses.field(default_factory=list)    # links that are down

    def host_names(self):
        return [f"host{host}" for host in range(self.hosts)]

    def uplinks(self):
        return [f"rack{rack}" for rack in range(self.racks)] if self.racks > 1 else []

    def host_links(self):
        return [f"{host}.rail{rail}" for host in self.host_names() for rail in range(self.rails)]

    def rack_of(self, host):
        """Neighbours share a rack."""
        return host * self.racks // self.hosts

    def path(self, source, destination, rail):
        """The links between two hosts."""
        ends = [f"host{source}.rail{rail}", f"host{destination}.rail{rail}"]
        racks = [self.rack_of(source), self.rack_of(destination)]
        return ends + [f"rack{rack}" for rack in racks if racks[0] != racks[1]]

    def nominal(self, source, destination, rail):
        """The rate of the slowest link between two hosts, in bit/s; None: none is shaped."""
        return min((self.rates[link] for link in self.path(source, destination, rail) if link in self.rates),
                   default=None)


def address(host, rail):
    return f"{NETWORK}.{rail}.{host + 1}"


def subnet(rail):
    return f"{NETWORK}.{rail}.0/24"


def make(hosts, rails=1, racks=1, rates=(), uplink=None, delay=None):
    """rates: assignments as on the command line, of which later ones count more."""
    check_range("--hosts", hosts, HOSTS_MAX)
    check_range("--rails", rails, RAILS_MAX)
    check_range("--racks", racks, hosts)
    plan = Plan(hosts, rails, racks, delay_us=parse_delay(delay) if delay else 0)
    if uplink is not None:
        if racks == 1:
            raise Mistake("--uplink is the rate of the racks' uplinks, and there is one rack only: add --racks")
        assign_rate(plan, plan.uplinks(), parse_rate(uplink))
    for assignment in rates:
        set_rate(plan, assignment)
    return plan


def check_range(option, value, maximum):
    if not 1 <= value <= maximum:
        raise Mistake(f"{option} is {value}; it must be from 1 to {maximum}")


def parse_rate(text):
    """Bits per second; None for 'none', which is no limit."""
    if text == "none":
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(kbit|mbit|gbit)", text)
    if not match:
        raise Mistake(f"'{text}' is no rate; write a number and kbit, mbit or gbit, as in 250mbit, or none for no limit")
    rate = round(float(match[1]) * UNITS[match[2]])
    if not RATE_MIN <= rate <= RATE_MAX:
        raise Mistake(f"the rate {text} is out of range; it must be from 64kbit to 400gbit")
    return rate


def format_rate(rate):
    if rate is None:
        return "none"
    unit = next(unit for unit in ("gbit", "mbit", "kbit") if rate >= UNITS[unit])
    return f"{rate / UNITS[unit]:.10g}{unit}"


def parse_delay(text):
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(us|ms)", text)
    delay_us = float(match[1]) * DELAY_UNITS_US[match[2]] if match else -1
    if not 0 <= delay_us <= DELAY_MAX_US:
        raise Mistake(f"'{text}' is no delay; write a number and us or ms, as in 50us, up to 1000ms")
    return delay_us


def host_number(plan, text):
    """Of 'host1' or '1'."""
    match = re.fullmatch(r"(?:host)?(\d+)", text)
    if not match or int(match[1]) >= plan.hosts:
        raise Mistake(f"there is no host '{text}'; there are {_all('host', plan.hosts)}")
    return int(match[1])


def links_of(plan, target):
    if target in plan.uplinks():
        return [target]
    found = [link for link in plan.host_links() if target in (link, *link.split("."))]
    if not found:
        racks = [_all("rack", plan.racks)] if plan.racks > 1 else []
        known = ", ".join([_all("host", plan.hosts), _all("rail", plan.rails), "both as in host0.rail0"] + racks)
        raise Mistake(f"there is no '{target}'; there are {known}")
    return found


def _all(kind, count):
    return f"{kind}0 to {kind}{count - 1}" if count > 1 else f"{kind}0"


def set_rate(plan, assignment):
    """assignment: RATE, for all interfaces of hosts, or TARGET=RATE. The links that it is about."""
    target, equals, rate = assignment.rpartition("=")
    links = links_of(plan, target) if equals else plan.host_links()
    assign_rate(plan, links, parse_rate(rate))
    return links


def assign_rate(plan, links, rate):
    for link in links:
        if rate is None:
            plan.rates.pop(link, None)
        else:
            plan.rates[link] = rate


def burst_bytes(rate):
    return round(max(BURST_BYTES_MIN, rate / 8 * BURST_S))


def queue_bytes(rate):
    return round(max(QUEUE_BYTES_MIN, rate / 8 * QUEUE_S))
