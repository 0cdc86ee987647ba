#include "tools/strata_perf/measure.hpp"

#include <algorithm>

#include "tools/strata_perf/clock.hpp"
#include "tools/strata_perf/statistics.hpp"

namespace strata::perf {
namespace {

Pattern pattern_of(const Measurement& what, int ranks, std::uint64_t seed) {
  return {.type = what.type, .op = what.op, .reduces = what.test->reduces, .ranks = ranks, .seed = seed};
}

}  // namespace

Meter::Meter(World& world, const Options& options)
    : world_(world),
      options_(options),
      workspace_(options.bytes_max, options.calls_per_iteration, options.shared_memory) {}

Expected<Row> Meter::measure(const Measurement& what) {
  const std::uint64_t elements = what.bytes / size_of(what.type);
  const Shape shape = shape_of(*what.test, elements, world_.size(), world_.rank(), what.root);
  Row row;
  row.what = what;
  row.shown_bytes = shape.shown * size_of(what.type);
  row.count = shape.count;
  Expected<Figures> apart = figures(what, shape, false);
  if (!apart) return apart.status();
  row.out_of_place = *apart;
  // In samples, in place only where other libraries have nothing else.
  const bool in_place_too = options_.sampled_s == 0 || what.test->kind == Kind::broadcast;
  if (!what.test->in_place || !in_place_too) return row;
  Expected<Figures> in_place = figures(what, shape, true);
  if (!in_place) return in_place.status();
  row.in_place = *in_place;
  return row;
}

Expected<Figures> Meter::figures(const Measurement& what, const Shape& shape, bool in_place) {
  const auto calls = static_cast<std::uint64_t>(std::max(options_.iterations, options_.warmups)) *
                     static_cast<std::uint64_t>(options_.calls_per_iteration);
  const double bytes = static_cast<double>(shape.moved * size_of(what.type));
  workspace_.arrange(shape, size_of(what.type), in_place, calls);
  workspace_.make_data(pattern_of(what, world_.size(), seed_++), world_.rank());
  Call call{what.test->kind, what.type, what.op, what.root, &shape, {}};
  call.options.scale = Pattern::kScale;
  call.options.timeout_ms = options_.timeout_ms;
  call.options.algorithm = what.algorithm;
  call.messages = messages_per_call(*what.test, what.bytes, options_.window);
  call.answers = what.test->answers;

  Expected<Samples> taken = samples(call, shape.shown * size_of(what.type));
  if (!taken) return taken.status();
  std::vector<double>& times = taken->times_us;
  for (double& time : times) time /= call.messages;
  Figures f;
  f.time_us = mean(times);
  f.p50_us = percentile(times, 50);
  f.p99_us = percentile(times, 99);
  f.min_us = *std::min_element(times.begin(), times.end());
  f.samples = static_cast<int>(times.size());
  f.calls = taken->plan.calls;
  f.algorithm_gbs = f.time_us > 0 ? bytes / f.time_us / 1e3 : 0;
  f.bus_gbs = f.algorithm_gbs * bus_factor(*what.test, world_.size());
  if (options_.checks == 0 || what.test->kind == Kind::barrier) return f;
  Expected<std::uint64_t> wrong = count_wrong_elements(what, call);
  if (!wrong) return wrong.status();
  f.wrong = *wrong;
  return f;
}

Expected<Samples> Meter::samples(const Call& call, std::uint64_t bytes) {
  if (options_.sampled_s > 0) return Sampler(world_, workspace_, options_, call).run(bytes);
  Expected<std::vector<double>> times = times_us(call);
  if (!times) return times.status();
  return Samples{{options_.calls_per_iteration, options_.iterations, options_.warmups}, *std::move(times)};
}

// One time for each iteration and call, over all ranks.
Expected<std::vector<double>> Meter::times_us(const Call& call) {
  for (std::uint64_t slot = 0; slot < workspace_.slots(); ++slot) workspace_.load(slot);
  std::vector<double> times;
  Status status = run_one_by_one(call, options_.warmups, times);
  times.clear();
  if (status.ok()) status = world_.synchronize();
  if (status.ok())
    status =
        options_.blocking ? run_one_by_one(call, options_.iterations, times) : run_overlapped(call, times);
  if (!status.ok()) return status;
  for (double& time : times) time /= options_.calls_per_iteration;
  Expected<std::vector<double>> all = world_.gather(std::span<const double>(times));
  if (!all) return all.status();
  return over_ranks(*all, times.size(), options_.average);
}

Status Meter::run_one_by_one(const Call& call, int iterations, std::vector<double>& times) {
  const auto calls = static_cast<std::uint64_t>(options_.calls_per_iteration);
  for (int i = 0; i < iterations; ++i) {
    const std::uint64_t slot = first_slot(i);
    if (options_.touched) {
      for (std::uint64_t c = 0; c < calls; ++c) workspace_.load(slot + c);
      if (Status status = world_.synchronize(); !status.ok()) return status;
    }
    const double begin = now_us();
    const Status status = start_iteration(call, slot).wait();
    times.push_back(now_us() - begin);
    if (!status.ok()) return status;
    for (std::uint64_t c = 0; options_.touched && c < calls; ++c) workspace_.read(slot + c);
  }
  return {};
}

// As many iterations at once as the memory has slots for. Each then counts with the same share of the whole.
Status Meter::run_overlapped(const Call& call, std::vector<double>& times) {
  std::vector<Work> under_way(workspace_.slots() / static_cast<std::uint64_t>(options_.calls_per_iteration));
  const double begin = now_us();
  for (int i = 0; i < options_.iterations; ++i) {
    Work& place = under_way[static_cast<std::size_t>(i) % under_way.size()];
    if (Status status = place.wait(); !status.ok()) return status;
    place = start_iteration(call, first_slot(i));
  }
  const Status status = Work::wait_all(under_way);
  const auto iterations = static_cast<std::size_t>(options_.iterations);
  times.assign(iterations, (now_us() - begin) / static_cast<double>(iterations));
  return status;
}

std::uint64_t Meter::first_slot(int iteration) const {
  const auto calls = static_cast<std::uint64_t>(options_.calls_per_iteration);
  return static_cast<std::uint64_t>(iteration) % (workspace_.slots() / calls) * calls;
}

Work Meter::start_iteration(const Call& call, std::uint64_t slot) {
  if (options_.calls_per_iteration == 1)
    return start(world_.communicator(), call, workspace_.input(slot), workspace_.output(slot));
  if (call.answers) return start_in_turn(call, slot);
  group_start();
  for (int c = 0; c < options_.calls_per_iteration; ++c, ++slot)
    (void)start(world_.communicator(), call, workspace_.input(slot), workspace_.output(slot));
  return group_end();
}

Work Meter::start_in_turn(const Call& call, std::uint64_t slot) {
  Work last;
  for (int c = 0; c < options_.calls_per_iteration; ++c, ++slot) {
    if (const Status status = last.wait(); !status.ok()) return Work(status);
    last = start(world_.communicator(), call, workspace_.input(slot), workspace_.output(slot));
  }
  return last;
}

Expected<std::uint64_t> Meter::count_wrong_elements(const Measurement& what, const Call& call) {
  const std::vector<Source> wanted =
      expected_output(*what.test, *call.shape, world_.size(), world_.rank(), what.root);
  std::uint64_t wrong = 0;
  for (int i = 0; i < options_.checks; ++i) {
    const Pattern pattern = pattern_of(what, world_.size(), seed_++);
    workspace_.make_data(pattern, world_.rank());
    workspace_.poison(0);
    workspace_.load(0);
    const Status status =
        start(world_.communicator(), call, workspace_.input(0), workspace_.output(0)).wait();
    if (!status.ok()) return status;
    wrong += count_wrong(pattern, wanted, workspace_.output(0)) + !workspace_.nothing_else_touched(0);
  }
  const auto mine = static_cast<double>(wrong);
  Expected<std::vector<double>> all = world_.gather({&mine, 1});
  if (!all) return all.status();
  double sum = 0;
  for (double w : *all) sum += w;
  return static_cast<std::uint64_t>(sum);
}

}  // namespace strata::perf
