// The real group, its members advanced in random order: any sequence of calls, with any member ahead of any
// other as far as the slots allow, gives right results; and who may sleep is woken.
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "strata/memory.hpp"
#include "tests/local/group_world.hpp"

namespace strata::test {
namespace {

using Random = std::mt19937_64;

// One collective, the same at all members: uint32 sums, which wrap, so that any order of adding is right.
struct Call {
  Collective collective;
  Rank root;
  std::uint64_t count;
  bool in_place;
  unsigned shared;  // a bit a member: its buffers are such that others can map them
};

std::uint32_t value(std::uint64_t call, int member, std::uint64_t i) {
  return static_cast<std::uint32_t>((call * 1000003 + static_cast<std::uint64_t>(member) * 7919 + i) *
                                    2654435761u);
}

class Buffer {
 public:
  Buffer(std::uint64_t count, bool shared) : count_(count), shared_(shared) {
    if (shared)
      memory_ = static_cast<std::uint32_t*>(*allocate(std::max<std::uint64_t>(1, count * 4)));
    else
      own_.resize(count);
  }
  Buffer(Buffer&& other) noexcept
      : own_(std::move(other.own_)),
        memory_(std::exchange(other.memory_, nullptr)),
        count_(other.count_),
        shared_(other.shared_) {}
  ~Buffer() {
    if (memory_ != nullptr) CHECK(deallocate(memory_).ok());
  }
  std::uint32_t* data() { return shared_ ? memory_ : own_.data(); }
  std::uint32_t at(std::uint64_t i) {
    REQUIRE(i < count_);
    return data()[i];
  }

 private:
  std::vector<std::uint32_t> own_;
  std::uint32_t* memory_ = nullptr;
  std::uint64_t count_;
  bool shared_;
};

bool large_input(Collective c) {
  return c == Collective::reduce_scatter || c == Collective::all_to_all || c == Collective::scatter;
}
bool large_output(Collective c) {
  return c == Collective::all_gather || c == Collective::all_to_all || c == Collective::gather;
}

// What a member brings to a call, and what it must get.
class Part {
 public:
  Part(const Call& call, std::uint64_t number, int size, int me)
      : call_(call),
        number_(number),
        size_(size),
        me_(me),
        n_(static_cast<std::uint64_t>(size)),
        buffer_(inputs() + outputs(), (call.shared >> me & 1) != 0) {
    std::uint32_t* const in = input();
    for (std::uint64_t i = 0; i < inputs(); ++i) in[i] = value(number, me, i);
  }
  GroupCall call() {
    GroupCall c;
    c.collective = call_.collective;
    c.input = reinterpret_cast<const std::byte*>(input());
    c.output = reinterpret_cast<std::byte*>(output());
    c.in_place = call_.in_place;
    c.count_bytes = call_.count * 4;
    c.element_bytes = 4;
    c.root = call_.root;
    c.reduce = reduce_many_kernel(DataType::uint32, ReduceOp::sum);
    c.mark = {number_, 1};
    return c;
  }
  void check() {
    const std::uint64_t count = call_.count;
    const bool root = me_ == call_.root;
    const auto sum = [&](std::uint64_t i) {
      std::uint32_t all = 0;
      for (int r = 0; r < size_; ++r) all += value(number_, r, i);
      return all;
    };
    const auto out = [&](std::uint64_t i) { return output()[i]; };
    const auto mine = static_cast<std::uint64_t>(me_) * count;
    bool right = true;
    for (std::uint64_t i = 0; i < count; ++i) switch (call_.collective) {
        case Collective::all_reduce: right = right && out(i) == sum(i); break;
        case Collective::reduce: right = right && (!root || out(i) == sum(i)); break;
        case Collective::broadcast: right = right && out(i) == value(number_, call_.root, i); break;
        case Collective::reduce_scatter: right = right && out(i) == sum(mine + i); break;
        case Collective::scatter: right = right && out(i) == value(number_, call_.root, mine + i); break;
        case Collective::all_gather:
        case Collective::gather:
          for (int r = 0; r < size_ && (root || call_.collective == Collective::all_gather); ++r)
            right = right && out(static_cast<std::uint64_t>(r) * count + i) == value(number_, r, i);
          break;
        case Collective::all_to_all:
          for (int r = 0; r < size_; ++r)
            right = right && out(static_cast<std::uint64_t>(r) * count + i) == value(number_, r, mine + i);
          break;
        default: break;
      }
    REQUIRE(right);
  }

 private:
  // In place the two are one buffer, of the larger size, and the smaller lies at this member's part.
  std::uint64_t inputs() const { return call_.count * (large_input(call_.collective) ? n_ : 1); }
  std::uint64_t outputs() const { return call_.count * (large_output(call_.collective) ? n_ : 1); }
  std::uint32_t* input() {
    const bool part = call_.in_place && large_output(call_.collective) && !large_input(call_.collective);
    return buffer_.data() + (part ? static_cast<std::uint64_t>(me_) * call_.count : 0);
  }
  std::uint32_t* output() {
    if (!call_.in_place) return buffer_.data() + inputs();
    const bool part = large_input(call_.collective) && !large_output(call_.collective);
    return buffer_.data() + (part ? static_cast<std::uint64_t>(me_) * call_.count : 0);
  }

