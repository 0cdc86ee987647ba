#include "tools/strata_run/job_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "ccl/base/errno_status.hpp"

namespace strata::run {
namespace {

constexpr std::size_t kTemporaryBytesMax = 80;  // a socket's path has at most 107, with all that follows

}  // namespace

Expected<JobFolder> JobFolder::make(const std::string& temporary) {
  const bool usable = !temporary.empty() && temporary.size() <= kTemporaryBytesMax;
  std::string pattern = (usable ? temporary : "/tmp") + "/strata-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) return errno_status("mkdtemp", pattern);
  return JobFolder(pattern);
}

JobFolder::JobFolder(JobFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

JobFolder::~JobFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace strata::run
