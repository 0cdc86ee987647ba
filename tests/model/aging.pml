/* Sending to one peer: the most urgent message first, but after STREAK that passed an older one the oldest
 * (ccl/transport/stream/sender.hpp). Urgent messages come without end, as fast as they go; a message that is not
 * urgent is sent all the same.
 *
 * -DSTRICT leaves the rule out, and lets it starve.
 */
#define STREAK 3

bool low_waits, low_sent;
byte urgent;    /* waiting, at most two */
byte passed;    /* since the oldest was passed first */

active proctype Urgent() {
  do
  :: urgent < 2 -> urgent++
  od
}

active proctype Low() { low_waits = true }

active proctype Sender() {
  do
#ifndef STRICT
  :: atomic { low_waits && (urgent == 0 || passed == STREAK) -> low_waits = false; low_sent = true; passed = 0 }
  :: atomic { urgent > 0 && (!low_waits || passed < STREAK) -> urgent--; passed = (low_waits -> passed + 1 : 0) }
#else
  :: atomic { low_waits && urgent == 0 -> low_waits = false; low_sent = true }
  :: atomic { urgent > 0 -> urgent-- }
#endif
  od
}

ltl sent { [] (low_waits -> <> low_sent) }
