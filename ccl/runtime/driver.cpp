// Ownership is a lock that is only ever tried. Three ways to wait, each with its own bell:
// - the owner polls the descriptors and owner_bell_;
// - a thread that waits while another owns blocks on blocked_changed_ until its operation ends or the owner
// leaves;
// - the progress thread dozes (short time-outs) while others drive, and sleeps without a time-out when all is
// idle. Each sleeper first announces itself, then looks once more at a counter; each waker first counts up,
// then looks for sleepers. All four are sequentially consistent, so one of the two sees the other: no wake-up
// is lost.
#include "ccl/runtime/driver.hpp"

#include <sys/eventfd.h>

#include <algorithm>

#include "ccl/base/check.hpp"
#include "ccl/base/pause_core.hpp"

namespace strata {
namespace {

constexpr auto kDoze =
    std::chrono::microseconds(500);  // while others drive: the delay until it would take over
constexpr auto kKeepCore = std::chrono::microseconds(20);
constexpr int kTriesBeforeBlocking = 200;

void ring(const Fd& bell) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(bell.get(), &one, sizeof one);  // full means it rings already
}
void silence(const Fd& bell) {
  std::uint64_t count;
  [[maybe_unused]] const auto read = ::read(bell.get(), &count, sizeof count);
}

// Rounded up, so that a deadline has passed when the sleep ends.
timespec until(Clock::time_point deadline) {
  const auto left = std::max(deadline - Clock::now(), Clock::duration::zero());
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

}  // namespace

Driver::Driver(Driven& driven, DriverOptions options, std::vector<int> descriptors)
    : driven_(driven),
      options_(options),
      descriptors_(std::move(descriptors)),
      owner_bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      progress_bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  STRATA_CHECK(owner_bell_.valid() && progress_bell_.valid());
  if (options_.progress_thread) progress_ = std::thread([this] { progress_loop(); });
}

void Driver::stop() {
  if (!progress_.joinable()) return;
  stopping_ = true;
  ring(progress_bell_);
  progress_.join();
}

bool Driver::try_own() {
  if (!owner_.try_lock()) return false;
  owner_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  if (std::exchange(announced_, false)) driven_.woke_up();
  return true;
}

void Driver::disown() {
  owner_thread_.store({}, std::memory_order_relaxed);
  owner_.unlock();
  notify_blocked();
}

void Driver::notify_blocked() {
  changes_.fetch_add(1);
  if (blocked_.load() == 0) return;
  const std::lock_guard lock(blocked_mutex_);
  blocked_changed_.notify_all();
}

void Driver::ended() { notify_blocked(); }

void Driver::ring_progress() { ring(progress_bell_); }

void Driver::submitted() {
  news_.fetch_add(1);
  if (owner_sleeps_.load()) ring(owner_bell_);
  if (progress_sleeps_.load()) ring(progress_bell_);
}

void Driver::help() {
  if (!try_own()) return;
  driven_.turn(Clock::now());
  disown();
}

// Other processes may need the core, the one that is waited for among them: it is kept for a moment only.
void Driver::pause(Clock::duration idle) const {
  options_.yield || idle > kKeepCore ? std::this_thread::yield() : pause_core();
}

bool Driver::drive(const std::function<bool()>& ended, Clock::time_point deadline) {
  if (ended()) return true;
  STRATA_CHECK(!on_owner_thread(), "a callback must not wait for an operation");
  waiting_.fetch_add(1);
  waits_.fetch_add(1, std::memory_order_relaxed);
  if (progress_sleeps_.load()) ring_progress();  // it dozes from now on
  bool in_time = true;
  while (in_time && !ended()) {
    if (try_own()) {
      in_time = drive_as_owner(ended, deadline);
      disown();
    } else {
      wait_for_turn(ended, deadline);
      in_time = ended() || Clock::now() < deadline;
    }
  }
  waiting_.fetch_sub(1);
  return in_time || ended();
}

