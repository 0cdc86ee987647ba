// What the emulated measurements of this folder have in common: a computation that only sleeps, and figures
// on which all ranks agree.
#pragma once
#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <span>
#include <string>

#include "strata/communicator.hpp"

namespace strata::bench {

using Nanoseconds = std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC

inline double ms_of(Nanoseconds time) { return std::chrono::duration<double, std::milli>(time).count(); }

inline int stop_with(const char* program, const Status& status) {
  fmt::print(stderr, "{}: {}\n", program, status.message());
  return 1;
}

// A computation that takes time and no core. It goes from deadline to deadline, so that waking up late does
// not add up.
class Computation {
 public:
  Computation() { ::prctl(PR_SET_TIMERSLACK, 1UL); }

  void start() { at_ = Clock::now(); }
  void compute(Nanoseconds time) {
    at_ += time;
    const auto since = std::chrono::duration_cast<Nanoseconds>(at_.time_since_epoch()).count();
    const timespec deadline{since / 1'000'000'000, since % 1'000'000'000};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) == EINTR) continue;
  }
  // It could go on from here only when the work had ended; adds what it waited to `waited`.
  Status wait_for(const Work& work, Nanoseconds& waited) {
    if (work.done()) return work.status();
    Status status = work.wait();
    const auto now = Clock::now();
    waited += std::max(Nanoseconds(0), Nanoseconds(now - at_));
    at_ = std::max(at_, now);
    return status;
  }
  Clock::time_point at() const { return at_; }

 private:
  Clock::time_point at_;
};

// How long some process of this machine has waited for a core since the machine was started, whoever's it is;
// 0 where the kernel does not say.
inline double stalled_ms() {
  std::ifstream file("/proc/pressure/cpu");
  std::string line;
  std::getline(file, line);
  const auto at = line.find("total=");
  return at == std::string::npos ? 0 : std::stod(line.substr(at + 6)) / 1e3;
}

// values become the largest of all ranks.
inline Status largest(Communicator& all, std::span<double> values) {
  return all.all_reduce(values.data(), values.data(), values.size(), DataType::float64, ReduceOp::max).wait();
}

}  // namespace strata::bench
