// When ranks cannot meet, all of them say why, and nothing is left behind.
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/bootstrap/captured_log.hpp"
#include "tests/bootstrap/ranks.hpp"

using namespace strata;
using namespace strata::test;

namespace {

// Joins the given ranks at once, in their order; the statuses are in the same order.
std::vector<Status> join_all(const std::vector<rendezvous::Settings>& ranks) {
  std::vector<Status> statuses(ranks.size());
  in_threads(up_to(static_cast<int>(ranks.size())), [&](int index) {
    const auto exchange = join_with(ranks[static_cast<std::size_t>(index)]);
    statuses[static_cast<std::size_t>(index)] = exchange.status();
  });
  return statuses;
}

rendezvous::Settings settings_of(int rank, int size, const std::string& address,
                                 std::uint32_t timeout_ms = 20'000) {
  CommunicatorOptions options = options_of(rank, size, address);
  options.rendezvous_timeout_ms = timeout_ms;
  rendezvous::Settings settings = rendezvous::settings_from(options);
  settings.me.host = "host" + std::to_string(rank);  // as if on hosts of their own
  settings.me.pid = 100 + rank;
  return settings;
}

std::vector<std::string> meeting_places(const TemporaryFolder& folder) {
  return {folder.path("meet"), free_address()};
}

}  // namespace

TEST_CASE("all ranks that came name those that did not, and who is there") {
  const TemporaryFolder folder;
  const CapturedLog log;
  for (const std::string& address : meeting_places(folder))
    for (const bool rank_0_is_first_to_give_up : {true, false}) {
      CAPTURE(address, rank_0_is_first_to_give_up);
      const std::uint32_t zero = rank_0_is_first_to_give_up ? 100 : 20'000,
                          others = rank_0_is_first_to_give_up ? 20'000 : 100;
      for (const Status& status :
           join_all({settings_of(0, 6, address, zero), settings_of(2, 6, address, others)})) {
        CAPTURE(status.message());
        CHECK(status.code() == ErrorCode::timeout);
        CHECK(says(status, "missing: rank 1, 3-5 (4 of 6)"));
        CHECK(says(status, "here: rank 0 (host0, pid 100), rank 2 (host2, pid 102)"));
        CHECK(says(status, address));
      }
    }
  CHECK(folder.empty());
}

TEST_CASE("a rank that finds no rank 0 names the address, the system's reason and what may be wrong") {
  const TemporaryFolder folder;
  const Status port = join_all({settings_of(1, 2, free_address(), 50)})[0];
  CAPTURE(port.message());
  CHECK(port.code() == ErrorCode::timeout);
  for (const char* part : {"rank 1 did not meet rank 0 at 127.0.0.1:", "Connection refused (errno 111)",
                           "rank 0 has not started", "firewall", "loopback", "/etc/hosts"})
    CHECK(says(port, part));
  const Status path = join_all({settings_of(1, 2, folder.path("meet"), 50)})[0];
  CHECK(says(path, "No such file"));
  CHECK(says(path, "one host only"));
  const Status name = join_all({settings_of(1, 2, "no-such-host.invalid:1", 50)})[0];
  CHECK(says(name, "\"no-such-host.invalid\" has no address"));
}

TEST_CASE("while ranks are missing, all that wait say so again and again") {
  const TemporaryFolder folder;
  const CapturedLog log;
  std::vector<rendezvous::Settings> ranks = {settings_of(0, 3, folder.path("meet"), 200),
                                             settings_of(1, 3, folder.path("meet"))};
  for (auto& rank : ranks) rank.report_every = std::chrono::milliseconds(10);
  join_all(ranks);
  CHECK(log.has("waiting since 0 s, rendezvous at " + folder.path("meet") +
                ": missing: rank 2 (1 of 3); here: rank 0 (host0"));
  CHECK(log.has("rank 0 (host0, pid 100) says: waiting since"));
  ranks[1].me.milliseconds_left = 200;
  join_all({ranks[1]});
  CHECK(log.has("rank 1 waits since 0 s for rank 0 at " + folder.path("meet") + ": connect"));
}

TEST_CASE("sizes, versions and ranks that do not fit fail the job at both sides, naming both") {
  const TemporaryFolder folder;
  const CapturedLog log;
  for (const std::string& address : meeting_places(folder)) {
    CAPTURE(address);
    auto other_size = settings_of(1, 4, address), other_version = settings_of(1, 3, address);
    other_version.me.version = "0.0.9";
    for (const Status& status : join_all({settings_of(0, 3, address), other_size})) {
      CAPTURE(status.message());
      CHECK(status.code() == ErrorCode::mismatch);
      CHECK(says(
          status,
          "rank 1 (host1, pid 101) was told that there are 4 ranks, but rank 0 (host0, pid 100) was told 3"));
    }
    for (const Status& status : join_all({settings_of(0, 3, address), other_version})) {
      CAPTURE(status.message());
      CHECK(status.code() == ErrorCode::mismatch);
      CHECK(says(status, "rank 1 (host1, pid 101) runs Strata 0.0.9"));
      CHECK(says(status, "rank 0 (host0, pid 100) runs Strata " + rendezvous::introduce(0, 1, 0).version));
    }
    auto twin = settings_of(1, 3, address);
    twin.me.pid = 999;
    for (const Status& status : join_all({settings_of(0, 3, address), settings_of(1, 3, address), twin})) {
      CAPTURE(status.message());
      CHECK(status.code() == ErrorCode::mismatch);
      CHECK(says(status, "rank 1 came twice"));
      CHECK(says(status, "on host1 with pid 101"));
      CHECK(says(status, "on host1 with pid 999"));
    }
  }
}

