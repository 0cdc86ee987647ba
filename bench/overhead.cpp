// The library's own cost, apart from moving and reducing bytes: ns per step, plan, hand-off and submission.
#include <fmt/format.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <span>
#include <thread>
#include <vector>

#include "bench/null_transport.hpp"
#include "bench/stopwatch.hpp"
#include "ccl/base/bounded_queue.hpp"
#include "ccl/compute/reduce.hpp"
#include "ccl/planner/plan_cache.hpp"
#include "ccl/planner/selector.hpp"
#include "ccl/runtime/executor.hpp"
#include "strata/communicator.hpp"

namespace strata::bench {
namespace {

void print(std::string_view what, double ns, std::string_view unit) {
  fmt::print("{:<62} {:>9.1f} ns per {}\n", what, ns, unit);
}

// Runs one plan again and again on the null transport.
class PlanRunner {
 public:
  PlanRunner(const Program& program, int ranks)
      : plan_(std::make_shared<const Plan>(Plan{nullptr, derive(program)})),
        router_(transports(), std::vector<std::uint8_t>(static_cast<std::size_t>(ranks), 0)),
        executor_(router_, observer_) {
    for (Rank r = 0; r < ranks; ++r) ranks_.push_back(r);
    run_.base = {nullptr, memory_.data(), memory_.data(), nullptr};
    run_.ranks = ranks_;
    run_.type = DataType::float32;
    run_.reduce = reduce_kernel(DataType::float32, ReduceOp::sum);
    run_.reduce_many = reduce_many_kernel(DataType::float32, ReduceOp::sum);
  }
  double ns_per_step() {
    return best_ns([this] { run_once(); }) / static_cast<double>(plan_->schedule.steps.size());
  }

 private:
  static std::vector<std::unique_ptr<Transport>> transports() {
    std::vector<std::unique_ptr<Transport>> all;
    all.push_back(std::make_unique<NullTransport>());
    return all;
  }
  void run_once() {
    std::array<Completion, kCompletionsPerPollMax> completions;
    run_.plan = plan_;
    executor_.start(run_);
    while (!run_.ended()) {
      const std::size_t n = router_.all()[0]->poll(completions);
      for (std::size_t i = 0; i < n; ++i) executor_.complete(run_, Executor::step_of(completions[i].cookie));
    }
    executor_.retire(run_);
  }

  std::shared_ptr<const Plan> plan_;
  Router router_;
  Observer observer_;
  Executor executor_;
  std::vector<Rank> ranks_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(1 << 20);
  Run run_;
};

constexpr std::uint64_t kSteps = 1000;

Program copies(bool each_waits_for_the_last) {
  Program program;
  for (std::uint64_t i = 0; i < kSteps; ++i) {
    const std::uint64_t from = each_waits_for_the_last ? 8 * i : 8 * (i + kSteps);
    program.copy({Buffer::output, from, 8},
                 {Buffer::output, from + 8 * (each_waits_for_the_last ? 1 : kSteps), 8});
  }
  return program;
}

Program sends() {
  Program program;
  for (std::uint64_t i = 0; i < kSteps; ++i) program.send(1, {Buffer::input, 8 * i, 8});
  return program;
}

Request all_reduce_of(std::uint64_t count) {
  Request request;
  request.collective = Collective::all_reduce;
  request.type = DataType::float32;
  request.count = count;
  return request;
}

Program ring(int ranks, std::uint64_t count) {
  Program program;
  find_algorithm(Collective::all_reduce, "ring")
      ->build(program, all_reduce_of(count), whole_group(ranks, 0), {});
  return program;
}

void measure_executor() {
  print("executor: copies of 8 bytes, each waiting for the last", PlanRunner(copies(true), 2).ns_per_step(),
        "step");
  print("executor: copies of 8 bytes, independent", PlanRunner(copies(false), 2).ns_per_step(), "step");
  print("executor: sends, posted and completed", PlanRunner(sends(), 2).ns_per_step(), "step");
  print("executor: ring all-reduce of 256 floats on 16 ranks", PlanRunner(ring(16, 256), 16).ns_per_step(),
        "step");
}

void measure_planning() {
  const CostModel model{default_costs(), one_host(16, LinkKind::tcp_local)};
  const Selector selector(model);
  const Request request = all_reduce_of(4096);
  const Choice choice = selector.select(request, {}, false).value();
  PlanCache cache;
  for (std::uint64_t count = 0; count + 1 < PlanCache::kPlansMax; ++count)
    cache.insert({all_reduce_of(count), choice.algorithm, choice.tuning}, std::make_shared<const Plan>());
  cache.insert({request, choice.algorithm, choice.tuning}, std::make_shared<const Plan>());
  print("plan: found in a full cache", best_ns([&] {
          STRATA_CHECK(cache.find({request, choice.algorithm, choice.tuning}) != nullptr);
        }),
        "lookup");
  print("plan: algorithm selected", best_ns([&] { STRATA_CHECK(selector.select(request, {}, false).ok()); }),
        "selection");
  for (const std::uint64_t count : {1024ull, 1ull << 20})
    print(fmt::format("plan: of a new size selected (all-reduce of {} floats on 16 ranks)", count),
          best_ns([&] { STRATA_CHECK(Selector(model).select(all_reduce_of(count), {}, false).ok()); }),
          "selection");
  const Program program = ring(16, 4096);
  const auto steps = static_cast<double>(program.steps().size());
  print("plan: written and ordered (ring all-reduce on 16 ranks)",
        best_ns([&] { STRATA_CHECK(!derive(ring(16, 4096)).steps.empty()); }) / steps, "step");
}

// What the first call of its kind costs in a large job: the choice, and one rank's plan. Then finding both.
void measure_large_job() {
  constexpr int kHosts = 64, kRanksOfHost = 4;
  Placement placement{{}, std::vector<int>(kHosts, kRanksOfHost), LinkKind::shm};
  for (int rank = 0; rank < kHosts * kRanksOfHost; ++rank) placement.host.push_back(rank / kRanksOfHost);
  const CostModel model{default_costs(), std::move(placement)};
  for (const std::uint64_t count : {256ull, 1ull << 14, 1ull << 18, 1ull << 24}) {
    const Request request = all_reduce_of(count);
    Choice choice;
    const double cold = best_ns([&] {
      choice = Selector(model).select(request, {}, false).value();
      Program program;
      choice.algorithm->build(program, request, whole_group(model.size(), 0, model.levels), choice.tuning);
      STRATA_CHECK(!derive(program).steps.empty());
    });
    print(
        fmt::format("plan: 64 hosts of 4 ranks, all-reduce of {} floats ({})", count, choice.algorithm->name),
        cold, "cold call");
  }
  const Selector selector(model);
  const Request request = all_reduce_of(1 << 18);
  PlanCache cache;
  const Choice choice = selector.select(request, {}, false).value();
  cache.insert({request, choice.algorithm, choice.tuning}, std::make_shared<const Plan>());
  print("plan: 64 hosts of 4 ranks, selected and found", best_ns([&] {
          const Choice again = selector.select(request, {}, false).value();
          STRATA_CHECK(cache.find({request, again.algorithm, again.tuning}) != nullptr);
        }),
        "warm call");
}

// Puts the calling thread on the index-th core it may use.
void stay_on_core(int index) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed) && index-- == 0) CPU_SET(core, &one);
  if (CPU_COUNT(&one) != 0) ::sched_setaffinity(0, sizeof one, &one);
}

