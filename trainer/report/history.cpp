// Merges neighbours when the history is full.
#include "trainer/report/history.hpp"

namespace strata::trainer {

void LossHistory::add(double step, double loss) {
  ++added_;
  if (!points_.empty() && in_last_ < merged_) {
    CurvePoint& last = points_.back();
    last.loss += (loss - last.loss) / static_cast<double>(++in_last_);
    last.step = step;
    return;
  }
  if (points_.size() == kPointsMax) {
    for (std::size_t i = 0; i < kPointsMax / 2; ++i)
      points_[i] = {points_[2 * i + 1].step, (points_[2 * i].loss + points_[2 * i + 1].loss) / 2};
    points_.resize(kPointsMax / 2);
    merged_ *= 2;
  }
  points_.push_back({step, loss});
  in_last_ = 1;
}

}  // namespace strata::trainer
