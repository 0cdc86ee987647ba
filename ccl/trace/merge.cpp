#include "ccl/trace/merge.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "ccl/trace/chrome.hpp"

namespace strata::trace {
namespace {

bool is_newer(const std::string& path, std::uint64_t than_ns) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 &&
         static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000u +
                 static_cast<std::uint64_t>(status.st_mtim.tv_nsec) >=
             than_ns;
}

}  // namespace

Expected<std::vector<Rank>> merge_parts(const std::string& trace, std::span<const Rank> ranks,
                                        std::uint64_t since_ns,
                                        std::span<const std::string_view> algorithms) {
  std::vector<std::string> paths;
  std::vector<Rank> found;
  if (is_newer(trace, since_ns)) return found;
  ChromeFile file(trace, algorithms);
  for (const Rank rank : ranks)
    for (const std::string& path : part_places(trace, rank)) {
      const auto part = read_part(path);
      if (!part || part->header.created_ns < since_ns || part->header.rank != rank) continue;
      if (found.empty())
        if (Status s = file.open(); !s.ok()) return s;
      file.add(timeline_of(*part));
      found.push_back(rank);
      paths.push_back(path);
      break;
    }
  if (found.empty()) return found;
  if (Status s = file.finish(); !s.ok()) return s;
  std::error_code ignored;
  for (const std::string& path : paths) std::filesystem::remove(path, ignored);
  return found;
}

}  // namespace strata::trace
