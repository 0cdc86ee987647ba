// Real data over real transports: every collective, type and operation against the serial result.
#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>
#include <random>

#include "ccl/algorithms/algorithm.hpp"
#include "strata/memory.hpp"
#include "tests/support/values.hpp"
#include "tests/support/world.hpp"

using namespace strata;
using namespace strata::test;

namespace {

struct Case {
  Collective collective;
  DataType type;
  ReduceOp op;
  std::uint64_t count;
  bool in_place;
  bool v;
  Rank root;
  std::uint64_t seed;
};

std::string text(const Case& c) {
  return std::string(to_string(c.collective)) + (c.v ? "_v" : "") + " " + std::string(to_string(c.type)) +
         " " + std::string(to_string(c.op)) + " count " + std::to_string(c.count) +
         (c.in_place ? " in place" : "") + " root " + std::to_string(c.root) + " seed " +
         std::to_string(c.seed);
}

// What rank r contributes at index i: small numbers whose results every type holds exactly.
double value(const Case& c, int size, int rank, std::uint64_t i) {
  std::uint64_t h = (c.seed * 31 + static_cast<std::uint64_t>(rank)) * 1000003 + i;
  h ^= h >> 7;
  h *= 0x9e3779b97f4a7c15u;
  const double bit = static_cast<double>(h >> 63);
  if (c.op == ReduceOp::product) return 1 + bit;
  if (c.op == ReduceOp::average) return size * bit;
  return bit + (c.op == ReduceOp::sum ? 0 : 1);
}

constexpr double kScale = 2;

std::vector<std::uint64_t> counts_of(const Case& c, int size) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(size), c.count);
  if (c.v) {
    std::mt19937_64 random(c.seed);
    for (auto& n : counts) n = random() % 3 == 0 ? 0 : random() % (c.count + 1);
  }
  return counts;
}
// What rank a sends to rank b in all-to-all.
std::uint64_t pair_count(const Case& c, int a, int b) {
  if (!c.v) return c.count;
  std::mt19937_64 random(c.seed + static_cast<std::uint64_t>(a * 100 + b));
  return random() % 4 == 0 ? 0 : random() % (c.count + 1);
}

std::vector<double> contribution(const Case& c, int size, int rank, std::uint64_t n) {
  std::vector<double> values(n);
  for (std::uint64_t i = 0; i < n; ++i) values[i] = value(c, size, rank, i);
  return values;
}

// By definition: what this rank's input is, where it lies in place, and what its output must be.
struct Truth {
  std::vector<double> input, output;
  std::uint64_t input_at = 0, output_at = 0;  // elements, of the smaller buffer in the larger
};

Truth truth(const Case& c, int size, int me) {
  const auto counts = counts_of(c, size);
  const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  const auto mine = counts[static_cast<std::size_t>(me)];
  const std::uint64_t before = std::accumulate(counts.begin(), counts.begin() + me, std::uint64_t{0});
  const auto reduced = [&](std::uint64_t i) {
    std::vector<double> values;
    for (int r = 0; r < size; ++r) values.push_back(value(c, size, r, i));
    return combine(c.op, c.type, values, kScale);
  };
  const auto part_of = [&](int rank, std::uint64_t from, std::uint64_t n, std::vector<double>& to) {
    for (std::uint64_t i = 0; i < n; ++i) to.push_back(value(c, size, rank, from + i));
  };
  Truth t;
  switch (c.collective) {
    case Collective::broadcast:
      if (me == c.root) t.input = contribution(c, size, me, c.count);
      t.output = contribution(c, size, c.root, c.count);
      break;
    case Collective::reduce:
    case Collective::all_reduce:
      t.input = contribution(c, size, me, c.count);
      if (c.collective == Collective::all_reduce || me == c.root)
        for (std::uint64_t i = 0; i < c.count; ++i) t.output.push_back(reduced(i));
      break;
    case Collective::reduce_scatter:
      t.input = contribution(c, size, me, all);
      for (std::uint64_t i = 0; i < mine; ++i) t.output.push_back(reduced(before + i));
      t.output_at = before;
      break;
    case Collective::all_gather:
    case Collective::gather:
      t.input = contribution(c, size, me, mine);
      t.input_at = before;
      if (c.collective == Collective::all_gather || me == c.root)
        for (int r = 0; r < size; ++r) part_of(r, 0, counts[static_cast<std::size_t>(r)], t.output);
      break;
    case Collective::scatter:
      if (me == c.root) t.input = contribution(c, size, me, all);
      part_of(c.root, before, mine, t.output);
      t.output_at = before;
      break;
    case Collective::all_to_all: {
      std::uint64_t n = 0;
      for (int r = 0; r < size; ++r) n += pair_count(c, me, r);
      t.input = contribution(c, size, me, n);
      for (int r = 0; r < size; ++r) {
        std::uint64_t from = 0;
        for (int k = 0; k < me; ++k) from += pair_count(c, r, k);
        part_of(r, from, pair_count(c, r, me), t.output);
      }
      break;
    }
    default: break;
  }
  return t;
}