TEST_CASE("a wrong secret is refused and logged at both sides, and does not disturb the job") {
  const TemporaryFolder folder;
  for (const std::string& address : meeting_places(folder))
    for (const auto& [ours, theirs] : {std::pair{"right", "wrong"}, {"right", ""}, {"", "wrong"}}) {
      CAPTURE(address, ours, theirs);
      const CapturedLog log;
      std::vector<Status> statuses(3);
      in_threads(up_to(2), [&](int rank) {
        auto settings = settings_of(rank, 2, address);
        if (rank == 1) {
          settings.secret = theirs;
          statuses[2] = join_with(settings).status();
        }
        settings.secret = ours;
        statuses[static_cast<std::size_t>(rank)] = join_with(settings).status();
      });
      CHECK(statuses[0].message() == "");
      CHECK(statuses[1].message() == "");
      CAPTURE(statuses[2].message());
      CHECK(statuses[2].code() == ErrorCode::unauthenticated);
      CHECK(says(statuses[2], "STRATA_SECRET"));
      CHECK(log.has("refused"));
      CHECK(log.has("its secret is not that of the job"));
      CHECK(log.has("rank 1 was refused by the rendezvous at "));
    }
}

TEST_CASE("an address in use, and a path that is something else") {
  const TemporaryFolder folder;
  for (const std::string& address : meeting_places(folder)) {
    CAPTURE(address);
    auto first = settings_of(0, 2, address), second = first;
    std::thread other([&] { join_with(first).status().ok(); });
    // The first listens as soon as a rank with another secret is refused by it.
    auto probe = settings_of(1, 2, address);
    probe.secret = "probe";
    const CapturedLog log;
    CHECK(join_with(probe).status().code() == ErrorCode::unauthenticated);
    const Status status = join_with(second).status();
    CAPTURE(status.message());
    CHECK(status.code() == ErrorCode::unavailable);
    for (const char* part : {"Address already in use", "another job", "STRATA_RENDEZVOUS"})
      CHECK(says(status, part));
    CHECK(says(status, address));
    CHECK(join_with(settings_of(1, 2, address)).ok());  // the first is well
    other.join();
  }
  const std::string file = folder.path("file");
  std::ofstream(file) << "precious";
  CHECK(says(join_with(settings_of(0, 2, file)).status(), "a file and no socket"));
  CHECK(std::filesystem::file_size(file) == 8);
  CHECK(
      says(join_with(settings_of(0, 2, folder.path("none/meet"))).status(), "the path's folder must exist"));
}

TEST_CASE("a socket that a dead job left is taken over") {
  const TemporaryFolder folder;
  const std::string path = folder.path("meet");
  {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const Fd dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    REQUIRE(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(dead.get(), 1) == 0);
  }
  REQUIRE(std::filesystem::exists(path));
  for (const Status& status : join_all({settings_of(0, 2, path), settings_of(1, 2, path)}))
    CHECK(status.message() == "");
  CHECK(folder.empty());
}

TEST_CASE("a rank that dies before all have come ends the wait of the others") {
  const TemporaryFolder folder;
  const CapturedLog log;
  const std::string path = folder.path("meet");
  std::vector<Status> statuses(3);
  in_threads(up_to(3), [&](int rank) {
    auto settings = settings_of(rank, 4, path);
    if (rank == 2) settings.me.milliseconds_left = 50;  // gives up first, and so the job does
    statuses[static_cast<std::size_t>(rank)] = join_with(settings).status();
  });
  for (const Status& status : statuses) CHECK(says(status, "missing: rank 3"));
}

TEST_CASE("a rank lost in the middle of the exchange fails the others' next one, by name") {
  const TemporaryFolder folder;
  for (const std::string& address : meeting_places(folder))
    for (int dying = 0; dying < 4; ++dying)
      for (const int rounds : {0, 1, 2}) {
        CAPTURE(address, dying, rounds);
        std::vector<Status> statuses(4);
        in_threads(up_to(4), [&](int rank) {
          auto exchange = join_with(settings_of(rank, 4, address));
          Status& status = statuses[static_cast<std::size_t>(rank)];
          status = exchange.status();
          for (int round = 0; status.ok() && round < rounds; ++round)
            status = (*exchange)->all_gather("x").status();
          if (rank == dying || !status.ok()) return;
          status = (*exchange)->all_gather("y").status();
          if ((*exchange)->all_gather("z").ok()) std::abort();  // the failure stays
        });
        for (int rank = 0; rank < 4; ++rank) {
          const Status& status = statuses[static_cast<std::size_t>(rank)];
          CAPTURE(rank, status.message());
          CHECK(status.code() == (rank == dying ? ErrorCode::ok : ErrorCode::peer_lost));
          if (rank != dying)
            CHECK(says(status, "rank " + std::to_string(dying) + " (host" + std::to_string(dying) + ", pid"));
        }
      }
}
