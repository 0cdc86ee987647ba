"""The labs of this machine: a file in /run/strata-lab for each, and what can be done with one.

A lab is up while its keeper lives. The file of one whose keeper has died is stale, and removed when it is come across.
"""
import contextlib
import dataclasses
import fcntl
import json
import os
import re
import select
import signal
import subprocess
import sys

import holders
import kernel
import plan as plans
import wiring
from errors import Failure, Mistake

FOLDER = "/run/strata-lab"
KILL_SECONDS_MAX = 20
NOT_EXECUTABLE, NOT_FOUND = 126, 127  # as shells have it
INSIDE = kernel.NEW_MOUNTS | kernel.NEW_NAME | kernel.NEW_IPC | kernel.NEW_NETWORK


@dataclasses.dataclass
class Lab:
    name: str
    keeper: int      # process numbers
    keeper_start: int  # when it was started: a later process of the same number is another
    hosts: list
    plan: plans.Plan

    def is_up(self):
        return _start_of(self.keeper) == self.keeper_start


def require_root():
    if os.geteuid() != 0:
        raise Failure("a lab is made of network namespaces, which only root may make: start this with sudo")


@contextlib.contextmanager
def only_one():
    """One command at a time changes the labs. Their folder goes when it is empty."""
    while True:
        os.makedirs(FOLDER, mode=0o755, exist_ok=True)
        folder = os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        try:
            if os.path.samestat(os.fstat(folder), os.stat(FOLDER)):
                break
        except FileNotFoundError:
            pass  # who had the lock before removed it
        os.close(folder)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.rmdir(FOLDER)
        os.close(folder)


def names():
    with contextlib.suppress(FileNotFoundError):
        return sorted(name.removesuffix(".json") for name in os.listdir(FOLDER) if name.endswith(".json"))
    return []


def find(name):
    """None: there is no such lab, or it is stale."""
    try:
        with open(_file_of(name), encoding="utf-8") as file:
            fields = json.load(file)
    except FileNotFoundError:
        return None
    lab = Lab(**{**fields, "plan": plans.Plan(**fields["plan"])})
    return lab if lab.is_up() else None


def get(name):
    lab = find(name)
    if lab is None:
        up = [other for other in names() if find(other)]
        raise Failure(f"there is no lab '{name}'; there are: {', '.join(up) or 'none'}; lab up starts one")
    return lab


def up(name, plan, attached=False):
    """attached: the lab ends when the file descriptor that is returned is closed, or this process dies."""
    check_name(name)
    wiring.check_commands()
    with only_one():
        _remove_stale()
        if find(name):
            raise Failure(f"there is a lab '{name}' already: end it by lab down --name {name}, or give another --name")
        keeper, hosts, lifeline = holders.start(plan)
        try:
            wiring.connect(plan, keeper, hosts)
            _save(Lab(name, keeper, _start_of(keeper), hosts, plan))
        except BaseException:
            os.close(lifeline)
            raise
        if attached:
            return lifeline
        os.write(lifeline, b"stay")
        os.close(lifeline)
        return None


def down(name):
    """Whether there was one."""
    with only_one():
        lab = find(name)
        if lab:
            _kill(lab)
            os.unlink(_file_of(name))  # here, since a keeper that waits for a slow init still looks alive
        _remove_stale()
        return lab is not None


def set_rates(name, assignments):
    with only_one():
        lab = get(name)
        links = {link for assignment in assignments for link in plans.set_rate(lab.plan, assignment)}
        wiring.shape(lab.plan, lab.keeper, lab.hosts, sorted(links))
        _save(lab)


def set_link(name, target, state):
    with only_one():
        lab = get(name)
        links = plans.links_of(lab.plan, target)
        wiring.set_state(lab.keeper, links, state)
        others = [link for link in lab.plan.cut if link not in links]
        lab.plan.cut = sorted(others + links) if state == "down" else others
        _save(lab)


def execute(lab, host, command):
    """Runs the command on the host, and returns its exit code as a shell has it. Ends with this process."""
    holder = os.pidfd_open(lab.hosts[host])

    def go_inside():
        kernel.die_with_parent(signal.SIGKILL)
        kernel.enter(holder, INSIDE)

    kernel.enter(holder, kernel.NEW_PROCESSES)
    try:
        child = subprocess.Popen(command, preexec_fn=go_inside)
    except OSError as error:
        print(f"lab: {command[0]} cannot be started on host{host}: {error.strerror}", file=sys.stderr)
        return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)  # a terminal sends them to both
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda given, _: child.send_signal(given))
    code = child.wait()
    return code if code >= 0 else 128 - code


def check_name(name):
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", name):
        raise Mistake(f"'{name}' is no name for a lab; it is made of letters, digits, '_', '.' and '-', at most 40")


def _file_of(name):
    check_name(name)
    return os.path.join(FOLDER, name + ".json")


def _save(lab):
    path = _file_of(lab.name)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(dataclasses.asdict(lab), file)
    os.replace(path + ".new", path)


def _remove_stale():
    for name in names():
        if find(name) is None:
            os.unlink(_file_of(name))


def _kill(lab):
    """The keeper, and with it all that runs in the lab."""
    try:
        keeper = os.pidfd_open(lab.keeper)
    except ProcessLookupError:
        return
    try:
        if lab.is_up():
            signal.pidfd_send_signal(keeper, signal.SIGKILL)
        for _ in range(KILL_SECONDS_MAX):
            if select.select([keeper], [], [], 1)[0] or all(map(_has_let_go, [lab.keeper] + lab.hosts)):
                return
        raise Failure(f"lab '{lab.name}' does not end: a process in it cannot be killed now (ps shows it in state D)")
    finally:
        os.close(keeper)


def _has_let_go(pid):
    """Of its namespaces: it may still wait for somebody outside to reap what he started inside, as for a slow init."""
    try:
        os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return True
    return False


def _start_of(pid):
    """When the process was started, in ticks since boot; None: it is gone, or only not reaped."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])
