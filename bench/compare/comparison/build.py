"""Builds the peers' programs that can be built here, and says what the others miss."""
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(HERE))
COMMON = ("method.cpp", "arguments.cpp")
FLAGS = ("-O3", "-march=native", "-std=c++20", "-Wall", "-Wextra", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX",
         f"-I{ROOT}", f"-I{ROOT}/include")
# program: compiler, sources, libraries
PROGRAMS = {
    "limits": ("c++", ("limits.cpp", "limits_memory.cpp", "limits_tcp.cpp", "team.cpp"), ()),
    "core_probe": ("c++", ("core_probe.cpp", "team.cpp"), ()),
    "openmpi": ("mpicxx.openmpi", ("mpi_bench.cpp",), ()),
    "mpich": ("mpicxx.mpich", ("mpi_bench.cpp",), ()),
    "gloo": ("c++", ("gloo_bench.cpp",), ("-lgloo", "-pthread")),
}
SCRIPTS = {"torch": "torch_gloo_bench.py", "iperf3": "iperf3_bench.py"}
PROGRAM_OF_PEER = {"openmpi-ucx": "openmpi"}  # else of the same name


class BuildError(Exception):
    """A program does not compile although everything that it needs is there."""


def has_gloo():
    return subprocess.run(["c++", "-E", "-x", "c++", "-"], input="#include <gloo/context.h>\n", text=True,
                          capture_output=True, check=False).returncode == 0


def has_torch():
    command = ["/usr/bin/python3", "-c", "import importlib.util as u; raise SystemExit(u.find_spec('torch') is None)"]
    return shutil.which(command[0]) is not None and subprocess.run(command, check=False).returncode == 0


def missing_packages(program):
    """The Debian packages that would bring what the program needs; empty if all is there."""
    needs = {
        "openmpi": ((lambda: shutil.which("mpirun.openmpi"), "openmpi-bin"),
                    (lambda: shutil.which("mpicxx.openmpi"), "libopenmpi-dev")),
        "mpich": ((lambda: shutil.which("mpirun.mpich"), "mpich"), (lambda: shutil.which("mpicxx.mpich"), "libmpich-dev")),
        "gloo": ((has_gloo, "libgloo-dev"),),
        "torch": ((has_torch, "python3-torch"),),
        "iperf3": ((lambda: shutil.which("iperf3"), "iperf3"),),
    }
    return [package for there, package in needs.get(program, ()) if not there()]


def is_current(binary, sources):
    if not os.path.exists(binary):
        return False
    headers = [os.path.join(HERE, name) for name in os.listdir(HERE) if name.endswith(".hpp")]
    return all(os.path.getmtime(path) <= os.path.getmtime(binary) for path in [*sources, *headers])


def build_program(name, folder):
    compiler, sources, libraries = PROGRAMS[name]
    binary = os.path.join(folder, name)
    paths = [os.path.join(HERE, source) for source in (*sources, *COMMON)]
    if is_current(binary, paths):
        return binary
    print(f"   building {name}", flush=True)
    run = subprocess.run([compiler, *FLAGS, "-o", binary, *paths, *libraries], capture_output=True, text=True,
                         check=False)
    if run.returncode != 0:
        raise BuildError(f"{name} does not compile:\n{run.stderr[-3000:]}")
    return binary


def build(peers, folder, always=("limits", "core_probe")):
    """Paths {program: path} of what the peers need, and of what is always needed; notes on the peers that are left out."""
    os.makedirs(folder, exist_ok=True)
    programs, notes = {}, []
    for name in always:
        programs[name] = build_program(name, folder)
    for program in dict.fromkeys(PROGRAM_OF_PEER.get(peer, peer) for peer in peers if peer != "limits"):
        packages = missing_packages(program)
        if packages:
            notes.append(f"{program} is left out: apt-get install {' '.join(packages)} would bring it")
        elif program in SCRIPTS:
            programs[program] = os.path.join(HERE, SCRIPTS[program])
        else:
            programs[program] = build_program(program, folder)
    return programs, notes


def strata_programs(folder, names=("strata-run", "strata-perf")):
    """These programs in this folder; an error that says how to build them."""
    programs = {name: os.path.join(folder, name) for name in names}
    for path in programs.values():
        if not os.access(path, os.X_OK):
            raise BuildError(f"{path} is not there; build it: cmake --preset release && cmake --build --preset release"
                             " --target strata-run strata-perf, or name its folder by --strata")
    return programs
