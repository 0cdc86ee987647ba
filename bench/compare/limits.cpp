// Measures the machine's limits of one kind:
//   limits --kind private|shared|tcp --collective all_reduce --sizes 8,1024
//   limits --kind memory --collective copy --sizes 67108864
#include <cstdio>

#include "bench/compare/limits.hpp"

namespace strata::compare {
namespace {

int measure_private(const Arguments& arguments) {
  constexpr std::uint64_t kSmallPiece = (32 << 10) / sizeof(float), kLargePiece = (128 << 10) / sizeof(float);
  int status = 0;
  {
    Pair pair;
    Mailbox mailbox(pair);
    status |= measure_all(mailbox, arguments, "mailbox");
  }
  for (std::uint64_t piece : {kSmallPiece, kLargePiece}) {
    Memory slots = map_memory(Staged::slots_count(piece), MAP_SHARED);
    Pair pair;
    Staged staged(pair, std::move(slots), piece);
    status |= measure_all(staged, arguments, piece == kSmallPiece ? "staged-32K" : "staged-128K");
  }
  return status;
}

int measure_shared(const Arguments& arguments) {
  const SharedBuffers buffers = map_shared_buffers(kSharedCountMax);
  constexpr std::pair<SharedWay, const char*> kWays[] = {
      {SharedWay::copy, "shared-copy"},
      {SharedWay::write, "shared-write"},
      {SharedWay::write_streaming, "shared-write-streaming"}};
  int status = 0;
  for (const auto& [way, name] : kWays) {
    Pair pair;
    Shared shared(pair, buffers, way);
    status |= measure_all(shared, arguments, name);
  }
  return status;
}

int measure_tcp(const Arguments& arguments) {
  int status = 0;
  for (const char* control : {"", "reno"}) {
    Pair pair;
    Tcp tcp(pair, control);
    status |= measure_all(tcp, arguments, *control ? std::string("duplex-") + control : "duplex");
  }
  return status;
}

int measure_memory(const Arguments& arguments) {
  int status = 0;
  for (int copiers : {1, 2})
    for (bool streaming : {false, true}) {
      Pair pair;
      Copy copy(pair, copiers, streaming);
      const std::string name = streaming ? "streaming" : "memcpy";
      status |= measure_all(copy, arguments, name + (copiers == 1 ? "-1-core" : "-2-cores"));
    }
  return status;
}

int main(int argc, char** argv) {
  const Arguments arguments = parse_arguments(argc, argv, {"--kind"});
  const std::string kind = arguments.own_or("--kind", "");
  if (kind == "private") return measure_private(arguments);
  if (kind == "shared") return measure_shared(arguments);
  if (kind == "tcp") return measure_tcp(arguments);
  if (kind == "memory") return measure_memory(arguments);
  std::fprintf(stderr, "--kind is one of private, shared, tcp, memory\n");
  return 2;
}

}  // namespace
}  // namespace strata::compare

int main(int argc, char** argv) { return strata::compare::main(argc, argv); }
