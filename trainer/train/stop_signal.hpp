// SIGINT and SIGTERM as a wish to stop after the current step.
#pragma once

namespace strata::trainer {

// From now on the first SIGINT or SIGTERM only sets a flag; a second one ends the process as usual.
void catch_stop_signals();
int stop_signal();  // 0, or the signal that came

}  // namespace strata::trainer
