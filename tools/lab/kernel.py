"""System calls that Python 3.11 has no functions for."""
import ctypes
import os

MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
MNT_DETACH = 2
NEW_MOUNTS, NEW_NAME, NEW_IPC, NEW_PROCESSES, NEW_NETWORK = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def _call(name, *arguments):
    if getattr(_libc, name)(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")


def unshare(namespaces):
    """New processes, not this one, are in the new namespace of processes."""
    _call("unshare", namespaces)


def enter(namespaces_of, kinds):
    """namespaces_of: a descriptor of a process (pidfd) or of a namespace. The working folder is kept; for a namespace of
    processes the same holds as for unshare."""
    folder = os.getcwd()
    _call("setns", namespaces_of, kinds)
    os.chdir(folder)


def mount(source, target, kind="", flags=0, data=""):
    _call("mount", source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode())


def unmount(target):
    _call("umount2", target.encode(), MNT_DETACH)


def die_with_parent(signal):
    _call("prctl", PR_SET_PDEATHSIG, signal, 0, 0, 0)
