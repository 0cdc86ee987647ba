// Wrong arguments: refused at once, by name, value and cure; nothing else is disturbed.
#include <catch2/catch.hpp>

#include <array>
#include <limits>

#include "strata/ccl.h"
#include "tests/support/world.hpp"

using namespace strata;
using namespace strata::test;

namespace {

void refused(const Work& work, const std::string& text) {
  const Status s = work.wait();
  EXPECT(s.code() == ErrorCode::invalid_argument);
  if (s.message().find(text) == std::string_view::npos)
    throw ExpectationFailed("'" + std::string(s.message()) + "' does not say '" + text + "'");
}

}  // namespace

TEST_CASE("each misuse of an operation is named, and the communicator goes on") {
  const std::string wrong = run_world(2, {.wire = Wire::memory, .communicator = {}}, [](Communicator& c) {
    std::vector<int> a(100, 1), b(100);
    const auto f32 = DataType::float32, i32 = DataType::int32;
    const std::array<std::uint64_t, 2> two{3, 4};
    const std::array<std::uint64_t, 3> three{1, 2, 3};
    const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max() / 2;
    refused(c.all_reduce(nullptr, b.data(), 5, i32, ReduceOp::sum), "input is null, but 20 bytes are read");
    refused(c.all_reduce(a.data(), nullptr, 5, i32, ReduceOp::sum),
            "output is null, but 20 bytes are written");
    refused(c.all_reduce(a.data(), b.data(), 5, static_cast<DataType>(99), ReduceOp::sum),
            "type = 99 is not a DataType");
    refused(c.all_reduce(a.data(), b.data(), 5, i32, static_cast<ReduceOp>(77)), "op = 77 is not a ReduceOp");
    refused(c.all_reduce(a.data(), b.data(), 5, f32, ReduceOp::bit_xor),
            "op = bit_xor has no meaning on type = float32");
    refused(c.all_reduce(a.data(), b.data(), huge, i32, ReduceOp::sum), "is more than 2^63 bytes");
    refused(c.all_reduce(a.data(), a.data() + 1, 5, i32, ReduceOp::sum),
            "overlap, but not as an in-place call must");
    refused(c.all_reduce(a.data(), b.data(), 5, i32, ReduceOp::scaled_sum,
                         {.scale = std::numeric_limits<double>::infinity()}),
            "scale = inf is not a finite number");
    refused(c.all_reduce(a.data(), b.data(), 5, i32, ReduceOp::sum, {.algorithm = "rings"}),
            "algorithm 'rings' does not exist for all_reduce; choose one of:");
    refused(c.broadcast(a.data(), b.data(), 5, i32, 2),
            "root = 2 is not a rank of this communicator; it has ranks 0 to 1");
    refused(c.reduce(a.data(), b.data(), 5, i32, ReduceOp::sum, -1), "root = -1");
    refused(c.send(a.data(), 5, i32, 7), "peer = 7 is not a rank");
    refused(c.recv(nullptr, 5, i32, 1 - c.rank()), "data is null, but 20 bytes are written");
    refused(c.all_gather_v(a.data(), b.data(), three, i32),
            "counts has 3 entries, but the communicator has 2 ranks");
    refused(c.all_gather_v(a.data(), b.data(), std::array{huge, huge}, i32), "counts[0]");
    refused(c.all_to_all_v(a.data(), two, a.data(), two, i32), "does not work in place");
    refused(c.all_to_all_v(a.data(), two, b.data(), std::array<std::uint64_t, 2>{4, 3}, i32),
            "they must be equal");
    refused(c.all_gather(a.data(), a.data() + 3, 5, i32), "input == output + the parts of lower ranks");
    EXPECT_OK(
        c.all_reduce(nullptr, nullptr, 0, i32, ReduceOp::sum).wait());  // nothing is read, nothing is wrong
    EXPECT_OK(c.all_reduce(a.data(), b.data(), 100, i32, ReduceOp::sum).wait());
    EXPECT(b[99] == 2);
  });
  CHECK(wrong == "");
}

