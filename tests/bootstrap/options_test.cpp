// What the environment makes of the options, and which options are refused.
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "ccl/bootstrap/rendezvous_address.hpp"
#include "ccl/runtime/options.hpp"

using namespace strata;

namespace {

Expected<CommunicatorOptions> from(std::vector<std::string> assignments) {
  return options_from(Environment(assignments));
}

bool says(const Status& status, std::string_view part) {
  return status.message().find(part) != std::string_view::npos;
}

CommunicatorOptions sound() {
  CommunicatorOptions options;
  options.rank = 1, options.size = 4, options.rendezvous = "node0:29500";
  return options;
}

}  // namespace

TEST_CASE("torchrun's variables are understood") {
  const auto options =
      from({"RANK=3", "WORLD_SIZE=8", "LOCAL_RANK=1", "MASTER_ADDR=fd00::7", "MASTER_PORT=1234"});
  REQUIRE(options.ok());
  CHECK(options->rank == 3);
  CHECK(options->size == 8);
  CHECK(options->local_rank == 1);
  CHECK(options->rendezvous == "[fd00::7]:1234");
  const auto agent = from(
      {"RANK=3", "WORLD_SIZE=8", "MASTER_ADDR=h", "MASTER_PORT=1234", "TORCHELASTIC_USE_AGENT_STORE=True"});
  REQUIRE(agent.ok());
  CHECK(agent->rendezvous == "h:1235");
  CHECK(agent->local_rank == -1);
}

