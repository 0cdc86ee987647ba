// Ranks that die or stop: the others learn who it was, in time, and nothing is left behind.
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "tests/support/processes.hpp"
#include "tests/support/world.hpp"

using namespace strata;
using namespace strata::test;

namespace {

std::set<std::string> entries(const char* folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

// Calls the same until the communicator fails; returns "CODE message of the failed call | of a later call".
using OneCall = Work (*)(Communicator& comm, std::vector<float>& data);
RankBody call_forever(Wire wire, std::uint32_t timeout_ms, std::uint64_t count, OneCall call) {
  const std::string meeting = make_meeting_place();
  return [=](int rank, const std::function<void()>& ready) {
    CommunicatorOptions options;
    options.timeout_ms = timeout_ms;
    auto comm = join_world(rank, 3, {.wire = wire, .communicator = options}, meeting, nullptr);
    if (!comm) return std::string("no communicator: ") + std::string(comm.status().message());
    std::vector<float> data(count, 1);
    Status status;
    for (int i = 0; status.ok(); ++i) {
      status = call(*comm, data).wait();
      if (i == 3) ready();
    }
    return std::string(to_string(status.code())) + " " + std::string(status.message()) + " | " +
           std::string(comm->barrier().wait().message());
  };
}

RankBody reduce_forever(Wire wire, std::uint32_t timeout_ms, std::uint64_t count) {
  return call_forever(wire, timeout_ms, count, [](Communicator& comm, std::vector<float>& data) {
    return comm.all_reduce(data.data(), data.data(), data.size(), DataType::float32, ReduceOp::max);
  });
}

// From the first half of the data to the second.
RankBody exchange_forever(std::uint64_t count) {
  return call_forever(Wire::shm, 60'000, count, [](Communicator& comm, std::vector<float>& data) {
    const std::uint64_t half = data.size() / 2;
    return comm.all_to_all(data.data(), data.data() + half, half / 3, DataType::float32);
  });
}

void check_error(const ProcessEnd& end, const std::string& code, pid_t culprit,
                 const std::string& collective = "all_reduce") {
  CAPTURE(end.text);
  CHECK(end.exit_code == 0);
  CHECK(end.text.starts_with(code));
  CHECK(end.text.find("rank 1 (host") != std::string::npos);
  CHECK(end.text.find("pid " + std::to_string(culprit)) != std::string::npos);
  // A death can also be found in the moment between two operations.
  CHECK((end.text.find(collective) != std::string::npos ||
         end.text.find("while no operation was in flight") != std::string::npos));
  // Sticky: a later call says the same.
  const std::size_t bar = end.text.find(" | ");
  CHECK(end.text.substr(code.size() + 1, bar - code.size() - 1) == end.text.substr(bar + 3));
}

}  // namespace

TEST_CASE("kill -9 of one rank is peer_lost at the others, and nothing is left in /dev/shm") {
  const Wire wire = GENERATE(Wire::shm, Wire::shm_messages, Wire::tcp);
  const std::uint64_t count = GENERATE(1, 1'000'000);
  CAPTURE(name_of(wire), count);
  const auto before = entries("/dev/shm");
  std::vector<pid_t> pids;
  const auto ends = run_processes(3, reduce_forever(wire, 60'000, count), [&](const std::vector<pid_t>& p) {
    pids = p;
    ::kill(p[1], SIGKILL);
  });
  CHECK(ends[1].signal == SIGKILL);
  check_error(ends[0], "peer_lost", pids[1]);
  check_error(ends[2], "peer_lost", pids[1]);
  CHECK(entries("/dev/shm") == before);
}

TEST_CASE("kill -9 of a rank whose memory the others read is peer_lost at them") {
  const std::uint64_t count = GENERATE(600'000, 30'000'000);
  CAPTURE(count);
  std::vector<pid_t> pids;
  const auto ends = run_processes(3, exchange_forever(count), [&](const std::vector<pid_t>& p) {
    pids = p;
    ::kill(p[1], SIGKILL);
  });
  CHECK(ends[1].signal == SIGKILL);
  check_error(ends[0], "peer_lost", pids[1], "all_to_all");
  check_error(ends[2], "peer_lost", pids[1], "all_to_all");
}

TEST_CASE("a stopped rank is named at the deadline, and learns of it when it goes on") {
  const Wire wire = GENERATE(Wire::shm, Wire::shm_messages, Wire::tcp);
  CAPTURE(name_of(wire));
  std::vector<pid_t> pids;
  const auto ends = run_processes(3, reduce_forever(wire, 1'000, 10), [&](const std::vector<pid_t>& p) {
    pids = p;
    ::kill(p[1], SIGSTOP);
    // The others end by themselves; only then does the stopped one go on.
    siginfo_t info;
    for (const int i : {0, 2})
      ::waitid(P_PID, static_cast<id_t>(p[static_cast<std::size_t>(i)]), &info, WEXITED | WNOWAIT);
    ::kill(p[1], SIGCONT);
  });
  check_error(ends[0], "timeout", pids[1]);
  check_error(ends[2], "timeout", pids[1]);
  CHECK(ends[0].text.find("does not answer") != std::string::npos);
  CAPTURE(ends[1].text);
  CHECK(ends[1].exit_code == 0);
  // It may read the others' verdict, or first see that they are gone.
  CHECK((ends[1].text.starts_with("timeout") || ends[1].text.starts_with("peer_lost") ||
         ends[1].text.starts_with("aborted")));
}

TEST_CASE("a process that exits without destroying its communicator is lost to the others") {
  const Wire wire = GENERATE(Wire::shm, Wire::shm_messages, Wire::tcp);
  CAPTURE(name_of(wire));
  const std::string meeting = make_meeting_place();
  const auto ends = run_processes(
      2,
      [&](int rank, const std::function<void()>& ready) -> std::string {
        auto comm = join_world(rank, 2, {.wire = wire, .communicator = {}}, meeting, nullptr);
        if (!comm) return std::string(comm.status().message());
        ready();
        if (rank == 0) ::_exit(3);
        const Status s = comm->barrier().wait();
        return std::string(to_string(s.code())) + " " + std::string(s.message());
      },
      [](const auto&) {});
  CHECK(ends[0].exit_code == 3);
  CAPTURE(ends[1].text);
  CHECK(ends[1].text.starts_with("peer_lost rank 0 (host"));
}
