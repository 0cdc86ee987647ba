// Lowering leaves nothing a transport cannot do, and nothing else changed. That results stay right is proved
// with the catalog.
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "tests/schedule/world.hpp"

namespace strata::test {
namespace {

constexpr std::uint64_t kElement = 4;

Program example(const char* name, Collective collective, int size, std::uint64_t count) {
  Request request;
  request.collective = collective;
  request.type = DataType::float32;
  request.count = count;
  Program program;
  find_algorithm(collective, name)->build(program, request, whole_group(size, 1), {});
  return program;
}

std::map<std::pair<Rank, bool>, std::uint64_t> bytes_by_peer(const Program& program) {
  std::map<std::pair<Rank, bool>, std::uint64_t> bytes;
  for (const Step& s : program.steps())
    if (s.on_wire()) bytes[{s.peer, s.op == Op::send}] += s.length;
  return bytes;
}

bool same_steps(const Program& a, const Program& b) {
  if (a.steps().size() != b.steps().size() || a.scratch_bytes() != b.scratch_bytes()) return false;
  for (std::size_t i = 0; i < a.steps().size(); ++i) {
    const Step &x = a.steps()[i], &y = b.steps()[i];
    if (x.op != y.op || x.reduce != y.reduce || x.channel != y.channel || x.from() != y.from() ||
        x.into() != y.into())
      return false;
  }
  return true;
}

}  // namespace

TEST_CASE("what the wire can do stays as it is") {
  const Program program = example("ring", Collective::all_reduce, 5, 1000);
  CHECK(same_steps(program, lower(program, kElement, [](Rank) { return WireAbilities{}; })));
  CHECK(same_steps(program, lower(program, kElement, [](Rank) { return WireAbilities{true, 1 << 20}; })));
}

TEST_CASE("nothing is left that the wire cannot do") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const int size = 2 + static_cast<int>(random() % 6);
    const char* const names[] = {"ring", "recursive_doubling", "halving_doubling", "direct"};
    const Program program = example(names[random() % 4], Collective::all_reduce, size, random() % 300);
    std::map<Rank, WireAbilities> abilities;
    for (Rank peer = 0; peer < size; ++peer) abilities[peer] = {random() % 2 == 0, kElement + random() % 100};
    const Program lowered = lower(program, kElement, [&](Rank peer) { return abilities.at(peer); });
    for (const Step& s : lowered.steps()) {
      if (!s.on_wire()) continue;
      REQUIRE(s.length <= abilities.at(s.peer).message_bytes_max);
      REQUIRE(s.length % kElement == 0);
      REQUIRE((s.op != Op::recv_reduce || abilities.at(s.peer).fused_recv_reduce));
    }
    REQUIRE(bytes_by_peer(lowered) == bytes_by_peer(program));
  }
}

TEST_CASE("taking reductions apart costs a bounded amount of scratch") {
  const auto lowered_scratch = [](std::uint64_t count) {
    const Program program = example("ring", Collective::all_reduce, 4, count);
    return lower(program, kElement, [](Rank) { return WireAbilities{false, 64 << 10}; }).scratch_bytes();
  };
  CHECK(lowered_scratch(4 << 20) <= 4 * (64 << 10));
  CHECK(lowered_scratch(4 << 20) == lowered_scratch(32 << 20));
}

}  // namespace strata::test
