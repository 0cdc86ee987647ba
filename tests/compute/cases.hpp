// What the kernel tests share: every instruction set in turn, all pairs of type and operation, hostile bytes.
#pragma once
#include <vector>
#include "ccl/compute/targets.hpp"

#include <hwy/targets.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>

#include "ccl/compute/reduce.hpp"
#include "tests/compute/reference.hpp"

namespace strata::test {

// Runs f once with the kernels of each instruction set this CPU has.
template <class F>
void for_each_target(F f) {
  hwy::SetSupportedTargetsForTest(0);
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    const std::string name = hwy::TargetName(target);
    CAPTURE(name);
    REQUIRE(vector_target() == name);
    f();
    hwy::SetSupportedTargetsForTest(0);
  }
}

template <class F>
void for_each_defined_pair(F f) {
  for (int t = 0; t < kDataTypes; ++t)
    for (int o = 0; o < kReduceOps; ++o)
      if (is_defined(static_cast<ReduceOp>(o), static_cast<DataType>(t)))
        f(static_cast<DataType>(t), static_cast<ReduceOp>(o));
}

using Random = std::mt19937_64;

// Random bit patterns (NaN, infinities and subnormals among them), with many elements set to the type's
// special values: zeros, ones, extremes, and bytes of all ones.
Bytes hostile_bytes(DataType type, std::size_t count, Random& random);

inline Bytes run_two(DataType type, ReduceOp op, const Bytes& a, const Bytes& b) {
  Bytes into(a.size());
  reduce_kernel(type, op)(into.data(), a.data(), b.data(), a.size() / size_of(type));
  return into;
}

// `first` and the fan_in parts that lie one after another from `rest` on.
inline std::vector<const void*> parts_of(const std::byte* first, const std::byte* rest, std::size_t fan_in,
                                         std::size_t bytes) {
  std::vector<const void*> parts{first};
  for (std::size_t k = 0; k < fan_in; ++k) parts.push_back(rest + k * bytes);
  return parts;
}

inline Bytes run_many(DataType type, ReduceOp op, Bytes into, const Bytes& rest, std::size_t fan_in,
                      bool finish, double scale) {
  const auto parts = parts_of(into.data(), rest.data(), fan_in, into.size());
  reduce_many_kernel(type, op)(into.data(), parts.data(), parts.size(), into.size() / size_of(type), finish,
                               scale);
  return into;
}

}  // namespace strata::test