TEST_CASE("options that cannot be are refused before anything is opened") {
  const auto refuse = [](CommunicatorOptions o, const std::string& text) {
    const auto made = Communicator::create(o);
    REQUIRE(!made.ok());
    CAPTURE(made.status().message());
    CHECK(made.status().code() == ErrorCode::invalid_argument);
    CHECK(made.status().message().find(text) != std::string_view::npos);
  };
  CommunicatorOptions o;
  o.rank = 0;
  o.size = 0;
  refuse(o, "size");
  o.size = 2;
  o.rank = 2;
  refuse(o, "rank");
  o.rank = 1;
  refuse(o, "rendezvous");
  o.rank = 0;
  o.size = 1;
  o.transport = "carrier-pigeon";
  refuse(o, "carrier-pigeon");
}

TEST_CASE("the C interface refuses what is not there, and remembers why") {
  strata_comm_options options = STRATA_COMM_OPTIONS_INIT;
  options.rank = 0;
  options.world_size = 1;
  strata_comm_t comm = nullptr;
  REQUIRE(strata_comm_create(&options, nullptr) == STRATA_INVALID_ARGUMENT);
  CHECK(std::string(strata_last_error()).find("comm is NULL") != std::string::npos);
  REQUIRE(strata_comm_create(&options, &comm) == STRATA_OK);
  float x[3] = {1, 2, 3}, y[3] = {};
  CHECK(strata_all_reduce(comm, x, y, 3, STRATA_FLOAT32, STRATA_SUM, nullptr, nullptr) == STRATA_OK);
  CHECK(y[2] == 3);
  CHECK(strata_all_reduce(comm, x, y, 3, static_cast<strata_data_type>(256 + 8), STRATA_SUM, nullptr,
                          nullptr) == STRATA_INVALID_ARGUMENT);
  CHECK(std::string(strata_last_error()).find("is not a DataType") != std::string::npos);
  CHECK(strata_all_gather_v(comm, x, y, nullptr, STRATA_FLOAT32, nullptr, nullptr) ==
        STRATA_INVALID_ARGUMENT);
  CHECK(std::string(strata_last_error()).find("counts has 0 entries") != std::string::npos);
  strata_work_t work = nullptr;
  CHECK(strata_all_reduce(comm, x, nullptr, 3, STRATA_FLOAT32, STRATA_SUM, nullptr, &work) ==
        STRATA_INVALID_ARGUMENT);
  CHECK(work == nullptr);
  CHECK(strata_work_wait(nullptr, -1) == STRATA_OK);
  CHECK(strata_group_end(nullptr) == STRATA_INVALID_ARGUMENT);
  CHECK(strata_comm_destroy(comm) == STRATA_OK);
  CHECK(strata_comm_destroy(comm) == STRATA_INVALID_ARGUMENT);
  CHECK(std::string(strata_last_error()).find("was destroyed or never created") != std::string::npos);
  CHECK(strata_barrier(comm, nullptr, nullptr) == STRATA_INVALID_ARGUMENT);
  CHECK(strata_barrier(nullptr, nullptr, nullptr) == STRATA_INVALID_ARGUMENT);
  CHECK(std::string(strata_last_error()).find("comm is NULL") != std::string::npos);
}

TEST_CASE("structs of an older, shorter version are understood") {
  strata_comm_options options = STRATA_COMM_OPTIONS_INIT;
  options.size = offsetof(strata_comm_options, local_rank);
  options.rank = 0;
  options.world_size = 1;
  options.transport = "not looked at: beyond its size";
  strata_comm_t comm = nullptr;
  REQUIRE(strata_comm_create(&options, &comm) == STRATA_OK);
  strata_call_options call = STRATA_CALL_OPTIONS_INIT;
  call.size = offsetof(strata_call_options, priority);
  call.scale = 3;
  int x = 2, y = 0;
  CHECK(strata_all_reduce(comm, &x, &y, 1, STRATA_INT32, STRATA_SCALED_SUM, &call, nullptr) == STRATA_OK);
  CHECK(y == 6);
  CHECK(strata_comm_destroy(comm) == STRATA_OK);
}
