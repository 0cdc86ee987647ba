// The handler sets a flag and steps aside.
#include "trainer/train/stop_signal.hpp"

#include <csignal>
#include <ctime>

namespace strata::trainer {
namespace {

volatile std::sig_atomic_t g_signal = 0;
std::time_t g_first_s = 0;  // touched by the handler only, which does not interrupt itself

std::time_t now_s() {
  std::timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

void remember(int signal) {
  if (g_signal == 0) {
    g_signal = signal;
    g_first_s = now_s();
  } else if (now_s() > g_first_s + 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;
  ::sigaddset(&action.sa_mask, SIGINT);
  ::sigaddset(&action.sa_mask, SIGTERM);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

int stop_signal() { return g_signal; }

}  // namespace strata::trainer
