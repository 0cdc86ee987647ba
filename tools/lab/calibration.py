"""Measures what TCP gets through each link of a lab: the bound for what a collective can reach."""
import contextlib
import os
import socket
import threading
import time

import kernel
import plan as plans
import pressure
from errors import Failure

PORT = 29399
CHUNK_BYTES = 1 << 20
WARM_UP_S = 0.3  # not counted: slow start, and the burst that a link lets through at first
PATIENCE_S = 10  # for a connection, and for the next byte


def calibrate(lab, seconds, all_pairs, max_pressure):
    """A dictionary that is printed, or given out as JSON."""
    before = pressure.check("before", max_pressure)
    rows = [_measure(lab, source, destination, rail, seconds)
            for rail in range(lab.plan.rails) for source, destination in pairs(lab.plan.hosts, all_pairs)]
    after = pressure.check("after", max_pressure)
    return {"lab": lab.name, "seconds": seconds, "pressure_percent": {"before": before, "after": after}, "paths": rows}


def pairs(hosts, all_pairs):
    """Without all_pairs each host sends to the next: every link is measured in both directions."""
    if all_pairs:
        return [(a, b) for a in range(hosts) for b in range(hosts) if a != b]
    return [(a, (a + 1) % hosts) for a in range(hosts)] if hosts > 1 else []


def text(result):
    lines = ["from     to       rail   nominal        goodput        share"]
    for row in result["paths"]:
        nominal = row["nominal_bit_s"]
        share = f"{100 * row['goodput_bit_s'] / nominal:.1f} %" if nominal else "-"
        lines.append(f"{row['from']:<8} {row['to']:<8} {row['rail']:<6} {plans.format_rate(nominal):<14} "
                     f"{row['goodput_bit_s'] / 1e6:>9.1f} Mbit/s {share:>8}")
    shown = ["unknown" if share is None else f"{share:.1f} %" for share in result["pressure_percent"].values()]
    return "\n".join(lines + [f"Processes waited for a core {shown[0]} of the time before, and {shown[1]} after."])


def _measure(lab, source, destination, rail, seconds):
    where = (plans.address(destination, rail), PORT)
    try:
        server = _in_network(lab.hosts[destination], lambda: socket.create_server(where))
        with server:
            server.settimeout(PATIENCE_S)
            sending = _in_network(lab.hosts[source], lambda: socket.create_connection(where, PATIENCE_S))
            receiving, _ = server.accept()
        sender = threading.Thread(target=_send_until_closed, args=(sending,))
        sender.start()
        try:
            with receiving:
                receiving.settimeout(PATIENCE_S)
                _count(receiving, WARM_UP_S)
                goodput = _count(receiving, seconds)
        finally:
            sender.join()  # the receiver has closed, which ends it
            sending.close()
    except OSError as error:
        cut = f" (down: {', '.join(lab.plan.cut)})" if lab.plan.cut else ""
        raise Failure(f"nothing gets from host{source} to host{destination} over rail{rail}{cut}: {error}") from error
    return {"from": f"host{source}", "to": f"host{destination}", "rail": rail,
            "nominal_bit_s": lab.plan.nominal(source, destination, rail), "goodput_bit_s": round(goodput)}


def _in_network(host, make_socket):
    """A socket belongs to the network that its maker was in."""
    mine, theirs = os.open("/proc/thread-self/ns/net", os.O_RDONLY), os.pidfd_open(host)
    try:
        kernel.enter(theirs, kernel.NEW_NETWORK)
        return make_socket()
    finally:
        kernel.enter(mine, kernel.NEW_NETWORK)
        os.close(mine)
        os.close(theirs)


def _count(connection, seconds):
    """Bits per second, over at least that time."""
    buffer = bytearray(CHUNK_BYTES)
    start, received, elapsed = time.monotonic(), 0, 0.0
    while elapsed < seconds:
        received += connection.recv_into(buffer)
        elapsed = time.monotonic() - start
    return received * 8 / elapsed


def _send_until_closed(connection):
    data = bytes(CHUNK_BYTES)
    with contextlib.suppress(OSError):
        while True:
            connection.sendall(data)