Work call(Communicator& comm, const Case& c, const void* in, void* out, const CallOptions& options) {
  const auto counts = counts_of(c, comm.size());
  switch (c.collective) {
    case Collective::broadcast: return comm.broadcast(in, out, c.count, c.type, c.root, options);
    case Collective::reduce: return comm.reduce(in, out, c.count, c.type, c.op, c.root, options);
    case Collective::all_reduce: return comm.all_reduce(in, out, c.count, c.type, c.op, options);
    case Collective::reduce_scatter:
      return c.v ? comm.reduce_scatter_v(in, out, counts, c.type, c.op, options)
                 : comm.reduce_scatter(in, out, c.count, c.type, c.op, options);
    case Collective::all_gather:
      return c.v ? comm.all_gather_v(in, out, counts, c.type, options)
                 : comm.all_gather(in, out, c.count, c.type, options);
    case Collective::gather:
      return c.v ? comm.gather_v(in, out, counts, c.type, c.root, options)
                 : comm.gather(in, out, c.count, c.type, c.root, options);
    case Collective::scatter:
      return c.v ? comm.scatter_v(in, out, counts, c.type, c.root, options)
                 : comm.scatter(in, out, c.count, c.type, c.root, options);
    case Collective::all_to_all: {
      if (!c.v) return comm.all_to_all(in, out, c.count, c.type, options);
      std::vector<std::uint64_t> to, from;
      for (int r = 0; r < comm.size(); ++r) {
        to.push_back(pair_count(c, comm.rank(), r));
        from.push_back(pair_count(c, r, comm.rank()));
      }
      return comm.all_to_all_v(in, to, out, from, c.type, options);
    }
    default: return comm.barrier(options);
  }
}

// Private, or such that others can map it.
class Memory {
 public:
  Memory(std::size_t bytes, bool shared, std::byte mark) : bytes_(bytes) {
    if (shared) shared_ = static_cast<std::byte*>(*allocate(bytes));
    private_.resize(shared ? 0 : bytes);
    std::fill_n(data(), bytes, mark);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (!deallocate(shared_).ok()) std::abort();
  }
  std::byte* data() { return shared_ ? shared_ : private_.data(); }
  std::byte operator[](std::size_t i) { return data()[i]; }

 private:
  std::size_t bytes_;
  std::byte* shared_ = nullptr;
  std::vector<std::byte> private_;
};

