// A chain of ranks through which pieces flow: least time for much data, from one to all or all to one.
#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/tree.hpp"

namespace strata {

void chain_broadcast(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  Writer writer(program, request, tuning);
  tree_broadcast(writer, group, chain(group, request.root), operands(request, group.size(), group.me));
}

void chain_reduce(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  Writer writer(program, request, tuning);
  tree_reduce(writer, group, chain(group, request.root), operands(request, group.size(), group.me));
}

}  // namespace strata
