// What is printed before a run and after it.
#pragma once
#include "trainer/report/history.hpp"
#include "trainer/train/session.hpp"

namespace strata::trainer {

struct History {
  LossHistory train, validation;
  double first_validation = 0, last_validation = 0;
  double seconds = 0;  // of the steps
};

void print_header(const Session& session);
// The curve; first, last and reference loss; a sample of text.
void print_summary(Session& session, const History& history);

}  // namespace strata::trainer
