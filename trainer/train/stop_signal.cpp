// A thread waits for the signals, and all others block them: no handler may run on a stack that generated
// code is at work on, since oneDNN's does not keep what lies below its stack pointer to itself.
#include "trainer/train/stop_signal.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace strata::trainer {
namespace {

std::atomic<bool> g_caught{false};
std::atomic<int> g_signal{0};

void end_by(int signal, const sigset_t& signals) {
  std::signal(signal, SIG_DFL);
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  std::raise(signal);
}

void wait_for(sigset_t signals) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point first{};
  for (int signal = 0;;) {
    if (::sigwait(&signals, &signal) != 0) continue;
    if (g_caught && g_signal == 0) {
      first = Clock::now();
      g_signal = signal;
    } else if (!g_caught || Clock::now() > first + std::chrono::seconds(1)) {
      end_by(signal, signals);
    }
  }
}

}  // namespace

void watch_stop_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread(wait_for, signals).detach();
}

void catch_stop_signals() { g_caught = true; }

int stop_signal() { return g_signal; }

}  // namespace strata::trainer