// Buffers stand at odd addresses between guards; the input must be left as it was.
void check(Communicator& comm, const Case& c, std::string_view algorithm = {}, bool shared = false) {
  const std::uint64_t e = size_of(c.type);
  const Truth t = truth(c, comm.size(), comm.rank());
  const std::vector<std::byte> input = encode(c.type, t.input), expected = encode(c.type, t.output);
  constexpr std::size_t kGuard = 67;
  constexpr std::byte kMark{0xa5};
  Memory in(input.size() + kGuard + 1, shared, kMark), out(expected.size() + kGuard + 1, shared, kMark);
  std::copy(input.begin(), input.end(), in.data() + 1);
  std::byte *from = in.data() + 1, *to = out.data() + 1;
  if (c.in_place && !input.empty() && !expected.empty()) {
    if (input.size() > expected.size()) {
      to = from + t.output_at * e;
    } else {
      from = to + t.input_at * e;
      std::copy(input.begin(), input.end(), from);
    }
  }
  const bool aliased = from != in.data() + 1 || to != out.data() + 1;
  EXPECT_OK(call(comm, c, input.empty() ? nullptr : from, expected.empty() ? nullptr : to,
                 {.scale = kScale, .algorithm = algorithm})
                .wait());
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (to[i] != expected[i])
      throw ExpectationFailed("wrong value: " + text(c) + " by '" + std::string(algorithm) + "' at byte " +
                              std::to_string(i) + ": " + std::to_string(load(c.type, to + i / e * e)) +
                              " instead of " + std::to_string(load(c.type, expected.data() + i / e * e)));
  if (!aliased) EXPECT(std::equal(input.begin(), input.end(), from));
  for (std::size_t i = 0; i < kGuard; ++i) EXPECT(out[expected.size() + 1 + i] == kMark);
  EXPECT(out[0] == kMark);
}

Request request_of(const Case& c) {
  Request r;
  r.collective = c.collective;
  r.type = c.type;
  r.op = c.op;
  r.root = c.root;
  r.count = c.count;
  r.in_place = c.in_place;
  return r;
}

bool reduces(Collective c) {
  return c == Collective::reduce || c == Collective::all_reduce || c == Collective::reduce_scatter;
}
bool has_v(Collective c) {
  return c == Collective::reduce_scatter || c == Collective::all_gather || c == Collective::all_to_all ||
         c == Collective::gather || c == Collective::scatter;
}

template <class F>
void for_each_case(int size, std::uint64_t seed, const std::vector<std::uint64_t>& counts, F f) {
  for (int k = 1; k <= static_cast<int>(Collective::scatter); ++k)
    for (int t = 0; t < kDataTypes; ++t)
      for (int o = 0; o < kReduceOps; ++o)
        for (const std::uint64_t count : counts)
          for (const bool in_place : {false, true})
            for (const bool v : {false, true}) {
              const Case c{static_cast<Collective>(k),
                           static_cast<DataType>(t),
                           static_cast<ReduceOp>(o),
                           count,
                           in_place,
                           v,
                           static_cast<Rank>(seed % static_cast<std::uint64_t>(size)),
                           ++seed};
              if (!reduces(c.collective) && c.op != ReduceOp::sum) continue;
              if (reduces(c.collective) && !is_defined(c.op, c.type)) continue;
              if (v && (!has_v(c.collective) || (in_place && c.collective == Collective::all_to_all)))
                continue;
              f(c);
            }
}

constexpr std::uint64_t kSeed = 20240607;

// Sanitizers slow the whole matrix down twentyfold; what they look for shows in a sample of it.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kEvery = 23, kLarge = 20'011;
#else
constexpr std::uint64_t kEvery = 1, kLarge = 300'001;
#endif

}  // namespace

TEST_CASE("every collective, type and operation gives the serial result on every transport") {
  const Wire wire = GENERATE(Wire::memory, Wire::memory_lowered, Wire::shm, Wire::shm_messages, Wire::tcp);
  const int size = GENERATE(1, 2, 3, 4, 5, 8);
  CAPTURE(name_of(wire), size, kSeed);
  const std::string wrong = run_world(size, {.wire = wire, .communicator = {}}, [&](Communicator& comm) {
    for_each_case(size, kSeed, {0, 1, 7, 130}, [&](const Case& c) {
      if (c.seed % kEvery == 0) check(comm, c);
    });
    EXPECT_OK(comm.barrier().wait());
  });
  CHECK(wrong == "");
}

