// A private folder for the job's rendezvous socket, removed at the end.
#pragma once
#include <string>

#include "strata/status.hpp"

namespace strata::run {

class JobFolder final {
 public:
  // In TMPDIR, or in /tmp where that would make the socket's path too long. Error: unavailable.
  static Expected<JobFolder> make(const std::string& temporary);
  JobFolder(JobFolder&& other) noexcept;
  JobFolder& operator=(JobFolder&&) = delete;
  ~JobFolder();
  const std::string& path() const { return path_; }
  std::string socket() const { return path_ + "/rendezvous"; }

 private:
  explicit JobFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace strata::run
