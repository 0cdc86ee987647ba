// The handler sets a flag and steps aside.
#include "trainer/train/stop_signal.hpp"

#include <csignal>

namespace strata::trainer {
namespace {

volatile std::sig_atomic_t g_signal = 0;
void remember(int signal) { g_signal = signal; }

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

int stop_signal() { return g_signal; }

}  // namespace strata::trainer
