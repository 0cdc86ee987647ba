"""What lab --help says around the list of commands."""

INTRODUCTION = """\
Emulates up to 16 hosts on one machine, with links as fast, or slow, as you like.

Each host has its own network, host name (host0, host1, ...), processes, System V IPC and /dev/shm, so what looks for
neighbours by name or in shared memory sees separate hosts; processes of one host share them. Files, cores and memory
are the machine's. Hosts are joined by the switch of their rack. Nothing outside of the lab is touched, and nothing of
it can be reached from outside. Needs root. Does not need, and does not use, virtual machines or containers.
"""

EXAMPLES = """\
EXAMPLES
  Four hosts at 1 Gbit/s each way, a look at them, a command on one, and the end:
    lab up --hosts 4 --rate 1gbit
    lab status
    lab exec host1 -- ping -c 1 host0
    lab down

  Two network interfaces (rails) a host, at 1 Gbit/s, but for one that is slow; more of it in mid-run, and a cut:
    lab up --hosts 4 --rails 2 --rate 1gbit --rate host1.rail0=250mbit
    lab rate host1.rail0=500mbit rail1=2gbit
    lab link down host1.rail1

  Two racks of four hosts whose uplinks carry half of what the hosts can send:
    lab up --hosts 8 --racks 2 --rate 1gbit --uplink 2gbit

  What TCP gets through, for a benchmark to be compared with:
    lab calibrate --json

  A job in a lab of its own, which ends with it:
    strata-run --lab 2x4@1gbit -- strata-perf all_reduce

ADDRESSES
  Host H has the address 10.77.R.(H+1) on its interface railR, and every host knows the others by name (rail 0).
  Each end of a link sends at its rate, in bursts of 128 KiB or 0.5 ms of the rate, whichever is more, and keeps 1 MiB
  or 10 ms of it before it drops. TCP between hosts uses cubic. Headers count: of 1 Gbit/s, TCP gets about 956 Mbit/s.

THE END OF A LAB
  A lab lives as long as its keeper, a process that lab up leaves behind. lab down kills it, and the kernel ends all
  that ran in the lab and takes its networks and mounts away; the same happens should the keeper die otherwise. Then a
  file of a few bytes remains in /run/strata-lab until any lab is started or ended.

EXIT STATUS
  0 success; 1 it could not be done; 2 the command line is wrong; of exec: that of the command, 126 or 127 if it
  cannot be executed or does not exist.
"""
