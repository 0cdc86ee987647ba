// The losses of a run of any length in bounded memory.
#pragma once
#include <cstddef>
#include <vector>

#include "trainer/report/curve.hpp"

namespace strata::trainer {

// Keeps every point until there are too many; then neighbours are merged, again and again. A merged point has
// the mean loss and the last step of its points; so the newest step is always there.
class LossHistory final {
 public:
  static constexpr std::size_t kPointsMax = 4096;
  void add(double step, double loss);
  const std::vector<CurvePoint>& points() const { return points_; }
  std::size_t added() const { return added_; }

 private:
  std::vector<CurvePoint> points_;
  std::size_t added_ = 0;
  std::size_t merged_ = 1;   // points that went into each but perhaps the last
  std::size_t in_last_ = 1;  // points that went into the last
};

}  // namespace strata::trainer
