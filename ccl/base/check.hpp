// STRATA_CHECK: our own mistakes stop the process, with the operands in the message.
#pragma once
#include <sstream>
#include <string>

namespace strata {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& operands);

template <class... Operands>
[[noreturn]] void check_failed_with(const char* file, int line, const char* condition,
                                    const Operands&... operands) {
  std::ostringstream text;
  ((text << ' ' << operands), ...);
  check_failed(file, line, condition, text.str());
}

}  // namespace strata

#define STRATA_CHECK(condition, ...)                 \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::strata::check_failed_with(__FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__))
