#include "tools/strata_run/supervisor.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "ccl/base/host.hpp"
#include "ccl/bootstrap/rendezvous_roll.hpp"
#include "tools/strata_run/placement.hpp"
#include "tools/strata_run/plan.hpp"
#include "tools/strata_run/prefix.hpp"

namespace strata::run {
namespace {

constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr int kPassedSignals[] = {SIGUSR1, SIGUSR2, SIGCONT};
constexpr std::size_t kReadBytesMax = 64 << 10;

template <std::size_t n>
bool contains(const int (&signals)[n], int signal) {
  return std::find(std::begin(signals), std::end(signals), signal) != std::end(signals);
}

Fd take_over_signals(sigset_t& old_mask) {
  sigset_t mine;
  sigemptyset(&mine);
  for (const int signal : kEndingSignals) sigaddset(&mine, signal);
  for (const int signal : kPassedSignals) sigaddset(&mine, signal);
  for (const int signal : {SIGCHLD, SIGTSTP}) sigaddset(&mine, signal);
  ::sigprocmask(SIG_BLOCK, &mine, &old_mask);
  ::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is noticed by write
  return Fd(::signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

Supervisor::Supervisor(const Options& options, const Environment& environment, Guardian guardian)
    : options_(options),
      guardian_(std::move(guardian)),
      host_(this_host().name),
      colour_out_(is_coloured(STDOUT_FILENO, environment)),
      colour_err_(is_coloured(STDERR_FILENO, environment)),
      signals_(take_over_signals(old_mask_)) {
  ranks_.reserve(static_cast<std::size_t>(options.ranks));
}

// Leaders are not reaped before this, so that no other process can have got the number of their group.
Supervisor::~Supervisor() {
  for (const Rank& rank : ranks_) ::kill(-rank.child.pid, SIGKILL);
  for (const Rank& rank : ranks_)
    while (::waitpid(rank.child.pid, nullptr, 0) < 0 && errno == EINTR) continue;
}

Status Supervisor::start(const Command& command, int number, const std::vector<std::string>& environment) {
  const int rank = rank_of(options_, number);
  // In a terminal, a process of another group would be stopped by reading it.
  auto child = run::start(command, environment, rank == 0 && ::isatty(STDIN_FILENO) == 0);
  if (!child) return child.status();
  guardian_.watch(child->pid);
  ranks_.push_back({rank,
                    std::move(*child),
                    LineCutter(prefix(rank, colour_out_)),
                    LineCutter(prefix(rank, colour_err_)),
                    {}});
  return {};
}

std::string Supervisor::prefix(int rank, bool coloured) const {
  return options_.prefix ? prefix_of(rank, world_size(options_) - 1, coloured) : std::string();
}

std::string Supervisor::host_of(int rank) const {
  return options_.lab ? fmt::format("host{}", place_of(options_, rank).host) : host_;
}

int Supervisor::run() {
  while (!all_ended()) {
    wait_for_news();
    take_signals();
    relay();
    note_endings();
    kill_late_ones();
  }
  finish();
  return first_failure_ ? first_failure_->exit_code() : 0;
}

bool Supervisor::all_ended() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.ending.has_value(); });
}

void Supervisor::wait_for_news() {
  std::vector<pollfd> news = {{signals_.get(), POLLIN, 0}};
  for (const Rank& rank : ranks_) {
    if (rank.child.out.valid() && !out_.full()) news.push_back({rank.child.out.get(), POLLIN, 0});
    if (rank.child.err.valid() && !err_.full()) news.push_back({rank.child.err.get(), POLLIN, 0});
  }
  for (const Sink* sink : {&out_, &err_})
    if (sink->waiting()) news.push_back({sink->fd(), POLLOUT, 0});
  int timeout_ms = -1;
  if (kill_at_ && !late_killed_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - Clock::now()).count();
    timeout_ms = static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
  }
  ::poll(news.data(), news.size(), timeout_ms);
}

void Supervisor::take_signals() {
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal)
    take_signal(static_cast<int>(signal.ssi_signo));
}