bool Driver::drive_as_owner(const std::function<bool()>& ended, Clock::time_point deadline) {
  Clock::time_point idle_since{};
  while (!ended()) {
    const std::uint64_t news = news_.load();
    const auto now = Clock::now();
    if (driven_.turn(now)) {
      idle_since = {};
      continue;
    }
    if (now >= deadline) return false;
    if (idle_since == Clock::time_point{}) idle_since = now;
    if (now - idle_since < options_.spin)
      pause(now - idle_since);
    else
      sleep_as_owner(news, std::min(deadline, driven_.next_check()));
  }
  return true;
}

void Driver::sleep_on(const Fd& bell, Clock::time_point deadline) {
  std::vector<pollfd> fds;
  fds.reserve(descriptors_.size() + 1);
  fds.push_back({.fd = bell.get(), .events = POLLIN, .revents = 0});
  for (const int fd : descriptors_) fds.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  const timespec left = deadline == Clock::time_point::max() ? timespec{} : until(deadline);
  ::ppoll(fds.data(), fds.size(), deadline == Clock::time_point::max() ? nullptr : &left, nullptr);
  if (fds[0].revents) silence(bell);
}

void Driver::sleep_as_owner(std::uint64_t news_seen, Clock::time_point deadline) {
  owner_sleeps_.store(true);
  if (driven_.prepare_to_sleep() && news_.load() == news_seen) sleep_on(owner_bell_, deadline);
  owner_sleeps_.store(false);
  driven_.woke_up();
}

void Driver::wait_for_turn(const std::function<bool()>& ended, Clock::time_point deadline) {
  for (int i = 0; i < kTriesBeforeBlocking; ++i) {
    if (ended()) return;
    if (!owner_.locked()) return;
    pause({});
  }
  std::unique_lock lock(blocked_mutex_);
  blocked_.fetch_add(1);
  const std::uint64_t changes = changes_.load();
  const bool free = !owner_.locked();
  // Who counts up changes_ from here on takes blocked_mutex_ before it notifies, so the wait cannot miss it.
  if (!free && !ended() && changes_.load() == changes) {
    if (deadline == Clock::time_point::max())
      blocked_changed_.wait(lock);
    else
      blocked_changed_.wait_until(lock, deadline);
  }
  blocked_.fetch_sub(1);
}

void Driver::progress_loop() {
  std::uint64_t waits_seen = 0;
  Clock::time_point idle_since{};
  while (!stopping_) {
    const std::uint64_t waits = waits_.load(std::memory_order_relaxed);
    const bool others_drive = waiting_.load() > 0 || waits != waits_seen;
    waits_seen = waits;
    if (others_drive) {
      idle_since = {};
      doze();
    } else if (!progress_once(idle_since)) {
      sleep_deeply();
    }
  }
}

// A turn. false: nothing has happened for the time of a spin.
bool Driver::progress_once(Clock::time_point& idle_since) {
  if (!try_own()) {
    doze();
    return true;
  }
  const auto now = Clock::now();
  news_seen_ = news_.load();
  const bool worked = driven_.turn(now);
  disown();
  if (worked) {
    idle_since = {};
    return true;
  }
  if (idle_since == Clock::time_point{}) idle_since = now;
  if (now - idle_since >= options_.spin) return false;
  pause(now - idle_since);
  return true;
}

void Driver::doze() {
  pollfd fd{.fd = progress_bell_.get(), .events = POLLIN, .revents = 0};
  const timespec left{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(kDoze).count()};
  ::ppoll(&fd, 1, &left, nullptr);
  if (fd.revents) silence(progress_bell_);
}

// Sleeps on the descriptors without owning, so that a thread which comes to wait need not first get this one
// to let go. What was announced to the transports is taken back by the next owner.
void Driver::sleep_deeply() {
  if (!try_own()) return;
  progress_sleeps_.store(true);
  announced_ = true;
  const bool sleep =
      driven_.prepare_to_sleep() && news_.load() == news_seen_ && waiting_.load() == 0 && !stopping_;
  const auto deadline = driven_.next_check();
  disown();
  if (sleep) sleep_on(progress_bell_, deadline);
  progress_sleeps_.store(false);
}

}  // namespace strata
