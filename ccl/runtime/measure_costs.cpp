#include "ccl/runtime/measure_costs.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include "ccl/compute/reduce.hpp"

namespace strata {
namespace {

// Of round trips and of streams: so many at least, and no more, within this time, once there are enough.
constexpr std::size_t kRoundsMin = 8, kPingsMax = 100, kStreamsMax = 24;
constexpr double kBudgetPs = 1.2e9;               // 1.2 ms
constexpr std::uint64_t kStreamBytes = 64 << 10;  // a message of the stream
// The more, the less count what a network's buffers take at once; but all of them take time.
constexpr std::size_t kStreamMessages = 4, kPatientStreamMessages = 64;
constexpr std::uint64_t kLocalBytes = 128 << 10;
constexpr int kLocalRounds = 8;
constexpr double kFactorMax = 16;

double now_ps() {
  return std::chrono::duration<double, std::pico>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Keeps the calling thread on one core meanwhile: the first that it may use, or the last. Otherwise a busy
// machine may have both ends of a pair take turns on the same one.
class OnOneCore final {
 public:
  explicit OnOneCore(bool first) {
    if (::sched_getaffinity(0, sizeof before_, &before_) != 0 || CPU_COUNT(&before_) < 2) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && (!first || CPU_COUNT(&one) == 0); ++core) {
      if (!CPU_ISSET(core, &before_)) continue;
      CPU_ZERO(&one);
      CPU_SET(core, &one);
    }
    changed_ = ::sched_setaffinity(0, sizeof one, &one) == 0;
  }
  ~OnOneCore() {
    if (changed_) (void)::sched_setaffinity(0, sizeof before_, &before_);
  }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;

 private:
  cpu_set_t before_{};
  bool changed_ = false;
};

// One end of the pair. The lower rank leads: it says in every round whether it is the last.
class Pair final {
 public:
  Pair(Communicator& communicator, Rank peer, LinkKind kind, std::uint32_t timeout_ms, unsigned patience)
      : communicator_(communicator),
        peer_(peer),
        kind_(kind),
        patience_(patience),
        works_(2 * (patience > 1 ? kPatientStreamMessages : kStreamMessages)),
        leads_(communicator.rank() < peer),
        sent_(kStreamBytes),
        received_(kStreamBytes) {
    options_.timeout_ms = timeout_ms;
  }

  Expected<LinkTimes> run() {
    const Expected<double> ping = typical_round(kPingsMax, false, [] { return Status(); });
    if (!ping) return ping.status();
    const Expected<double> stream =
        typical_round(kStreamsMax, kind_ == LinkKind::tcp, [this] { return move_stream(); });
    if (!stream) return stream.status();
    const double kib = static_cast<double>(works_.size() / 2 * kStreamBytes) / 1024;
    return LinkTimes{*ping / 2, std::max(0.0, *stream - *ping) / kib};
  }

 private:
  // Whatever disturbs a round makes it longer, so the best one counts; but a network may let what comes first
  // through faster than it can go on, so there the middle one does. A round is a word from the leader, what
  // comes after it, and a word back.
  template <class After>
  Expected<double> typical_round(std::size_t rounds_max, bool bursts, After&& after) {
    std::vector<double> took;
    const double end = now_ps() + kBudgetPs * patience_;
    rounds_max *= patience_;
    std::size_t round = 0;
    for (std::uint64_t more = 1; more != 0;) {
      ++round;
      if (leads_) more = round < rounds_max && (round < kRoundsMin || now_ps() < end);
      const double begin = now_ps();
      if (Status s = leads_ ? send(more) : receive(more); !s.ok()) return s;
      if (Status s = after(); !s.ok()) return s;
      std::uint64_t answer = 0;
      if (Status s = leads_ ? receive(answer) : send(answer); !s.ok()) return s;
      took.push_back(now_ps() - begin);
    }
    const auto typical = took.begin() + (bursts ? std::ssize(took) / 2 : 0);
    std::nth_element(took.begin(), typical, took.end());
    return *typical;
  }

