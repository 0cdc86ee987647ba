#include "tools/strata_perf/world.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace strata::perf {

Status World::synchronize() { return communicator_.barrier().wait(); }

Expected<std::vector<double>> World::gather(std::span<const double> mine) {
  std::vector<double> all(mine.size() * static_cast<std::size_t>(size()));
  const Status status =
      communicator_.all_gather(mine.data(), all.data(), mine.size(), DataType::float64).wait();
  if (!status.ok()) return status;
  return all;
}

Expected<std::vector<std::string>> World::gather(const std::string& mine) {
  using Record = std::array<char, 128>;
  Record record{};
  std::memcpy(record.data(), mine.data(), std::min(mine.size(), record.size() - 1));
  std::vector<Record> all(static_cast<std::size_t>(size()));
  const Status status =
      communicator_.all_gather(record.data(), all.data(), record.size(), DataType::uint8).wait();
  if (!status.ok()) return status;
  std::vector<std::string> texts;
  for (const Record& r : all) texts.emplace_back(r.data());
  return texts;
}

}  // namespace strata::perf
