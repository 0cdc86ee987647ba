// What a communicator and a call can be told. Every field has a default, a unit and a reason.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "strata/export.h"
#include "strata/status.hpp"

namespace strata {

struct CommunicatorOptions {
  // Where ranks meet: "host:port" (rank 0 listens there; IPv6 as "[addr]:port"), or a file path for ranks of
  // one host (a socket is made there and removed again).
  std::string rendezvous;
  int rank = -1;
  int size = -1;
  int local_rank = -1;  // index among the ranks of this host; -1: not known
  // The job's secret. All ranks must give the same; a joiner with another one is refused. Empty: no check.
  std::string secret;
  // Which network interface carries TCP: its name, a prefix of it ended by '*', or an address. Several with
  // commas between are rails: data go over all of them at once, as fast as each takes them; the i-th of one
  // host is connected to the i-th of another. Empty: one, chosen (never loopback between hosts, never a
  // container bridge unless it is the only one) and logged.
  std::string interface;
  std::string
      transport;  // narrows the choice, e.g. "tcp" or "shm,tcp"; empty: the best that reaches each peer
  std::uint16_t port_min = 0, port_max = 0;  // every listening port lies in this range; 0, 0: any
  // TCP connections to each peer on each rail, at most 16. More than one pays where the network limits each
  // flow: messages are spread over them, most to those that carry most. Two ranks that differ take the
  // smaller number.
  std::uint32_t tcp_streams = 1;
  // How much a TCP connection to another host may have under way (written and not acknowledged), and in what
  // pieces a message goes, in KiB. What is urgent waits for that much. 0: tuned to the path while it is in
  // use, so that its queues stay at about 2 ms. Each rank's own affair. At most 65536 and 1024.
  std::uint32_t tcp_credit_kb = 0, tcp_fragment_kb = 0;
  std::uint32_t rendezvous_timeout_ms = 60'000;  // all ranks must have come by then
  std::uint32_t timeout_ms =
      60'000;  // an operation without progress for so long fails on all ranks; 0: never
  // Polling before a waiting thread sleeps. When ranks outnumber cores it gives its core away between two
  // looks, and does so ten times as long.
  std::uint32_t spin_us = 50;
  bool progress_thread = true;  // false: operations advance only inside calls
  // What the whole process keeps for reuse between operations, in MiB (2^20 bytes); more is taken while an
  // operation needs it and given back after. The communicator created last sets it.
  std::uint32_t memory_mb = 64;
  // Ranks of a host read each other's buffers, where the system lets them (process_vm_readv) and it is
  // faster; false: never, and this rank lets nobody; then they copy twice, unless buffers are of
  // strata::allocate().
  bool single_copy = true;
  // Forces one algorithm where it applies: a name of the catalog; "shared_memory", the collectives on memory
  // that the ranks of a host have in common; "messages", anything but those. Empty: selected.
  std::string algorithm;
  // Whether the links' costs, by which algorithms are selected, are measured at the start (a few
  // milliseconds): "auto" (also if empty), unless this machine's have been kept from before; "always"; "off":
  // the built-in costs are used. Rank 0's counts.
  std::string calibrate;

  // A file for the timeline of the whole job, in the trace-event format of Chrome and Perfetto; rank 0's
  // counts, and rank 0 writes it, and a summary on standard error, when the last communicator is destroyed:
  // that waits for all ranks then. Each rank records into FILE.rankN.part, of trace_mb MiB (2^20 bytes; what
  // does not fit is dropped and counted), beside the file or in the directory for temporary files; these stay
  // only when they cannot be gathered. No error of all this fails the job. Empty: nothing is recorded.
  std::string trace;
  std::uint32_t trace_mb = 32;

  // Where Prometheus finds this rank's counters, as http://HOST:PORT/metrics: "port" (on 127.0.0.1),
  // "host:port" or
  // "[IPv6]:port". Each rank of a host takes the port that is local_rank higher; port 0: any free one, which
  // the log tells at level info. A port that is not to be had is a warning. Empty: nothing is counted.
  std::string metrics;

  // A topology file (`strata-topo --help` shows the format): what cannot be discovered of racks, rails and
  // machines. It must have the job's hosts. All ranks must be given the same one, each by its own path.
  // Empty: what can be discovered.
  std::string topology;
  // The levels of groups that hierarchical algorithms work on, by hand: "2x4", "numa,host,rack" or
  // "0-3,4-7;0-7", as `strata-topo levels` takes them; "cluster": none. All ranks must be given the same.
  // Empty: all that there are.
  std::string levels;

  // Reads RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT (torchrun's names) and STRATA_*.
  // Error: invalid_argument naming the variable, its value and what it may be; an unknown STRATA_ variable
  // too.
  STRATA_API static Expected<CommunicatorOptions> from_environment();
  // Did a launcher start this process, that is, does the environment name its rank? If not, it is alone.
  STRATA_API static bool launched();
};

struct CallOptions {
  double scale = 1.0;  // of ReduceOp::scaled_sum; the same on all ranks
  // Higher is sent first when several operations have something to send, whatever their communicators. Each
  // rank's own affair, but best the same on all. On memory that the ranks of a host have in common, a
  // communicator's calls without a name go one after the other; what is to pass them needs a name, or a
  // communicator of its own.
  std::int32_t priority = 0;
  std::uint32_t timeout_ms = 0;  // 0: the communicator's
  // So long after its call an operation that has not ended is cancelled, as by Work::cancel(), with the
  // status `timeout`; 0: never.
  std::uint32_t deadline_ms = 0;
  // Calls with a name match the other ranks' calls with that name, the n-th the n-th, in whatever order they
  // come: ranks may call what has different names in different orders, and wait in any. It has its own count
  // of calls, takes no part in the order of calls without a name, and goes by messages. Any bytes; kept as
  // long as the communicator.
  std::string_view name = {};
  std::string_view algorithm = {};  // forces one algorithm, as above; the same on all ranks; copied
};

}  // namespace strata
