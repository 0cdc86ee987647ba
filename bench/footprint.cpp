// What communicators and operations cost in memory, and idle ones in CPU time: `strata-run -n 4 --
// footprint`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "strata/communicator.hpp"
#include "strata/memory.hpp"

namespace strata::bench {
namespace {

// This process's share of memory, in KiB: pages that several processes have are divided among them.
std::uint64_t share_kib() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;)
    if (word == "Pss:") {
      std::uint64_t kib = 0;
      file >> kib;
      return kib;
    }
  return 0;
}

// CPU time of this process so far.
double cpu_ms() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

int stop_with(const Status& status) {
  fmt::print(stderr, "footprint: {}\n", status.message());
  return 1;
}

class Footprint {
 public:
  explicit Footprint(Communicator& all) : all_(all) {}

  // Of all ranks together, when all have come here.
  Expected<std::uint64_t> total_kib() {
    if (Status s = all_.barrier().wait(); !s.ok()) return s;
    std::uint64_t mine = share_kib(), total = 0;
    const Status s = all_.all_reduce(&mine, &total, 1, DataType::uint64, ReduceOp::sum).wait();
    if (!s.ok()) return s;
    return total;
  }

  Status communicators(int count, std::uint64_t bytes) {
    const auto before = total_kib();
    if (!before) return before.status();
    std::vector<Communicator> many;
    std::vector<std::byte> data(bytes);
    for (int i = 0; i < count; ++i) {
      auto made = all_.duplicate();
      if (!made) return made.status();
      many.push_back(*std::move(made));
      const Status s =
          many.back().all_reduce(data.data(), data.data(), bytes, DataType::uint8, ReduceOp::max).wait();
      if (!s.ok()) return s;
    }
    const auto after = total_kib();
    if (!after) return after.status();
    print(fmt::format("{} communicators, each after an all-reduce of {} bytes", count, bytes), *before,
          *after, count, "a communicator");
    return {};
  }

  // Of all ranks together, while they sleep with a communicator that has been used.
  Status idle(std::chrono::seconds time) {
    if (Status s = all_.barrier().wait(); !s.ok()) return s;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // what was still going on may end
    const double before = cpu_ms();
    std::this_thread::sleep_for(time);
    double mine = cpu_ms() - before, total = 0;
    const Status s = all_.all_reduce(&mine, &total, 1, DataType::float64, ReduceOp::sum).wait();
    if (s.ok() && all_.rank() == 0)
      fmt::print("{:<62} {:>8.3f} ms in all\n", fmt::format("CPU time of {} idle seconds", time.count()),
                 total);
    return s;
  }

  Status operations(std::uint64_t count, std::uint64_t bytes) {
    std::vector<std::byte> data(bytes);
    const auto reduce = [&](std::uint64_t times) {
      Status s;
      for (std::uint64_t i = 0; i < times && s.ok(); ++i)
        s = all_.all_reduce(data.data(), data.data(), bytes, DataType::uint8, ReduceOp::max).wait();
      return s;
    };
    if (Status s = reduce(1000); !s.ok()) return s;
    const auto before = total_kib();
    if (!before) return before.status();
    if (Status s = reduce(count); !s.ok()) return s;
    const auto after = total_kib();
    if (!after) return after.status();
    print(fmt::format("{} all-reduces of {} bytes", count, bytes), *before, *after,
          static_cast<double>(count), "an operation");
    return {};
  }

 private:
  void print(const std::string& what, std::uint64_t before, std::uint64_t after, double parts,
             const char* part) {
    if (all_.rank() != 0) return;
    const double grown = static_cast<double>(after) - static_cast<double>(before);
    fmt::print("{:<62} {:>8.1f} MiB in all, {:>8.3f} KiB {}\n", what, grown / 1024, grown / parts, part);
  }

  Communicator& all_;
};

int run(int argc, char** argv) {
  CLI::App app("footprint - memory that communicators and operations cost, over all ranks of the job");
  int communicators = 1000;
  std::uint64_t operations = 1'000'000;
  app.add_option("--communicators", communicators, "how many are made")->capture_default_str();
  app.add_option("--operations", operations, "how many are done")->capture_default_str();
  app.footer("EXAMPLE\n  strata-run -n 4 -- footprint --operations 100000");
  CLI11_PARSE(app, argc, argv);
  auto all = Communicator::from_environment();
  if (!all) return stop_with(all.status());
  Footprint footprint(*all);
  const auto start = footprint.total_kib();
  if (!start) return stop_with(start.status());
  if (all->rank() == 0)
    fmt::print("{} ranks; all of them together, programs and libraries included: {:.1f} MiB\n", all->size(),
               static_cast<double>(*start) / 1024);
  for (const std::uint64_t bytes : {8u, 4096u, 1u << 20})
    if (Status s = footprint.communicators(communicators, bytes); !s.ok()) return stop_with(s);
  for (const std::uint64_t bytes : {8u, 4096u})
    if (Status s = footprint.operations(operations, bytes); !s.ok()) return stop_with(s);
  if (Status s = footprint.idle(std::chrono::seconds(5)); !s.ok()) return stop_with(s);
  const MemoryUse use = memory_use();
  if (all->rank() == 0)
    fmt::print("kept for reuse at rank 0: {:.1f} of {} MiB\n",
               static_cast<double>(use.kept_bytes) / (1 << 20), use.limit_bytes >> 20);
  return 0;
}

}  // namespace
}  // namespace strata::bench

int main(int argc, char** argv) { return strata::bench::run(argc, argv); }