TEST_CASE("every algorithm of the catalog moves real data right, large and small") {
  const Wire wire = GENERATE(Wire::memory_lowered, Wire::shm, Wire::tcp);
  const int size = GENERATE(2, 3, 4, 5);
  CAPTURE(name_of(wire), size);
  const std::string wrong = run_world(size, {.wire = wire, .communicator = {}}, [&](Communicator& comm) {
    std::uint64_t seed = 0;
    for (const Algorithm& a : catalog())
      for (const std::uint64_t count : {std::uint64_t{3}, std::uint64_t{5000},
                                        wire == Wire::memory_lowered ? std::uint64_t{1000} : kLarge})
        for (const bool in_place : {false, true}) {
          const Case c{a.collective,
                       DataType::int32,
                       ReduceOp::sum,
                       count,
                       in_place,
                       false,
                       static_cast<Rank>(++seed % static_cast<unsigned>(size)),
                       seed};
          if (a.collective == Collective::barrier ||
              !a.supports(request_of(c), whole_group(size, comm.rank())))
            continue;
          check(comm, c, a.name);
        }
  });
  CHECK(wrong == "");
}

TEST_CASE("collectives on common memory, large and small, whoever's buffers can be mapped") {
  const int size = GENERATE(2, 3, 4, 5);
  CAPTURE(size);
  const std::string wrong = run_world(size, {.wire = Wire::shm, .communicator = {}}, [&](Communicator& comm) {
    std::uint64_t seed = 0;
    for (int k = 1; k <= static_cast<int>(Collective::scatter); ++k)
      for (const std::uint64_t count : {std::uint64_t{3}, std::uint64_t{5000}, kLarge / 3})
        for (const unsigned sharers : {0u, ~0u, 0x15u})  // a bit a rank
          for (const bool in_place : {false, true})
            for (const bool v : {false, true}) {
              const auto collective = static_cast<Collective>(k);
              if (v && (!has_v(collective) || collective == Collective::all_to_all)) continue;
              const Case c{collective,
                           DataType::int32,
                           ReduceOp::average,
                           count,
                           in_place,
                           v,
                           static_cast<Rank>(++seed % static_cast<unsigned>(size)),
                           seed};
              check(comm, c, "shared_memory", (sharers >> comm.rank() & 1) != 0);
            }
  });
  CHECK(wrong == "");
}

TEST_CASE("private buffers of other processes are read, unless that is switched off") {
  const int size = GENERATE(2, 3);
  CommunicatorOptions options;
  options.single_copy = GENERATE(true, false);
  CAPTURE(size, options.single_copy);
  const std::string wrong =
      run_world(size, {.wire = Wire::shm, .communicator = options}, [&](Communicator& comm) {
        std::uint64_t seed = 0;
        for (const Collective collective :
             {Collective::all_to_all, Collective::all_gather, Collective::scatter})
          for (const bool in_place : {false, true})
            for (const unsigned sharers : {0u, 2u})  // a bit a rank
              check(comm, {collective, DataType::int64, ReduceOp::sum, 70'001, in_place, false, 1, ++seed},
                    "shared_memory", (sharers >> comm.rank() & 1) != 0);
      });
  CHECK(wrong == "");
}

TEST_CASE("what is larger than the caches goes past them") {
  const std::string wrong = run_world(2, {.wire = Wire::shm, .communicator = {}}, [&](Communicator& comm) {
    for (const Collective collective : {Collective::all_reduce, Collective::all_gather, Collective::reduce})
      for (const bool in_place : {false, true})
        check(comm, {collective, DataType::int8, ReduceOp::sum, 9'000'001, in_place, false, 1, 5},
              "shared_memory", true);
  });
  CHECK(wrong == "");
}

TEST_CASE("8- and 16-bit floats are summed wide: many small terms are not lost") {
  // 2048 + 1 is not a float16: added one by one the ones would vanish, in 32 bits they sum to 2048 + 7 ->
  // 2056.
  const std::string wrong = run_world(8, {.wire = Wire::memory, .communicator = {}}, [&](Communicator& comm) {
    std::vector<std::byte> data(2 * 5000), sum(data.size());
    for (std::size_t i = 0; i < 5000; ++i)
      store(DataType::float16, &data[2 * i], comm.rank() == 0 ? 2048 : 1);
    EXPECT_OK(comm.all_reduce(data.data(), sum.data(), 5000, DataType::float16, ReduceOp::sum).wait());
    for (std::size_t i = 0; i < 5000; ++i) EXPECT(load(DataType::float16, &sum[2 * i]) == 2056);
  });
  CHECK(wrong == "");
}
