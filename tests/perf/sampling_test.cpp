// How --sampled spends its time.
#include "tools/strata_perf/sampling.hpp"

#include <catch2/catch.hpp>

namespace strata::perf {

TEST_CASE("small calls are timed together") {
  CHECK(sampling_plan(8, 1, 0.1, false).calls == 32);
  CHECK(sampling_plan(1024, 1, 0.1, false).calls == 32);
  CHECK(sampling_plan(1025, 1, 0.1, false).calls == 8);
  CHECK(sampling_plan(16 << 10, 1, 0.1, false).calls == 8);
  CHECK(sampling_plan(256 << 10, 1, 0.1, false).calls == 2);
  CHECK(sampling_plan(4 << 20, 1, 0.1, false).calls == 1);
}

TEST_CASE("slow calls are not, nor are those that buffers are touched before") {
  CHECK(sampling_plan(8, 5'000, 0.1, false).calls == 4);
  CHECK(sampling_plan(8, 50'000, 0.1, false).calls == 1);
  CHECK(sampling_plan(8, 1, 0.1, true).calls == 1);
}

TEST_CASE("as many samples as fit, within limits") {
  CHECK(sampling_plan(8, 0, 1000, false).samples == 400);
  CHECK(sampling_plan(4 << 20, 1'000, 0.1, false).samples == 100);
  CHECK(sampling_plan(4 << 20, 1'000, 0.1, false).warmups == 15);
  CHECK(sampling_plan(64 << 20, 1e9, 0.1, false).samples == 9);
  CHECK(sampling_plan(64 << 20, 1e9, 0.1, false).warmups == 1);
}

}  // namespace strata::perf
