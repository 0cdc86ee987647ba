// Sizes of calls: what ranks give and get must fit together for every collective, size and rank count.
#include "tools/strata_perf/test_case.hpp"

#include <catch2/catch.hpp>
#include <numeric>

namespace strata::perf {
namespace {

template <class F>
void for_each_shape(F f) {
  for (const TestCase& test : test_cases())
    for (int ranks : {1, 2, 3, 5, 8})
      for (std::uint64_t elements : {0, 1, 7, 64, 1001})
        for (Rank root = 0; root < (test.rooted ? ranks : 1); ++root)
          for (Rank me = 0; me < ranks; ++me) {
            CAPTURE(test.name, ranks, elements, root, me);
            f(test, shape_of(test, elements, ranks, me, root), ranks, me, root, elements);
          }
}

}  // namespace

TEST_CASE("results fit their buffers, and come from inside the buffers of their owners") {
  for_each_shape(
      [](const TestCase& test, const Shape& shape, int ranks, Rank me, Rank root, std::uint64_t elements) {
        const std::vector<Source> sources = expected_output(test, shape, ranks, me, root);
        const std::uint64_t held =
            std::accumulate(sources.begin(), sources.end(), std::uint64_t{0},
                            [](std::uint64_t sum, const Source& s) { return sum + s.count; });
        CHECK((sources.empty() || held == shape.output));
        for (const Source& s : sources) {
          const Rank owner = s.owner == Source::kAllRanks ? me : s.owner;
          CHECK(s.first + s.count <= shape_of(test, elements, ranks, owner, root).input);
        }
      });
}

TEST_CASE("no buffer is larger than the size asked for, and in place the smaller lies within the larger") {
  for_each_shape([](const TestCase&, const Shape& shape, int, Rank, Rank, std::uint64_t elements) {
    CHECK(std::max(shape.input, shape.output) <= elements);
    CHECK(std::max(shape.input, shape.output) <= shape.shown);
    CHECK(shape.input + shape.input_offset <= shape.shown);
    CHECK(shape.output + shape.output_offset <= shape.shown);
  });
}

TEST_CASE("what one rank sends to another is what that one receives") {
  const TestCase& test = *find_test_case("all_to_all_v");
  for (int ranks : {1, 2, 5}) {
    std::uint64_t received = 0, sent = 0;
    for (Rank me = 0; me < ranks; ++me) {
      const Shape shape = shape_of(test, 1000, ranks, me, 0);
      sent += shape.input;
      for (const Source& s : expected_output(test, shape, ranks, me, 0)) received += s.count;
    }
    CHECK(sent == received);
  }
}

TEST_CASE("bandwidth factors are nccl-tests'") {
  const auto factor = [](const char* name) { return bus_factor(*find_test_case(name), 4); };
  CHECK(factor("all_reduce") == Approx(1.5));
  for (const char* name : {"reduce_scatter", "all_gather", "all_to_all", "gather", "scatter"})
    CHECK(factor(name) == Approx(0.75));
  for (const char* name : {"broadcast", "reduce", "sendrecv"}) CHECK(factor(name) == 1.0);
}

TEST_CASE("a window holds as many messages as asked for, but not many large ones") {
  const TestCase& send = *find_test_case("send");
  CHECK(messages_per_call(send, 0, 64) == 64);
  CHECK(messages_per_call(send, 1 << 20, 64) == 64);
  CHECK(messages_per_call(send, 4 << 20, 64) == 16);
  CHECK(messages_per_call(send, 1ull << 30, 64) == 2);
  CHECK(messages_per_call(send, 1ull << 30, 1) == 1);
  CHECK(messages_per_call(*find_test_case("ping_pong"), 8, 64) == 2);
  CHECK(messages_per_call(*find_test_case("sendrecv"), 8, 64) == 1);
}

}  // namespace strata::perf
