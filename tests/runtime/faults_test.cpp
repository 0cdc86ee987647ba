// A thousand seeds of bad luck: every Work ends, well with right sums or badly with the communicator's error.
#include <catch2/catch.hpp>

#include <atomic>
#include <random>

#include "tests/support/world.hpp"

using namespace strata;
using namespace strata::test;

namespace {

// The same calls at every rank: the choice depends on the seed only. Every result is checked when its Work
// ends well.
void random_calls(Communicator& comm, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const int n = comm.size(), me = comm.rank();
  constexpr int kCalls = 12;
  std::vector<std::vector<int>> buffers;
  buffers.reserve(2 * kCalls);
  std::vector<Work> works;
  std::vector<std::function<bool()>> right;
  for (int i = 0; i < kCalls; ++i) {
    const std::uint64_t count = random() % 4 == 0 ? random() % 3000 : random() % 40;
    const auto root = static_cast<Rank>(random() % static_cast<unsigned>(n));
    const std::uint64_t kind = random() % 4;
    auto& in = buffers.emplace_back(count * static_cast<std::size_t>(n), me + i);
    auto& out = buffers.emplace_back(count * static_cast<std::size_t>(n), -1);
    const int all = n * (n - 1) / 2 + n * i;
    const auto is = [&out, count](int expected) {
      return [&out, count, expected] {
        for (std::size_t k = 0; k < count; ++k)
          if (out[k] != expected) return false;
        return true;
      };
    };
    switch (kind) {
      case 0:
        works.push_back(comm.all_reduce(in.data(), out.data(), count, DataType::int32, ReduceOp::sum));
        right.push_back(is(all));
        break;
      case 1:
        works.push_back(comm.broadcast(in.data(), out.data(), count, DataType::int32, root));
        right.push_back(is(root + i));
        break;
      case 2:
        works.push_back(comm.reduce_scatter(in.data(), out.data(), count, DataType::int32, ReduceOp::sum));
        right.push_back(is(all));
        break;
      default:
        works.push_back(comm.all_to_all(in.data(), out.data(), count, DataType::int32));
        right.push_back(is(0 + i));  // the first part comes from rank 0
        break;
    }
  }
  for (std::size_t i = 0; i < works.size(); ++i) {
    const Status s = works[i].wait();
    EXPECT(works[i].done());
    if (s.ok())
      EXPECT(right[i]());
    else
      EXPECT(s.message() == comm.status().message());
  }
}

}  // namespace

TEST_CASE("delayed and reordered completions change no result") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    const Faults faults{.seed = seed, .delay = 0.3, .delay_polls_max = 20, .peer_death = 0};
    const int size = 2 + static_cast<int>(seed % 4);
    const std::string wrong = run_world(
        size, {.wire = seed % 2 ? Wire::memory : Wire::memory_lowered, .communicator = {}, .faults = &faults},
        [&](Communicator& comm) {
          random_calls(comm, seed);
          EXPECT_OK(comm.barrier().wait());
        });
    REQUIRE(wrong == "");
  }
}

TEST_CASE("peers that die at any moment end every Work with one error") {
  int failed = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    const Faults faults{.seed = seed, .delay = 0.2, .delay_polls_max = 20, .peer_death = 0.004};
    const int size = 2 + static_cast<int>(seed % 4);
    std::atomic<int> lost{0};
    const std::string wrong = run_world(size, {.wire = Wire::memory, .communicator = {}, .faults = &faults},
                                        [&](Communicator& comm) {
                                          random_calls(comm, seed);
                                          if (!comm.status().ok()) ++lost;
                                        });
    REQUIRE(wrong == "");
    failed += lost > 0;
  }
  CHECK(failed > 50);   // the faults did strike
  CHECK(failed < 500);  // and not always
}
