// Measures the machine's limits:
//   limits --kind memory|tcp --workers 2 --sizes 8,4096,67108864
// Prints a row for each primitive, way and size; comparison/limits.py takes the fastest way.
#include <cstdio>

#include "bench/compare/limits.hpp"

namespace strata::compare {
namespace {

constexpr std::uint64_t kWordBytes = 8;
constexpr std::uint64_t kStreamingBytesMin = 256 << 10;  // less stays in the caches

template <class P>
int measure(P& primitive, const Arguments& arguments, std::uint64_t bytes, const std::string& name,
            const std::string& way = "", int parts = 1) {
  primitive.prepare(bytes);
  Measurement<P> measurement(primitive, arguments, {});
  primitive.barrier();
  primitive.call(0);
  double wrong = primitive.is_right() ? 0 : 1;
  primitive.slowest({&wrong, 1});
  measure_and_print(primitive, measurement, arguments,
                    {way.empty() ? "only" : way, name, primitive.size(), bytes, wrong == 0}, parts);
  return wrong == 0 ? 0 : 1;
}

int measure_words(const Arguments& arguments) {
  int status = 0;
  {
    Team team(2);
    Hop hop(team, false);
    status |= measure(hop, arguments, kWordBytes, "hop", "", Hop::kParts);
  }
  Team team(2, Placement::one_core);
  Hop hop(team, true);
  return status | measure(hop, arguments, kWordBytes, "switch", "", Hop::kParts);
}

int measure_work(const Arguments& arguments, int workers) {
  int status = 0;
  Team team(workers);
  for (Work::Kind kind : {Work::kCopy, Work::kAdd})
    for (bool streaming : {false, true}) {
      Work work(team, kind, streaming);
      for (std::uint64_t bytes : arguments.sizes)
        if (!streaming || bytes >= kStreamingBytesMin)
          status |= measure(work, arguments, bytes, kind == Work::kCopy ? "copy" : "add",
                            streaming ? "streaming" : "plain");
    }
  return status;
}

int measure_pass(const Arguments& arguments, int workers) {
  int status = 0;
  for (std::uint64_t kib : {8, 32, 128}) {
    const std::uint64_t piece_count = (kib << 10) / sizeof(float);
    Memory slots = map_memory(static_cast<std::uint64_t>(workers) * Pass::kSlots * piece_count, MAP_SHARED);
    Team team(workers);
    Pass pass(team, std::move(slots), piece_count);
    for (std::uint64_t bytes : arguments.sizes)
      status |= measure(pass, arguments, bytes, "pass", std::to_string(kib) + "K");
  }
  Team team(workers);
  Pull pull(team);
  pull.prepare(kWordBytes);
  const bool allowed = pull.is_allowed();
  for (std::uint64_t bytes : arguments.sizes)
    if (allowed) status |= measure(pull, arguments, bytes, "pass", "process_vm_readv");
  return status;
}

int measure_tcp(const Arguments& arguments, int workers) {
  int status = 0;
  for (const char* control : {"", "reno"}) {
    const std::string way = *control ? control : "default";
    {
      Team team(2);
      Tcp hop(team, Tcp::kHop, control), stream(team, Tcp::kStream, control);
      for (std::uint64_t bytes : arguments.sizes) {
        status |= measure(hop, arguments, bytes, "tcp_hop", way, Hop::kParts);
        status |= measure(stream, arguments, bytes, "tcp_stream", way);
      }
    }
    Team team(workers);
    Tcp exchange(team, Tcp::kExchange, control);
    for (std::uint64_t bytes : arguments.sizes)
      status |= measure(exchange, arguments, bytes, "tcp_exchange", way);
  }
  return status;
}

int main(int argc, char** argv) {
  const Arguments arguments = parse_arguments(argc, argv, {"--kind", "--workers"});
  const std::string kind = arguments.own_or("--kind", "");
  const int workers = std::atoi(arguments.own_or("--workers", "2").c_str());
  if (workers < 1 || workers > static_cast<int>(kWorkersMax)) {
    std::fprintf(stderr, "--workers: %d is not from 1 to %zu\n", workers, kWorkersMax);
    return 2;
  }
  if (kind != "memory" && kind != "tcp") {
    std::fprintf(stderr, "--kind: '%s' is neither memory nor tcp\n", kind.c_str());
    return 2;
  }
  const int status = measure_words(arguments) | measure_work(arguments, workers);
  return status | (kind == "tcp" ? measure_tcp : measure_pass)(arguments, workers);
}

}  // namespace
}  // namespace strata::compare

int main(int argc, char** argv) { return strata::compare::main(argc, argv); }