TEST_CASE("the first launcher whose rank is set is believed, whatever the others say") {
  struct Names {
    std::string rank, size, local;
  };
  const std::vector<Names> launchers = {
      {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
      {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"}};
  for (unsigned present = 1; present < 1u << launchers.size(); ++present) {
    CAPTURE(present);
    std::vector<std::string> variables = {"STRATA_RENDEZVOUS=/tmp/x"};
    int first = -1;
    for (int i = 0; i < static_cast<int>(launchers.size()); ++i) {
      if ((present >> i & 1u) == 0) continue;
      if (first < 0) first = i;
      const Names& n = launchers[static_cast<std::size_t>(i)];
      variables.insert(variables.end(),
                       {n.rank + "=" + std::to_string(i), n.size + "=" + std::to_string(i + 10),
                        n.local + "=" + std::to_string(i)});
    }
    const auto options = from(variables);
    REQUIRE(options.ok());
    CHECK(options->rank == first);
    CHECK(options->size == first + 10);
    CHECK(options->local_rank == first);
  }
}

TEST_CASE("all settings arrive") {
  const auto o = from({"RANK=0",
                       "WORLD_SIZE=2",
                       "STRATA_RENDEZVOUS=a:1",
                       "MASTER_ADDR=b",
                       "MASTER_PORT=2",
                       "STRATA_SECRET=s",
                       "STRATA_INTERFACE=eth*",
                       "STRATA_TRANSPORT=shm,tcp",
                       "STRATA_PORT_RANGE=5-6",
                       "STRATA_TIMEOUT_MS=0",
                       "STRATA_RENDEZVOUS_TIMEOUT_MS=8",
                       "STRATA_SPIN_US=9",
                       "STRATA_MEMORY_MB=7",
                       "STRATA_TCP_STREAMS=3",
                       "STRATA_TCP_CREDIT_KB=32",
                       "STRATA_TCP_FRAGMENT_KB=8",
                       "STRATA_SINGLE_COPY=0",
                       "STRATA_PROGRESS_THREAD=0",
                       "STRATA_ALGORITHM=ring",
                       "STRATA_CALIBRATE=off",
                       "STRATA_LOG=warn"});
  REQUIRE(o.ok());
  CHECK(o->rendezvous == "a:1");
  CHECK(o->secret == "s");
  CHECK(o->interface == "eth*");
  CHECK(o->transport == "shm,tcp");
  CHECK((o->port_min == 5 && o->port_max == 6));
  CHECK((o->timeout_ms == 0 && o->rendezvous_timeout_ms == 8 && o->spin_us == 9));
  CHECK(o->memory_mb == 7);
  CHECK(o->tcp_streams == 3);
  CHECK((o->tcp_credit_kb == 32 && o->tcp_fragment_kb == 8));
  CHECK_FALSE(o->single_copy);
  CHECK_FALSE(o->progress_thread);
  CHECK(o->algorithm == "ring");
  CHECK(o->calibrate == "off");
}

TEST_CASE("what is missing or wrong in the environment is named with its cure") {
  const std::string rank = "RANK=1", size = "WORLD_SIZE=2", meet = "STRATA_RENDEZVOUS=h:1";
  CHECK(says(from({}).status(), "strata-run -n"));
  CHECK(says(from({rank, meet}).status(), "WORLD_SIZE is not set"));
  CHECK(says(from({"RANK=2", size, meet}).status(), "RANK is 2, but WORLD_SIZE is 2"));
  CHECK(says(from({rank, size}).status(), "STRATA_RENDEZVOUS=HOST:PORT"));
  CHECK(says(from({rank, size, "MASTER_ADDR=h"}).status(), "MASTER_PORT is \"\""));
  CHECK(says(from({rank, size, "STRATA_RENDEZVOUS=h"}).status(), "variable STRATA_RENDEZVOUS"));
  CHECK(says(from({rank, size, "MASTER_ADDR=a b", "MASTER_PORT=1"}).status(), "MASTER_ADDR and MASTER_PORT"));
  CHECK(says(from({rank, size, meet, "STRATA_TRANSPORT=tpc"}).status(), "did you mean tcp"));
  CHECK(says(from({rank, size, meet, "STRATA_TIMEOUT=5"}).status(), "STRATA_TIMEOUT_MS"));
  CHECK(says(from({rank, size, meet, "STRATA_CALIBRATE=no"}).status(), "auto|always|off"));
  CHECK(from({"RANK=0", "WORLD_SIZE=1"}).ok());  // one rank meets nobody
}

TEST_CASE("validate names the field and the value of each wrong option") {
  CHECK(validate(sound()).ok());
  struct Case {
    std::function<void(CommunicatorOptions&)> spoil;
    std::string field, value;
  };
  const std::vector<Case> cases = {
      {[](auto& o) { o.size = 0; }, "size", "0"},
      {[](auto& o) { o.size = kRanksMax + 1; }, "size", std::to_string(kRanksMax + 1)},
      {[](auto& o) { o.rank = 4; }, "rank", "4"},
      {[](auto& o) { o.rank = -1; }, "rank", "-1"},
      {[](auto& o) { o.local_rank = -2; }, "local_rank", "-2"},
      {[](auto& o) { o.local_rank = 4; }, "local_rank", "4"},
      {[](auto& o) { o.rendezvous = ""; }, "rendezvous", "\"\""},
      {[](auto& o) { o.secret = std::string(5000, 'x'); }, "secret", "5000"},
      {[](auto& o) { o.transport = "shm,carrier"; }, "transport", "\"carrier\""},
      {[](auto& o) { o.port_min = 9, o.port_max = 8; }, "port_min", "9"},
      {[](auto& o) { o.port_max = 8; }, "port_max", "8"},
      {[](auto& o) { o.tcp_streams = 0; }, "tcp_streams", "0"},
      {[](auto& o) { o.tcp_streams = 17; }, "tcp_streams", "17"},
      {[](auto& o) { o.tcp_credit_kb = 15; }, "tcp_credit_kb", "15"},
      {[](auto& o) { o.tcp_credit_kb = 65'537; }, "tcp_credit_kb", "65537"},
      {[](auto& o) { o.tcp_fragment_kb = 1025; }, "tcp_fragment_kb", "1025"},
      {[](auto& o) { o.rendezvous_timeout_ms = 0; }, "rendezvous_timeout_ms", "0"},
      {[](auto& o) { o.calibrate = "maybe"; }, "calibrate", "\"maybe\""},
      {[](auto& o) { o.spin_us = 1'000'001; }, "spin_us", "1000001"},
  };
  for (const Case& c : cases) {
    CommunicatorOptions options = sound();
    c.spoil(options);
    const Status status = validate(options);
    CAPTURE(c.field, c.value, status.message());
    CHECK(status.code() == ErrorCode::invalid_argument);
    CHECK(says(status, c.field));
    CHECK(says(status, c.value));
  }
}

TEST_CASE("addresses of the rendezvous are taken apart and put together again") {
  for (const char* host : {"node0", "10.0.0.1", "::1", "fd00::1", "fe80::1%eth0", "a-b.c"})
    for (const int port : {1, 80, 65'535}) {
      const std::string text = join_host_port(host, static_cast<std::uint16_t>(port));
      const auto address = parse_rendezvous(text);
      CAPTURE(text);
      REQUIRE(address.ok());
      CHECK(address->host == host);
      CHECK(address->port == port);
      CHECK_FALSE(address->is_path());
    }
  for (const char* path : {"/tmp/a", "./a", "a/b:5", "/x:1"}) {
    const auto address = parse_rendezvous(path);
    REQUIRE(address.ok());
    CHECK(address->path == path);
  }
  for (const std::string& bad :
       {std::string("host"), std::string(":1"), std::string("h:"), std::string("h:0"), std::string("h:65536"),
        std::string("h:1x"), std::string("::1:5"), std::string("[::1]"), std::string("[h]:1"),
        std::string("[]:1"), std::string("a b:1"), std::string("/tmp/"), "/" + std::string(200, 'p'),
        std::string(300, 'h') + ":1", std::string("[::1:5")}) {
    CAPTURE(bad);
    const auto address = parse_rendezvous(bad);
    REQUIRE_FALSE(address.ok());
    CHECK(says(address.status(), "\"" + bad + "\""));
    CHECK(says(address.status(), "host:port"));
  }
}
