#include "tools/strata_perf/manual.hpp"

#include "tools/strata_perf/test_case.hpp"

namespace strata::perf {

const char* const kManualIntroduction =
    R"(strata-perf - measures the time and bandwidth of Strata's collectives, and checks their results

Run one process for each rank; rank 0 prints. Flags, columns and footer are those of nccl-tests.)";

const char* const kHowToLaunch = R"(For example, 4 ranks on this host, from 8 bytes to 64 MiB:
    strata-run -n 4 -- strata-perf all_reduce -b 8 -e 64M -f 2
)";

namespace {

const char* const kExamples = R"(EXAMPLES
  Latency and bandwidth from 8 bytes to 128 MiB, each size twice the one before, on 4 ranks of this host:
    strata-run -n 4 -- strata-perf all_reduce -b 8 -e 128M -f 2
  All types and operations, at one small odd size, only to check results:
    strata-run -n 3 -- strata-perf reduce_scatter -b 1000 -e 1000 -d all -o all -n 1
  Compare two algorithms over TCP and keep the figures:
    strata-run -n 4 -- strata-perf all_reduce --transport tcp --algorithm ring --csv ring.csv
    strata-run -n 4 -- strata-perf all_reduce --transport tcp --algorithm recursive_doubling --csv doubling.csv
  See whether the right algorithm is chosen at each size:
    strata-run -n 4 -- strata-perf all_reduce -b 8 -e 4M -f 8 --transport tcp --algorithm all
  For a script that reads nccl-tests' output:
    strata-run -n 4 --no-prefix -- strata-perf all_gather -b 1M -e 1G -f 4 --plain
  Buffers that the other ranks can work on, timed as bench/compare times other libraries:
    strata-run -n 2 -- strata-perf all_reduce --sizes 8,1K,4M --sampled 0.2 --untouched --memory shared
  One-way latency of TCP, and its bandwidth with 16 messages under way:
    strata-run -n 2 -- strata-perf ping_pong -b 8 -e 4K -f 2 -n 1000 --transport tcp
    strata-run -n 2 -- strata-perf send -b 64K -e 64M -f 4 --window 16 --transport tcp
  The levels that a topology file gives the ranks, and what is chosen by them:
    strata-run --lab 4x2@1gbit --lab-racks 2 -- strata-perf all_reduce --sizes 1K,4M --explain --topology cluster.toml
  Tail latency of small calls:
    strata-run -n 8 -- strata-perf all_reduce -b 8 -e 4K -f 2 -n 10000 -w 100
)";

}  // namespace

std::string manual_footer() {
  std::string text = "COLLECTIVES\n";
  for (const TestCase& t : test_cases()) {
    std::string name(t.name);
    name.resize(18, ' ');
    text += "  " + name + std::string(t.summary) + "\n";
  }
  return text + R"(  all               each of these in turn

SIZES
  A size is that of the larger of a rank's two buffers. Collectives that give each rank a part of it (all_gather,
  reduce_scatter, all_to_all, gather, scatter and the v forms) share it out equally, rounded down to whole elements;
  v forms then give later ranks more.

POINT TO POINT
  ping_pong has one message under way, send has --window of them, of the same buffer; a figure is of one message.
  Only ranks 0 and 1 take part. sendrecv sends in both directions at once.

SAMPLES
  With --sampled a sample is a barrier, then calls one after another: 32 up to 1 KiB, 8 up to 16 KiB, 2 up to 256 KiB,
  1 above, fewer when they would take over 20 ms, and 1 unless --untouched. Its time is the slowest rank's, divided
  by the calls. There are 9 to 400 samples, as many as fit; 15 % as many come before them. All are out of place on
  the same buffers, broadcast in place too; the root goes round from call to call. Libraries that are timed in this
  way can be compared.

EXPLAIN
  With --explain, lines with # say at first which levels the ranks form, from the inside out, and what a message pays
  between two ranks that no level further in has together: half a round trip and the rate of its way. Then lines
  before a row say what each algorithm is predicted to take, the chosen one marked by *, and lines after it what it
  took, the median out of place. With --algorithm all every algorithm is measured twice, in turn, the better median
  counts, and a last line says how near the chosen one comes to the best. Within a host, collectives on common memory
  are no messages and have no prediction; --transport tcp shows the choice among the others. v forms and point to
  point are not explained.

OUTPUT
  Lines that begin with # are not rows. A row holds
    size (B), count (elements, of one rank where the size is shared out), type, redop, root,
    then out of place and in place each: time (us), algbw and busbw (GB/s; GB = 1e9 bytes), #wrong,
    then p50 and p99 (us) out of place and in place, unless --plain.
  time is the mean over the iterations of the time of one call; algbw = size / time; busbw is algbw times
  2(n-1)/n for all_reduce, (n-1)/n for those that share out their size, 1 for the others. N/A: not measured.
  Between calls, outside the timing, every rank rewrites its input and reads its output, as a program would.

EXIT STATUS
  0  all results are right
  1  a result is wrong
  2  the command line is not understood
  3  an operation or the start of the job failed

)" + kExamples;
}

}  // namespace strata::perf
