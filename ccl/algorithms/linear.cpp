// Every rank with the root, at once: no byte travels twice. A rank other than the root uses its own count
// only.
#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/writer.hpp"

namespace strata {

void linear_gather(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  Writer writer(program, request, tuning);
  const Operands data = operands(request, group.size(), group.me);
  if (group.me != request.root) return writer.send(group.at(request.root), data.in);
  const Parts parts(data.out, request.element_bytes(), group.size(), request.count, request.counts);
  for (int k = 1; k < group.size(); ++k) writer.recv(group.at(group.me + k), parts[group.wrap(group.me + k)]);
  writer.copy(data.in, parts[group.me]);
}

void linear_scatter(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  Writer writer(program, request, tuning);
  const Operands data = operands(request, group.size(), group.me);
  if (group.me != request.root) return writer.recv(group.at(request.root), data.out);
  const Parts parts(data.in, request.element_bytes(), group.size(), request.count, request.counts);
  for (int k = 1; k < group.size(); ++k) writer.send(group.at(group.me + k), parts[group.wrap(group.me + k)]);
  writer.copy(parts[group.me], data.out);
}

}  // namespace strata
