#include "tools/strata_run/secret.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <sstream>

#include "ccl/base/errno_status.hpp"
#include "ccl/base/log.hpp"

namespace strata::run {
namespace {

Expected<std::string> read_file(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    if (file.is_open())
      return Status(ErrorCode::invalid_argument, fmt::format("the secret file {} is empty", path));
    return errno_status("open", path);
  }
  std::string secret = text.str();
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (secret.empty())
    return Status(ErrorCode::invalid_argument, fmt::format("the secret file {} is empty", path));
  // An environment variable cannot hold what is behind a zero byte.
  if (secret.find('\0') != std::string::npos)
    return Status(ErrorCode::invalid_argument,
                  fmt::format("the secret file {} has a zero byte; give one line of text", path));
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & (S_IRGRP | S_IROTH)) != 0)
    log::warn("the secret file {} can be read by others; chmod 600 it", path);
  return secret;
}

Expected<std::string> make_up() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return errno_status("getrandom", "the job's secret");
  std::string secret;
  for (const unsigned char byte : bytes) secret += fmt::format("{:02x}", byte);
  return secret;
}

}  // namespace

Expected<std::string> secret_of(const Options& options, const Environment& environment) {
  if (!options.secret_file.empty()) return read_file(options.secret_file);
  if (environment.has("STRATA_SECRET")) return std::string(environment.text("STRATA_SECRET"));
  if (options.nodes == 1) return make_up();
  return Status(
      ErrorCode::invalid_argument,
      fmt::format("{} hosts need one secret: make one with \"openssl rand -hex 16\", and give it to each as "
                  "STRATA_SECRET or by --secret-file",
                  options.nodes));
}

}  // namespace strata::run
