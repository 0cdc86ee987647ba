"""The network of a lab: cables (veth) from hosts to the switch of their rack (bridge), and the rate of each end (tbf).

Everything is done by ip and tc inside of the lab's namespaces. The bridges are in the keeper's, where the port of the
link host1.rail0 has that name; on the host it is rail0. A rack's uplink is rack0.up at the rack and core.rack0 at the
core.
"""
import os
import shutil
import subprocess

import plan as plans
from errors import Failure

CORE = "core"
CONGESTION_CONTROL = "cubic"
PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
CURES = (
    ("Unknown device type", "the kernel has no such devices: modprobe veth bridge (package kmod)"),
    ("Operation not supported", "the kernel has no such devices: modprobe veth bridge (package kmod)"),
    ("qdisc kind is unknown", "the kernel cannot do it: modprobe sch_tbf, or for --delay sch_netem (package kmod)"),
    ("Operation not permitted", "in a container, start it with --privileged, or with the capability NET_ADMIN"),
)
NETEM_PACKETS_MAX = 1_000_000  # kept while they are delayed


def check_commands():
    for command, package in (("ip", "iproute2"), ("tc", "iproute2"), ("nsenter", "util-linux")):
        if shutil.which(command, path=PATH) is None:
            raise Failure(f"the command {command} is missing: apt-get install {package}")


def connect(plan, keeper, hosts):
    """Wires everything. keeper, hosts: the process numbers of those who hold the namespaces."""
    _run(keeper, "ip", _switch_commands(plan, hosts))
    for host, pid in enumerate(hosts):
        _run(pid, "ip", _host_commands(plan, host))
    shape(plan, keeper, hosts, plan.host_links() + plan.uplinks())


def shape(plan, keeper, hosts, links):
    """Gives both ends of these links the rates of the plan."""
    ends = [(link, *end) for link in links for end in _ends_of(link)]
    for who, pid in [(None, keeper), *enumerate(hosts)]:
        commands = [command for link, owner, device in ends if owner == who
                    for command in _shaping(device, plan.rates.get(link), plan.delay_us if device == link else 0)]
        if commands:
            _run(pid, "tc", commands)


def set_state(keeper, links, state):
    """state: up or down. As with a cable, both ends notice; a host keeps its address."""
    _run(keeper, "ip", [f"link set {link if '.' in link else link + '.up'} {state}" for link in links])


def _switch_commands(plan, hosts):
    bridges = [f"rack{rack}" for rack in range(plan.racks)] + ([CORE] if plan.racks > 1 else [])
    for bridge in bridges:
        yield f"link add name {bridge} type bridge"
        yield f"link set {bridge} up"
    for link in plan.host_links():
        host = int(link.split(".")[0].removeprefix("host"))
        yield f"link add name {link} type veth peer name {link.split('.')[1]} netns /proc/{hosts[host]}/ns/net"
        yield f"link set {link} master rack{plan.rack_of(host)} up"
    for rack in plan.uplinks():
        yield f"link add name {rack}.up type veth peer name {CORE}.{rack}"
        yield f"link set {rack}.up master {rack} up"
        yield f"link set {CORE}.{rack} master {CORE} up"


def _host_commands(plan, host):
    yield "link set lo up"
    for rail in range(plan.rails):
        # A namespace may not choose each algorithm as its default, but a route may.
        yield f"addr add {plans.address(host, rail)}/24 dev rail{rail} noprefixroute"
        yield f"link set rail{rail} up"
        yield f"route add {plans.subnet(rail)} dev rail{rail} src {plans.address(host, rail)} congctl {CONGESTION_CONTROL}"


def _ends_of(link):
    """(Number of the host, or None for the keeper; the device there) of both ends."""
    if "." not in link:
        return (None, f"{link}.up"), (None, f"{CORE}.{link}")
    host, device = link.split(".")
    return (int(host.removeprefix("host")), device), (None, link)


def _shaping(device, rate, delay_us):
    """A delay comes first, so that what waits for its time does not use up the rate."""
    tbf = rate and f"tbf rate {rate}bit burst {plans.burst_bytes(rate)} limit {plans.queue_bytes(rate)}"
    if delay_us:
        yield f"qdisc replace dev {device} root handle 1: netem limit {NETEM_PACKETS_MAX} delay {delay_us:g}us"
        yield f"qdisc replace dev {device} parent 1:1 handle 10: {tbf or f'pfifo limit {NETEM_PACKETS_MAX}'}"
    else:
        yield f"qdisc replace dev {device} root {tbf or 'noqueue'}"


def _run(pid, command, lines):
    lines = list(lines)
    run = subprocess.run(["nsenter", "--target", str(pid), "--net", command, "-batch", "-"],
                         input="".join(line + "\n" for line in lines), env={**os.environ, "PATH": PATH},
                         capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Failure(_explain(command, lines, run.stderr))


def _explain(command, lines, complaint):
    number = complaint.rpartition("Command failed -:")[2].strip()
    failed = lines[int(number) - 1] if number.isdigit() else "-batch"
    cure = next((f"; {cure}" for sign, cure in CURES if sign in complaint), "")
    return f"{command} {failed}: {complaint.split(chr(10))[0].strip()}{cure}"
