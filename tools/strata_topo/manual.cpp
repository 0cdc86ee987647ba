#include "tools/strata_topo/manual.hpp"

#include <fmt/format.h>

#include "ccl/topology/topology_file.hpp"

namespace strata::topo {

const char* const kManualIntroduction =
    R"(strata-topo - what a machine or a cluster is made of, and which groups its ranks form

  strata-topo show [--topology FILE] [--svg FILE]
  strata-topo dump [--topology FILE]
  strata-topo levels [--topology FILE] [-n N | --place PLACE...] [--levels LEVELS]
  strata-topo import FILE
  strata-run -n N -- strata-topo probe [--topology FILE] [--output FILE])";

std::string manual_footer() {
  return fmt::format(R"(Each command has its own --help.

EXAMPLES
  Draw this host in the terminal, and as a picture:
    strata-topo show
    strata-topo show --svg host.svg

  Write this host down, and look at it elsewhere:
    strata-topo dump > host.toml
    strata-topo show --topology host.toml

  The groups of 8 ranks on each host of a cluster that a file describes:
    strata-topo levels --topology cluster.toml -n 8

  Ranks in an order of one's own, and levels by hand:
    strata-topo levels --topology cluster.toml --place node00:0-3 --place node01:0-3 --place node00:4-7
    strata-topo levels --topology cluster.toml --levels host,rack
    strata-topo levels --topology cluster.toml -n 4 --levels '0-7,8-15;0-15'

  What NCCL found on a machine (NCCL_TOPO_DUMP_FILE), as a topology file:
    strata-topo import nccl.xml > machine.toml

  What messages cost between the ranks of this host, and of a cluster whose racks a file states:
    strata-run -n 4 -- strata-topo probe --output host.toml
    strata-run --nnodes 4 --node-rank 0 --rendezvous node00:29400 -n 8 -- \
      strata-topo probe --topology cluster.toml --output measured.toml      # the same on the others, with their number
    strata-run --nnodes 4 --node-rank 0 --rendezvous node00:29400 -n 8 --topology measured.toml -- ./program

WHERE IT COMES FROM
  Without --topology: hwloc (packages, NUMA nodes, caches, cores that this container may use, PCIe), /sys (network
  cards and their rates), and NVIDIA's management library, if it is installed (GPUs and NVLink). What is not known is
  said on standard error, with the reason.

TOPOLOGY FILES
  State what cannot be discovered, and may leave out anything but a host. This is one:

{}
  Rates are b/s, kb/s, Mb/s, Gb/s, Tb/s, or with B for bytes. `strata-topo dump` shows the other keys of a machine.

COSTS
  probe has up to 8 pairs of ranks of each level measure, one after the other: half a round trip of a few bytes, and the
  rate of two streams at once, one each way. The median of a level's pairs is written as a [[cost]] of the topology file:
  a job that is given the file measures nothing anew, unless STRATA_CALIBRATE is always. STRATA_TRANSPORT=tcp probes what
  TCP costs within hosts. All ranks need the file; rank 0 writes it.

LEVELS
  Within a host: core, l3, pcie, numa, package, gpu_island, host; above it those of the file, then cluster, which has
  all ranks. Levels that group ranks as another one does are left out. By hand:
    2x4               2 groups of 4 ranks, in order of rank
    numa,host         these and the whole
    0-3,4-7;0-7       the groups themselves, from the inside out; 0+2,1+3 where they are no ranges

EXIT STATUS
  0    done
  1    something could not be read or written
  2    the command line or a file is wrong
)",
                     topology::kTopologyFileExample);
}

}  // namespace strata::topo