// Spins, but gives the core away when the other thread seems not to be running.
std::uint64_t pop_spinning(BoundedQueue<std::uint64_t>& queue, const std::atomic<bool>& stop) {
  constexpr int kPolls = 1000;
  std::uint64_t value = 0;
  for (int polls = 1; !stop.load(std::memory_order_relaxed) && !queue.try_pop(value); ++polls)
    if (polls % kPolls == 0) std::this_thread::yield();
  return value;
}

// Two spinning threads on two cores hand a number back and forth, in batches so short that on a busy machine
// some find both of them running.
double ping_pong_ns() {
  constexpr int kRoundTrips = 64;
  constexpr double kBudgetNs = 1e9;
  BoundedQueue<std::uint64_t> there(64), back(64);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    stay_on_core(1);
    while (!stop) {
      std::uint64_t value = pop_spinning(there, stop);
      back.try_push(value);
    }
  });
  double best = kBudgetNs;
  for (const double end = now_ns() + kBudgetNs; now_ns() < end;) {
    const double begin = now_ns();
    for (std::uint64_t i = 0; i < kRoundTrips; ++i) {
      there.try_push(i);
      pop_spinning(back, stop);
    }
    best = std::min(best, now_ns() - begin);
  }
  stop = true;
  other.join();
  return best / kRoundTrips / 2;
}

void measure_hand_off() {
  BoundedQueue<std::uint64_t> queue(64);
  std::uint64_t value = 0;
  print("queue: pushed and popped by one thread", best_ns([&] {
          queue.try_push(value);
          queue.try_pop(value);
        }),
        "element");
  double hand_off = 0;
  std::thread([&hand_off] {
    stay_on_core(0);
    hand_off = ping_pong_ns();
  }).join();
  print("queue: from one spinning thread to another", hand_off, "hand-off");
}

// Calls on a communicator of one rank: nothing but our own way from call to end.
int measure_submission(bool progress_thread) {
  CommunicatorOptions options;
  options.rank = 0;
  options.size = 1;
  options.progress_thread = progress_thread;
  Expected<Communicator> communicator = Communicator::create(options);
  if (!communicator) {
    fmt::print(stderr, "overhead: {}\n", communicator.status().message());
    return 1;
  }
  const std::string_view how = progress_thread ? "progress thread" : "no progress thread";
  float in = 1, out = 0;
  const auto call = [&] { return communicator->all_reduce(&in, &out, 1, DataType::float32, ReduceOp::sum); };
  print(fmt::format("call: all-reduce on one rank, waited for ({})", how),
        best_ns([&] { (void)call().wait(); }), "call");

  std::vector<float> outs(256);
  std::vector<Work> works(outs.size());
  double submitting = 0;
  std::uint64_t submissions = 0;
  for (int round = 0; round < 200; ++round) {
    const double begin = now_ns();
    for (std::size_t i = 0; i < works.size(); ++i)
      works[i] = communicator->all_reduce(&in, &outs[i], 1, DataType::float32, ReduceOp::sum);
    submitting += now_ns() - begin;
    submissions += works.size();
    (void)Work::wait_all(works);
  }
  print(fmt::format("call: submitted only, 256 at a time ({})", how),
        submitting / static_cast<double>(submissions), "submit");
  return 0;
}

int main() {
  fmt::print("# {} hardware threads, kernels for {}; best of 7 rounds of about 50 ms\n",
             std::thread::hardware_concurrency(), vector_target());
  measure_executor();
  measure_planning();
  measure_large_job();
  measure_hand_off();
  return measure_submission(false) + measure_submission(true);
}

}  // namespace
}  // namespace strata::bench

int main() { return strata::bench::main(); }
