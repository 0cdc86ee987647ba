// What the process writes on standard error while this object lives.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "ccl/base/fd.hpp"

namespace strata::test {

class CapturedLog final {
 public:
  CapturedLog() : original_(::dup(STDERR_FILENO)) {
    std::string pattern = "/tmp/strata-test-log-XXXXXX";
    file_.reset(::mkostemp(pattern.data(), O_CLOEXEC | O_APPEND));
    REQUIRE(file_.valid());
    ::unlink(pattern.c_str());
    ::dup2(file_.get(), STDERR_FILENO);
  }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;
  ~CapturedLog() { ::dup2(original_.get(), STDERR_FILENO); }

  std::string text() const {
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t n;
         (n = ::pread(file_.get(), part.data(), part.size(), static_cast<off_t>(text.size()))) > 0;)
      text.append(part.data(), static_cast<std::size_t>(n));
    return text;
  }
  bool has(std::string_view part) const { return text().find(part) != std::string::npos; }

 private:
  Fd original_, file_;
};

}  // namespace strata::test