void Supervisor::take_signal(int signal) {
  if (contains(kPassedSignals, signal)) return signal_all(signal);
  if (signal == SIGTSTP) {
    signal_all(SIGTSTP);
    ::raise(SIGSTOP);  // until somebody continues this process, which is passed on like any signal
  }
  if (!contains(kEndingSignals, signal)) return;
  if (signal == SIGINT && interrupted_) {
    say("got a second SIGINT; killing all ranks");
    return signal_all(SIGKILL);
  }
  interrupted_ = interrupted_ || signal == SIGINT;
  say(fmt::format("got {}; passing it on to all ranks", signal_name(signal)));
  ask_to_end(signal);
}

void Supervisor::relay() {
  for (Rank& rank : ranks_) pass_on_both(rank);
  out_.write();
  err_.write();
}

Sink& Supervisor::output_of(const Rank& rank) {
  return options_.only_rank < 0 || options_.only_rank == rank.rank ? out_ : nowhere_;
}

bool Supervisor::pass_on_both(Rank& rank) {
  const bool out = pass_on(rank.child.out, rank.out, output_of(rank)),
             err = pass_on(rank.child.err, rank.err, err_);
  nowhere_.buffer().clear();
  return out || err;
}

// A bounded part at a time, so that every rank has its turn. False: there is nothing now.
bool Supervisor::pass_on(Fd& from, LineCutter& cutter, Sink& to) {
  // Nobody reads it: the rank is told as it would be without strata-run, by SIGPIPE.
  if (to.broken()) from.reset();
  if (!from.valid() || to.full()) return false;
  std::array<char, kReadBytesMax> bytes;
  const ssize_t n = ::read(from.get(), bytes.data(), bytes.size());
  if (n == 0) from.reset();
  if (n <= 0) return false;
  cutter.feed({bytes.data(), static_cast<std::size_t>(n)}, to.buffer());
  return true;
}

void Supervisor::note_endings() {
  const Rank* failed = nullptr;
  for (Rank& rank : ranks_) {
    siginfo_t info{};
    if (rank.ending ||
        ::waitid(P_PID, static_cast<id_t>(rank.child.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
      continue;
    if (info.si_pid == 0) continue;
    rank.ending = ending_from(info);
    // Of several that fail at once, one that was killed is more likely the cause than one that gave up.
    if (rank.ending->failed() &&
        (failed == nullptr || (failed->ending->signal == 0 && rank.ending->signal != 0)))
      failed = &rank;
  }
  if (failed != nullptr && !first_failure_) note_failure(*failed);
}

void Supervisor::note_failure(const Rank& rank) {
  first_failure_ = rank.ending;
  if (kill_at_) return;  // it was asked to end
  say(fmt::format("rank {} on {} (pid {}) {}{}", rank.rank, host_of(rank.rank), rank.child.pid,
                  describe(*rank.ending), all_ended() ? "" : "; ending the other ranks"));
  ask_to_end(SIGTERM);
}

void Supervisor::ask_to_end(int signal) {
  signal_all(signal);
  if (!kill_at_)
    kill_at_ = Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(options_.grace_s * 1000));
}

void Supervisor::signal_all(int signal) {
  for (const Rank& rank : ranks_)
    if (!rank.ending) ::kill(-rank.child.pid, signal);
}

void Supervisor::kill_late_ones() {
  if (!kill_at_ || late_killed_ || Clock::now() < *kill_at_) return;
  late_killed_ = true;
  std::vector<int> late;
  for (const Rank& rank : ranks_)
    if (!rank.ending) late.push_back(rank.rank);
  if (late.empty()) return;
  say(fmt::format("rank {} did not end within {} s; killing it", rendezvous::list_ranks(late),
                  options_.grace_s));
  signal_all(SIGKILL);
}

void Supervisor::finish() {
  // What the ranks have started and left behind goes too.
  for (const Rank& rank : ranks_) ::kill(-rank.child.pid, SIGKILL);
  ::sigprocmask(SIG_SETMASK, &old_mask_,
                nullptr);  // a reader that never reads must not make this process immortal
  for (Rank& rank : ranks_) {
    while (pass_on_both(rank)) out_.write_all(), err_.write_all();
    rank.out.finish(output_of(rank).buffer());
    rank.err.finish(err_.buffer());
    out_.write_all();
    err_.write_all();
  }
}

void Supervisor::say(const std::string& text) {
  err_.buffer() += fmt::format("strata-run: {}\n", text);
  err_.write();
}

}  // namespace strata::run
