#include "ccl/runtime/cost_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "ccl/base/hash.hpp"
#include "ccl/base/host.hpp"
#include "ccl/base/log.hpp"
#include "ccl/topology/machine_text.hpp"

namespace strata {
namespace {

constexpr std::string_view kMagic = "strata costs 2\n";  // the number changes with what the lines mean
constexpr std::size_t kFileBytesMax = 64 << 10;

std::string first_bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kFileBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

void note(std::string_view what, const std::string& path, std::string_view why) {
  log::debug("costs of links: {} {}: {}", what, path, why);
}

}  // namespace

std::string CostCache::path() const { return fmt::format("{}/costs-{:016x}", folder, hash_of(key)); }

MeasuredCosts CostCache::read() const {
  if (folder.empty()) return {};
  const std::string text = first_bytes_of(path()), begin = std::string(kMagic) + key;
  if (text.empty()) return {};
  MeasuredCosts costs;
  if (!text.starts_with(begin)) {
    note("ignored", path(), "it belongs to something else");
    return {};
  }
  if (!add_text(std::string_view(text).substr(begin.size()), costs)) {
    note("ignored", path(), "it is broken");
    return {};
  }
  return costs;
}

void CostCache::write(const MeasuredCosts& costs) const {
  if (folder.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return note("not kept in", folder, error.message());
  // A name of its own for each writer: ranks of other jobs, and threads that are ranks of one process.
  const std::string fresh =
      fmt::format("{}.{}.{}", path(), ::getpid(), std::hash<std::thread::id>()(std::this_thread::get_id()));
  std::ofstream file(fresh, std::ios::binary);
  file << kMagic << key << to_text(costs);
  file.close();
  if (file) std::filesystem::rename(fresh, path(), error);
  if (!file || error) {
    note("not kept in", path(), error ? error.message() : "not all could be written");
    std::filesystem::remove(fresh, error);
  }
}

std::string cache_folder(const Environment& environment) {
  // The base directory specification has relative paths ignored.
  if (const auto cache = environment.text("XDG_CACHE_HOME"); cache.starts_with('/'))
    return std::string(cache) + "/strata";
  const auto home = environment.text("HOME");
  return home.starts_with('/') ? std::string(home) + "/.cache/strata" : std::string();
}

CostCache cost_cache_of(const topology::Machine& machine) {
  topology::Machine parts = machine;
  parts.nics.clear();  // messages within a host have nothing to do with them
  const auto text = topology::machine_text(parts);
  return {cache_folder(Environment::of_process()),
          fmt::format("{}\n{}\n{}\n{:016x}\n", STRATA_VERSION, kernel_release(), cpu_model(),
                      text ? hash_of(*text) : 0)};
}

}  // namespace strata
