#include "ccl/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace strata {

void check_failed(const char* file, int line, const char* condition, const std::string& operands) {
  std::fprintf(stderr, "strata: %s:%d: check failed: %s%s%s\n", file, line, condition,
               operands.empty() ? "" : " with", operands.c_str());
  std::abort();
}

}  // namespace strata
