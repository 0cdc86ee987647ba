"""The processes that hold a lab's namespaces: one keeper, and one for each host. When the keeper ends, all end.

The keeper is the first process of a namespace of processes, and each host has one of its own within that. The kernel
kills all processes of such a namespace when its first one ends, and removes networks and mounts that nobody holds. So
there is nothing to clean up: a lab is gone when its keeper is, however that died.
"""
import json
import os
import signal
import socket

import kernel
import plan as plans
from errors import Failure

HOST_NAMESPACES = (kernel.NEW_PROCESSES | kernel.NEW_NETWORK | kernel.NEW_NAME | kernel.NEW_IPC | kernel.NEW_MOUNTS)
PERMISSION = ("namespaces may not be made here ({}); in a container, start it with --privileged, or with the "
              "capabilities SYS_ADMIN and NET_ADMIN and without its seccomp and AppArmor profiles")
SETTINGS = {
    # Each interface answers for its own address only, so that rails on one switch stay apart.
    "net/ipv4/conf/all/arp_ignore": "1",
    "net/ipv4/conf/all/arp_announce": "2",
}
NO_IPV6 = "/proc/sys/net/ipv6/conf/default/disable_ipv6"  # its background traffic would be measured too


def start(plan):
    """Returns the keeper's process number, those of the hosts, and a lifeline: the keeper ends when that is closed, or
    when this process dies, unless a byte has been written to it."""
    lifeline, our_end = os.pipe()
    reader, writer = os.pipe()
    middle = os.fork()
    if middle == 0:
        _in_the_middle(plan, lifeline, writer)
    os.close(writer)
    os.close(lifeline)
    os.waitpid(middle, 0)
    try:
        pids = _read_reports(reader, plan)
        return pids["keeper"], [pids[name] for name in plan.host_names()], our_end
    except BaseException:
        os.close(our_end)
        raise


def _read_reports(reader, plan):
    pids = {}
    with os.fdopen(reader, encoding="utf-8") as reports:
        for report in map(json.loads, reports):
            if "failed" in report:
                raise Failure(report["failed"])
            pids[report["who"]] = report["pid"]
            if len(pids) == plan.hosts + 1:
                return pids
    raise Failure("the process that keeps the lab has ended before all hosts were up")


def _in_the_middle(plan, lifeline, reports):
    """A process that only starts the keeper, which belongs to no terminal and holds nothing of the caller."""
    with _Reported(reports):
        os.setsid()
        os.chdir("/")
        _hold_nothing_but(reports, lifeline)
        try:
            kernel.unshare(kernel.NEW_PROCESSES | kernel.NEW_NETWORK)
        except PermissionError as error:
            raise Failure(PERMISSION.format(error.strerror)) from error
        if os.fork() == 0:
            _keep(plan, lifeline, reports)
    os._exit(0)


def _keep(plan, lifeline, reports):
    with _Reported(reports):
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
        _allow_no_ipv6()
        for name in plan.host_names():
            if os.fork() == 0:
                _start_host(plan, name, lifeline, reports)
        _report(reports, who="keeper", pid=_outer_pid())
        os.close(reports)
    if os.read(lifeline, 1):
        _stay()
    os._exit(0)


def _start_host(plan, name, lifeline, reports):
    with _Reported(reports):
        os.close(lifeline)
        kernel.unshare(HOST_NAMESPACES)
        if os.fork() == 0:
            _be_host(plan, name, reports)
    os._exit(0)


def _be_host(plan, name, reports):
    with _Reported(reports):
        pid = _outer_pid()
        kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)  # what is mounted here stays here
        _mount_own(plan)
        socket.sethostname(name)
        for setting, value in SETTINGS.items():
            _write(f"/proc/sys/{setting}", value)
        _allow_no_ipv6()
        _report(reports, who=name, pid=pid)
        os.close(reports)
    _stay()


def _mount_own(plan):
    kernel.mount("proc", "/proc", "proc")
    # /sys shows the network of whoever mounted it; the rest of it (cores, control groups) is the machine's.
    kernel.mount("sysfs", "/dev/shm", "sysfs")
    for folder in ("class/net", "devices/virtual/net"):
        kernel.mount(f"/dev/shm/{folder}", f"/sys/{folder}", flags=kernel.MS_BIND)
    kernel.unmount("/dev/shm")
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=1777")
    # Hosts find each other, and themselves, by name. The file has no name of its own any more afterwards.
    lines = ["127.0.0.1 localhost"] + [f"{plans.address(i, 0)} {name}" for i, name in enumerate(plan.host_names())]
    _write("/dev/shm/hosts", "".join(line + "\n" for line in lines))
    os.chmod("/dev/shm/hosts", 0o644)
    kernel.mount("/dev/shm/hosts", "/etc/hosts", flags=kernel.MS_BIND)
    os.unlink("/dev/shm/hosts")


def _allow_no_ipv6():
    if os.path.exists(NO_IPV6):
        _write(NO_IPV6, "1")


def _outer_pid():
    """This process's number as the caller of start() knows it: /proc is still the caller's."""
    return int(os.readlink("/proc/self"))


def _stay():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        signal.pause()


def _hold_nothing_but(*kept):
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    for fd in [int(name) for name in os.listdir("/proc/self/fd")]:
        if fd > 2 and fd not in kept:
            try:
                os.close(fd)
            except OSError:
                pass  # that of the listing


def _write(path, text):
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Failure(f"{path} cannot be set to {text.strip()}: {error.strerror}; is /proc/sys writable? In a "
                      "container, start it with --privileged") from error


def _report(pipe, **report):
    os.write(pipe, (json.dumps(report) + "\n").encode())


class _Reported:
    """What goes wrong inside ends the process, and is raised by start()."""

    def __init__(self, reports):
        self.reports = reports

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is not None:
            text = str(error) if isinstance(error, Failure) else f"a host cannot be made: {error}"
            _report(self.reports, failed=text)
            os._exit(1)