  Status send(std::uint64_t word) {
    return communicator_.send(&word, 1, DataType::uint64, peer_, options_).wait();
  }
  Status receive(std::uint64_t& word) {
    return communicator_.recv(&word, 1, DataType::uint64, peer_, options_).wait();
  }
  Status move_stream() {
    for (std::size_t i = 0; i < works_.size(); i += 2) {
      works_[i] = communicator_.recv(received_.data(), kStreamBytes, DataType::uint8, peer_, options_);
      works_[i + 1] = communicator_.send(sent_.data(), kStreamBytes, DataType::uint8, peer_, options_);
    }
    return Work::wait_all(works_);
  }

  Communicator& communicator_;
  const Rank peer_;
  const LinkKind kind_;
  const unsigned patience_;
  std::vector<Work> works_;  // of a stream
  const bool leads_;
  CallOptions options_;
  std::vector<std::byte> sent_, received_;
};

Picoseconds rounded(double ps) { return static_cast<Picoseconds>(std::llround(ps)); }

double bounded_factor(double measured, double usual) {
  return usual <= 0 ? 1 : std::clamp(measured / usual, 1 / kFactorMax, kFactorMax);
}

// ps a KiB of the fastest of some rounds.
template <class What>
Picoseconds fastest(What&& what) {
  double best = 0;
  for (int round = 0; round < kLocalRounds; ++round) {
    const double begin = now_ps();
    what();
    const double took = now_ps() - begin;
    best = round == 0 ? took : std::min(best, took);
  }
  return std::max<Picoseconds>(1, rounded(best * 1024 / kLocalBytes));
}

}  // namespace

Expected<LinkTimes> measure_link(Communicator& communicator, Rank peer, LinkKind kind,
                                 std::uint32_t timeout_ms, unsigned patience) {
  const OnOneCore stay(communicator.rank() < peer);
  return Pair(communicator, peer, kind, timeout_ms, patience).run();
}

LinkTimes usual_times(LinkKind kind, const LinkCost& usual) {
  return {static_cast<double>(usual.send_ps + usual.recv_ps + usual.latency_ps),
          static_cast<double>(kind == LinkKind::tcp ? usual.wire_ps_per_kib
                                                    : usual.send_ps_per_kib + usual.recv_ps_per_kib)};
}

LinkCost link_cost(LinkKind kind, LinkTimes times, const LinkCost& usual) {
  LinkCost cost = usual;
  if (kind == LinkKind::tcp) {
    const auto ends = static_cast<double>(usual.send_ps + usual.recv_ps);
    cost.latency_ps = rounded(std::max(0.0, times.message_ps - ends));
    cost.wire_ps_per_kib = rounded(times.ps_per_kib);
    cost.send_ps_per_kib = std::min(usual.send_ps_per_kib, cost.wire_ps_per_kib);
    cost.recv_ps_per_kib = std::min(usual.recv_ps_per_kib, cost.wire_ps_per_kib);
    return cost;
  }
  const LinkTimes before = usual_times(kind, usual);
  const double message = bounded_factor(times.message_ps, before.message_ps);
  for (Picoseconds* part : {&cost.send_ps, &cost.recv_ps, &cost.latency_ps, &cost.turn_ps})
    *part = rounded(static_cast<double>(*part) * message);
  // Each end sends and receives, and its CPU does one after the other.
  const double bytes = bounded_factor(times.ps_per_kib, before.ps_per_kib);
  for (Picoseconds* part : {&cost.send_ps_per_kib, &cost.recv_ps_per_kib})
    *part = rounded(static_cast<double>(*part) * bytes);
  return cost;
}

LocalCost measure_local(const LocalCost& usual) {
  std::vector<float> from(kLocalBytes / sizeof(float), 1.0f), into(from);
  LocalCost cost = usual;
  cost.copy_ps_per_kib = fastest([&] { std::memcpy(into.data(), from.data(), kLocalBytes); });
  const ReduceKernel add = reduce_kernel(DataType::float32, ReduceOp::sum);
  cost.reduce_ps_per_kib = fastest([&] { add(into.data(), into.data(), from.data(), from.size()); });
  return cost;
}

}  // namespace strata
