#include "tools/strata_run/manual.hpp"

namespace strata::run {

const char* const kManualIntroduction =
    R"(strata-run - starts the ranks of a job on this host and stays until all have ended

  strata-run -n N [OPTIONS] [--] PROGRAM [ARGUMENT...]
  strata-run --lab SHAPE [OPTIONS] [--] PROGRAM [ARGUMENT...])";

std::string manual_footer() {
  return R"(EXAMPLES
  Four ranks on this host:
    strata-run -n 4 -- ./program --its-own option

  Two hosts with four ranks each: the same command on both, but for the number of the host.
    export STRATA_SECRET=$(openssl rand -hex 16)     # once; the same value on both
    strata-run --nnodes 2 --node-rank 0 --rendezvous host-a:29400 -n 4 -- ./program      # on host-a
    strata-run --nnodes 2 --node-rank 1 --rendezvous host-a:29400 -n 4 -- ./program      # on host-b

  Two emulated hosts with four ranks each, at 1 Gbit/s, on this machine (as root; see LABS):
    strata-run --lab 2x4@1gbit -- ./program

  A cluster whose racks a file describes; strata-topo --help shows how such a file is written, and measures one:
    strata-run --nnodes 2 --node-rank 0 --rendezvous host-a:29400 -n 4 --topology cluster.toml -- ./program

  What rank 0 prints, untouched, into a file:
    strata-run -n 4 --only-rank 0 --no-prefix -- ./program > result.csv

WHAT RANKS ARE TOLD
  RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE  their place
  STRATA_RENDEZVOUS, STRATA_SECRET                where they meet, and what they must know to be let in
  MASTER_ADDR, MASTER_PORT                        for other libraries, if not set: a port beside the rendezvous
  OMP_NUM_THREADS                                 if not set: the cores of this host divided by its ranks
  and the rest of the environment, and which cores are theirs: an even share each, unless there are fewer cores than
  ranks or --no-bind is given. strata-run --help-environment lists the variables that Strata knows.

LABS
  --lab starts emulated hosts, runs the job on them, and takes them away again, whatever happens. Each has its own
  network, name (host0, host1, ...) and /dev/shm; cores, memory and files are this machine's. Its SHAPE is
    2x4              two hosts with four ranks each, joined by links of no limited rate
    3+5@1gbit        a host with three ranks and one with five; links of 1 Gbit/s each way
    2x2@1gbit,250mbit             one rate for each host
    2x2@1gbit:1gbit               one for each of a host's network interfaces (rail0, rail1)
    2x2@1gbit:1gbit,1gbit:250mbit both
  and --lab-racks 2 --lab-uplink 2gbit puts the hosts of a shape into two racks. From outside, what strata-lab status
  shows can be changed while the job runs, as by strata-lab link down --name NAME host1. strata-lab --help says more.
  STRATA_CALIBRATE is set to always, if not set.

OUTPUT
  Each line gets its rank in front. Lines of different ranks do not mix. Standard output and standard error stay
  apart. A program that writes to a pipe may keep its output back; python -u and stdbuf -oL do not let it.
  Rank 0 reads standard input, unless that is a terminal; the others read nothing.

TIMELINE
  --trace FILE records what every rank does (calls, messages, steps, waits, and what the program marks by
  strata/trace.hpp) and has rank 0 write all of it, by one clock, into one file for ui.perfetto.dev or
  chrome://tracing when the job ends, with a summary on standard error. Each rank keeps 32 MiB (STRATA_TRACE_MB), in
  FILE.rankN.part or in TMPDIR, until then. Of a job that fails, FILE is made of what this host's ranks have left,
  killed ones too.

METRICS
  --metrics 9400 has each rank count operations, bytes and turns, and show them to Prometheus: the first rank of this
  host at http://127.0.0.1:9400/metrics, the next at port 9401, and so on. HOST:PORT listens on another address. Port 0
  takes any that are free, which --log info tells.

SIGNALS AND FAILURES
  When a rank fails, or on SIGINT, SIGTERM, SIGHUP or SIGQUIT, all ranks and what they have started are asked to end
  (SIGTERM, or the signal itself), and killed after --grace seconds. A second SIGINT kills at once. SIGUSR1, SIGUSR2
  and a stop by Ctrl-Z are passed on. Nothing stays behind, even when strata-run itself is killed.

EXIT STATUS
  0           all ranks have ended with 0
  C           the first rank that failed ended with code C
  128+S       the first rank that failed was killed by signal S
  2           the command line or the environment is wrong
  125         strata-run itself failed
  126, 127    the program cannot be executed; does not exist
)";
}

}  // namespace strata::run
