// SIGINT and SIGTERM as a wish to stop after the current step.
#pragma once

namespace strata::trainer {

// Before all other threads of the process, which inherit that they do not take these signals. They end the
// process as usual.
void watch_stop_signals();
// From now on one only sets a flag. Another one a second later or more ends the process as usual; an earlier
// one is taken for the same wish, since a terminal and a launcher both pass it on.
void catch_stop_signals();
int stop_signal();  // 0, or the signal that came

}  // namespace strata::trainer
