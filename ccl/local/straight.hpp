// Which bytes of whose buffers a member works on where the buffers themselves are in reach. Pure, as
// moves.hpp is: the group executes it, a test runs it on symbols for all members at once.
//
// No part of a call waits for another: nobody reads what another writes. Reductions are shared out for this,
// never `whole`.
#pragma once
#include <cstdint>
#include <vector>

#include "ccl/local/moves.hpp"

namespace strata {

// An all-to-all in place writes what others have yet to read: it cannot be done so.
bool can_be_straight(Collective collective, bool in_place);

// Whose input others read, and whose output they write.
bool lends_input(const Shape& shape, int member);
bool lends_output(const Shape& shape, int member);
// Does this member use what another lends? Who does not may not even look for it: it may be gone again.
bool borrows(const Shape& shape, int member);
// Whom this member must hear of before its buffers are its caller's again.
Sources borrowers(const Shape& shape);

// Of a peer's input to my output. The peer may be this member.
struct Fetch {
  int peer;
  std::uint64_t from, length, output;
};
// Replaces `fetches`; each member begins with another peer.
void list_fetches(const Shape& shape, std::vector<Fetch>& fetches);

// What this member reduces: the same place of all inputs, to one place in the outputs of those who want it.
struct Share {
  std::uint64_t input = 0, length = 0, output = 0;
};
Share share_of(const Shape& shape);
bool wants_share(const Shape& shape, int member);

// When members read each other's memory rather than use slots. That is one copy instead of two, but it is the
// system that makes it, and within the caches it does so at a third of the speed. So it pays where every byte
// has one reader (what many read goes into a slot once), all copy at the same time (a root alone is outrun by
// a chain of two), and pieces are large: from so many bytes on it was faster, with cores near each other or
// far. It was not for reductions, which go on in the cache with what they find in a slot.
using ReadingRule = bool (*)(const Shape& shape);
bool reading_pays(const Shape& shape);
// The same where ranks outnumber cores: who shares a core shares its caches too.
bool reading_pays_on_shared_cores(const Shape& shape);

// When members first tell each other where their buffers are: a round that pays if all are mapped. Where
// ranks share cores a round takes a turn of each of them, and what is copied through slots stays in the
// caches.
bool telling_pays(const Shape& shape);
bool telling_pays_on_shared_cores(const Shape& shape);

}  // namespace strata
