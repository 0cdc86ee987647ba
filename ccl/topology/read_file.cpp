#include "ccl/topology/read_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace strata::topology {

Expected<std::string> read_file(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return Status(ErrorCode::unavailable, fmt::format("cannot read {}: {}", path, why));
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return refuse("it is a folder; give a file");
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return refuse(std::generic_category().message(errno));
  std::string text;
  char block[1 << 16];
  while (file.read(block, sizeof block), file.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kFileBytesMax) return refuse("it is larger than 64 MiB, which is no topology");
  }
  if (file.bad()) return refuse("reading failed half-way");
  return text;
}

}  // namespace strata::topology
