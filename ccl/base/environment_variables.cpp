// The list of every environment variable Strata looks at.
#include <limits>

#include "ccl/base/environment.hpp"

namespace strata {
namespace {

using Kind = Variable::Kind;
constexpr std::int64_t kMillisecondsMax = std::numeric_limits<std::uint32_t>::max();

constexpr Variable kVariables[] = {
    {"STRATA_RENDEZVOUS", Kind::text, "host:port, [IPv6 address]:port, or a path with a '/' in it",
     "Where the ranks meet; rank 0 listens there. A path serves ranks of one host. Without it: MASTER_ADDR, "
     "MASTER_PORT."},
    {"STRATA_SECRET", Kind::text, "any text, the same on all ranks",
     "The job's secret; a rank with another one is refused. strata-run makes one up."},
    {"STRATA_INTERFACE", Kind::text,
     "an interface's name, a prefix ended by '*', or an address; several with commas between",
     "Which network interfaces carry TCP: data go over all of them at once, as fast as each takes them. "
     "Without it: one, chosen and logged at level info."},
    {"STRATA_TRANSPORT", Kind::text, "names separated by commas, of shm and tcp",
     "Narrows which transports are used. Without it: the best that reaches each peer."},
    {"STRATA_PORT_RANGE", Kind::text, "first-last or one port, from 1 to 65535",
     "The ports that Strata may choose to listen on, for firewalls."},
    {"STRATA_TCP_STREAMS", Kind::number, "",
     "TCP connections to each peer. More than one pays where the network limits each flow.", 1, 16},
    {"STRATA_TCP_CREDIT_KB", Kind::number, "",
     "KiB that a connection to another host may have under way, which nothing overtakes. Without it, or 0: "
     "tuned.",
     0, 65'536},
    {"STRATA_TCP_FRAGMENT_KB", Kind::number, "",
     "KiB of the pieces in which a message goes to another host. Without it, or 0: a quarter of the credit.",
     0, 1024},
    {"STRATA_TIMEOUT_MS", Kind::number, "",
     "An operation without progress for so long fails on all ranks; 0: never.", 0, kMillisecondsMax},
    {"STRATA_RENDEZVOUS_TIMEOUT_MS", Kind::number, "", "All ranks must have come by then.", 1,
     kMillisecondsMax},
    {"STRATA_SPIN_US", Kind::number, "", "Polling before a waiting thread sleeps.", 0, 1'000'000},
    {"STRATA_MEMORY_MB", Kind::number, "", "MiB that the process keeps for reuse between operations.", 0,
     std::numeric_limits<std::uint32_t>::max()},
    {"STRATA_SINGLE_COPY", Kind::flag, "",
     "0: ranks of a host do not read each other's buffers (process_vm_readv), nor let this rank's be read."},
    {"STRATA_PROGRESS_THREAD", Kind::flag, "", "0: operations advance only inside calls."},
    {"STRATA_ALGORITHM", Kind::text, "an algorithm's name",
     "Forces one algorithm where it applies. Without it: selected by size and ranks."},
    {"STRATA_CALIBRATE", Kind::choice, "auto|always|off",
     "Whether links are measured at the start. auto: unless this machine's have been before."},
    {"STRATA_TOPOLOGY", Kind::text, "a topology file",
     "What cannot be discovered of the job's hosts: racks, rails, machines. The same on all ranks."},
    {"STRATA_LEVELS", Kind::text, "as in 2x4, or numa,host,rack, or 0-3,4-7;0-7",
     "The levels of groups that hierarchical algorithms work on. Without it: all that there are."},
    {"STRATA_METRICS", Kind::text, "a port, host:port or [IPv6 address]:port",
     "Where Prometheus finds each rank's counters; ranks of a host take one port after another."},
    {"STRATA_TRACE", Kind::text, "a file",
     "Gets the timeline of the whole job, for Perfetto or chrome://tracing, when it ends. Rank 0's counts."},
    {"STRATA_TRACE_MB", Kind::number, "", "MiB that each rank keeps of the timeline; more is dropped.", 1,
     65'536},
    {"STRATA_LOG", Kind::choice, "trace|debug|info|warn|error|off",
     "How much the library says on standard error."},
    {"RANK", Kind::number, "", "This process's rank (torchrun, strata-run).", 0, kRanksMax - 1},
    {"WORLD_SIZE", Kind::number, "", "How many ranks there are (torchrun, strata-run).", 1, kRanksMax},
    {"LOCAL_RANK", Kind::number, "", "Index among the ranks of this host (torchrun, strata-run).", 0,
     kRanksMax - 1},
    {"LOCAL_WORLD_SIZE", Kind::number, "", "How many ranks this host has (torchrun, strata-run).", 1,
     kRanksMax},
    {"MASTER_ADDR", Kind::text, "a host name or an address",
     "Rank 0's host, when STRATA_RENDEZVOUS is not given."},
    {"MASTER_PORT", Kind::number, "", "Rank 0's port, when STRATA_RENDEZVOUS is not given.", 1, 65'535},
    {"TORCHELASTIC_USE_AGENT_STORE", Kind::text, "True or False",
     "True: torchrun itself listens on MASTER_PORT, so ranks meet on the next port."},
    {"OMPI_COMM_WORLD_RANK", Kind::number, "", "Open MPI's RANK, used when RANK is not set.", 0,
     kRanksMax - 1},
    {"OMPI_COMM_WORLD_SIZE", Kind::number, "", "Open MPI's WORLD_SIZE.", 1, kRanksMax},
    {"OMPI_COMM_WORLD_LOCAL_RANK", Kind::number, "", "Open MPI's LOCAL_RANK.", 0, kRanksMax - 1},
    {"PMI_RANK", Kind::number, "", "RANK of MPICH and others, used when those above are not set.", 0,
     kRanksMax - 1},
    {"PMI_SIZE", Kind::number, "", "WORLD_SIZE of MPICH and others.", 1, kRanksMax},
    {"MPI_LOCALRANKID", Kind::number, "", "LOCAL_RANK of MPICH and others.", 0, kRanksMax - 1},
    {"SLURM_PROCID", Kind::number, "", "Slurm's RANK, used when those above are not set.", 0, kRanksMax - 1},
    {"SLURM_NTASKS", Kind::number, "", "Slurm's WORLD_SIZE.", 1, kRanksMax},
    {"SLURM_LOCALID", Kind::number, "", "Slurm's LOCAL_RANK.", 0, kRanksMax - 1},
    {"CUDA_VISIBLE_DEVICES", Kind::text, "one number, or a list",
     "If it leaves a rank one GPU, the rank sits where that is."},
    {"OMP_NUM_THREADS", Kind::text, "a list of whole numbers",
     "OpenMP's number of threads; strata-run sets it to cores / local ranks when it is not set."},
    {"PATH", Kind::text, "folders separated by colons", "Where strata-run looks for the program."},
    {"NO_COLOR", Kind::text, "any text",
     "If set, strata-run's prefixes have no colours on a terminal either."},
    {"TERM", Kind::text, "a terminal's name", "If absent or dumb, strata-run's prefixes have no colours."},
    {"XDG_CACHE_HOME", Kind::text, "a directory",
     "What was measured of this machine is kept in its strata/. Without it: ~/.cache/strata/."},
    {"HOME", Kind::text, "a directory", "Where .cache/ is when XDG_CACHE_HOME is not set."},
    {"TMPDIR", Kind::text, "a directory",
     "Where strata-run makes the socket of a job on one host, and parts of a timeline stay in need."},
};

}  // namespace

std::span<const Variable> known_variables() { return kVariables; }

}  // namespace strata
