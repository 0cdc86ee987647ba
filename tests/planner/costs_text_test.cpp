// Costs as text: what is written is read again, and nothing else is.
#include "ccl/planner/costs_text.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace strata {
namespace {

MeasuredCosts some() {
  MeasuredCosts costs;
  LinkCost shm = default_costs().of(LinkKind::shm);
  shm.send_ps = 123;
  shm.wire_ps_per_kib = 45;
  costs.set("numa", LinkKind::shm, shm);
  costs.set("numa", LinkKind::tcp_local, default_costs().of(LinkKind::tcp_local));
  costs.set("a rack's row", LinkKind::tcp, default_costs().of(LinkKind::tcp));
  costs.local_cost.copy_ps_per_kib = 6;
  costs.local = true;
  return costs;
}

}  // namespace

TEST_CASE("costs are read as they were written") {
  for (const MeasuredCosts& costs : {some(), MeasuredCosts{}}) {
    MeasuredCosts read;
    CHECK(add_text(to_text(costs), read));
    CHECK(read == costs);
  }
}

TEST_CASE("what is read is added to what is known, and replaces it") {
  MeasuredCosts known;
  known.set("host", LinkKind::tcp_local, default_costs().of(LinkKind::tcp_local));
  known.set("numa", LinkKind::shm, default_costs().of(LinkKind::shm));
  REQUIRE(add_text(to_text(some()), known));
  CHECK(known.find("host", LinkKind::tcp_local) != nullptr);
  CHECK(known.find("host", LinkKind::shm) == nullptr);
  CHECK(known.find("numa", LinkKind::shm)->send_ps == 123);
  CHECK(known.links.size() == 4);
  CHECK(known.local);
}

TEST_CASE("broken texts are refused as a whole") {
  const std::string good = to_text(some());
  for (std::size_t length = 1; length < good.size(); ++length) {
    MeasuredCosts into;
    const std::string cut = good.substr(0, length);
    if (cut.back() == '\n') continue;  // whole lines are fine
    CAPTURE(cut);
    CHECK(!add_text(cut, into));
    CHECK(into == MeasuredCosts{});
  }
  for (const char* bad :
       {"\n", "shm\n", "shm 1 2 3 4 5 6 l3\n", "shm 1 2 3 4 5 6 7\n", "shm 1 2 3 4 5 6 7 \n",
        "shm 1 2 3 4 5 6 -7 l3\n", "shm 1 2 3 4 5 6 9999999999999 l3\n", "shm 1 2 3 4 5 6 0x7 l3\n",
        "shm  1 2 3 4 5 6 7 l3\n", "rdma 1 2 3 4 5 6 7 l3\n", "shm 1 2 3 4 5 6 7 l\t3\n", "local 1\n",
        "local 1 2 3\n", "local 1 2 \n", "local 99999999999999999999 2\n"}) {
    CAPTURE(bad);
    MeasuredCosts into;
    CHECK(!add_text(bad, into));
    CHECK(!add_text(good + bad, into));
    CHECK(into == MeasuredCosts{});
  }
}

}  // namespace strata