  const Call call_;
  const std::uint64_t number_;
  const int size_, me_;
  const std::uint64_t n_;
  Buffer buffer_;
};

Call random_call(Random& random, int size) {
  constexpr Collective kAll[] = {Collective::barrier,    Collective::broadcast,      Collective::reduce,
                                 Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather,
                                 Collective::all_to_all, Collective::gather,         Collective::scatter};
  Call c{};
  c.collective = kAll[random() % std::size(kAll)];
  c.root = static_cast<Rank>(random() % static_cast<unsigned>(size));
  const std::uint64_t most[] = {3, 300, 6000, 100'000};
  c.count = c.collective == Collective::barrier ? 0 : random() % most[random() % 4];
  c.in_place = random() % 2 == 0;
  const unsigned everybody = (1u << size) - 1;
  const unsigned kinds[] = {0, everybody, static_cast<unsigned>(random()) & everybody};
  c.shared = kinds[random() % 3];
  return c;
}

// Each member goes through the same calls at its own pace.
struct Runner {
  std::uint64_t next = 0;
  std::unique_ptr<Part> part;
};

void run_calls(GroupWorld& world, int size, const std::vector<Call>& calls, Random& random) {
  std::vector<Runner> runners(static_cast<std::size_t>(size));
  int running = size;
  std::uint64_t idle = 0;
  while (running > 0) {
    const int m = static_cast<int>(random() % static_cast<unsigned>(size));
    Runner& r = runners[static_cast<std::size_t>(m)];
    if (r.next == calls.size()) continue;
    ShmGroup& group = world.group(m);
    if (!r.part) {
      r.part = std::make_unique<Part>(calls[r.next], r.next, size, m);
      group.begin(r.part->call());
    }
    const bool news = group.has_news();
    const auto progress = group.advance();
    INFO("call " << r.next << ", " << to_string(calls[r.next].collective) << " of " << calls[r.next].count
                 << " at member " << m);
    REQUIRE((progress == ShmGroup::Progress::waits || progress == ShmGroup::Progress::moved ||
             progress == ShmGroup::Progress::ended));
    if (!news) REQUIRE(progress == ShmGroup::Progress::waits);  // else a sleeper would miss it
    idle = progress == ShmGroup::Progress::waits ? idle + 1 : 0;
    REQUIRE(idle < 100'000);  // nobody moves: a deadlock
    if (progress != ShmGroup::Progress::ended) continue;
    r.part->check();
    r.part.reset();
    if (++r.next == calls.size()) --running;
  }
}

}  // namespace

TEST_CASE("random calls, members advanced in random order") {
  const std::uint64_t seed = GENERATE(range(1, 13));
  CAPTURE(seed);
  Random random(seed);
  const int size = 2 + static_cast<int>(random() % 5);
  GroupWorld world(size);
  std::vector<Call> calls;
  for (int i = 0; i < 60; ++i) calls.push_back(random_call(random, size));
  run_calls(world, size, calls, random);
}

TEST_CASE("a member that called something else is named") {
  GroupWorld world(3);
  Part a({Collective::all_reduce, kNoRank, 4, false, 0}, 5, 3, 0),
      b({Collective::all_reduce, kNoRank, 4, false, 0}, 6, 3, 1),
      c({Collective::all_reduce, kNoRank, 4, false, 0}, 5, 3, 2);
  world.group(0).begin(a.call());
  world.group(1).begin(b.call());
  world.group(2).begin(c.call());
  for (int i = 0; i < 3; ++i) world.group(2).advance();
  for (int i = 0; i < 3; ++i) world.group(1).advance();
  auto progress = ShmGroup::Progress::moved;
  while (progress == ShmGroup::Progress::moved) progress = world.group(0).advance();
  for (int i = 0; i < 3; ++i) world.group(1).advance();
  while ((progress = world.group(0).advance()) == ShmGroup::Progress::moved) {
  }
  REQUIRE(progress == ShmGroup::Progress::mismatch);
  CHECK(world.group(0).whom() == 1);
  CHECK(world.group(0).their_mark() == CallMark{6, 1});
}

TEST_CASE("who publishes rings the bell of a sleeper, once") {
  GroupWorld world(2);
  Part a({Collective::barrier, kNoRank, 0, false, 0}, 1, 2, 0),
      b({Collective::barrier, kNoRank, 0, false, 0}, 1, 2, 1);
  world.group(0).begin(a.call());
  while (world.group(0).advance() == ShmGroup::Progress::moved) {
  }
  world.sleeping(0).store(1);
  CHECK(!world.group(0).has_news());
  world.group(1).begin(b.call());
  while (world.group(1).advance() == ShmGroup::Progress::moved) {
  }
  CHECK(world.sleeping(0).load() == 0);
  CHECK(world.group(0).has_news());
  CHECK(world.group(0).advance() == ShmGroup::Progress::ended);
}

}  // namespace strata::test
