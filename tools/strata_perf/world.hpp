// The ranks that measure together, and what they tell each other between measurements.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "strata/communicator.hpp"

namespace strata::perf {

// Owned by the main thread. All functions but the constructor, rank() and size() are collective.
class World final {
 public:
  explicit World(Communicator communicator) : communicator_(std::move(communicator)) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Communicator& communicator() { return communicator_; }
  int rank() const { return communicator_.rank(); }
  int size() const { return communicator_.size(); }
  bool prints() const { return rank() == 0; }

  Status synchronize();
  // Every rank's numbers, in rank order; all give equally many.
  Expected<std::vector<double>> gather(std::span<const double> mine);
  // Every rank's text, cut to 127 bytes.
  Expected<std::vector<std::string>> gather(const std::string& mine);

 private:
  Communicator communicator_;
};

}  // namespace strata::perf
