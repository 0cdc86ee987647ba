// Broadcast and reduction along trees.
#include "ccl/algorithms/tree.hpp"

namespace strata {

Tree binomial_tree(const Group& group, int root) {
  const int me = group.wrap(group.me - root);  // distance from the root: the tree is the same for any root
  Tree tree;
  tree.root = me == 0;
  tree.parent = group.wrap(root + (me & (me - 1)));
  for (int bit = 1; me + bit < group.size() && (me & bit) == 0; bit *= 2)
    tree.children.push_back(group.wrap(group.me + bit));
  return tree;
}

Tree chain(const Group& group, int root) {
  const int me = group.wrap(group.me - root);
  Tree tree;
  tree.root = me == 0;
  tree.parent = group.wrap(group.me - 1);
  if (me + 1 < group.size()) tree.children.push_back(group.wrap(group.me + 1));
  return tree;
}

void tree_broadcast(Writer& writer, const Group& group, const Tree& tree, const Operands& data) {
  const Slice source = tree.root ? data.in : data.out;
  const std::vector<int> largest_first = tree.largest_first();
  Program& program = writer.program();
  for (int i = 0; i < writer.pieces(source.length); ++i) {
    const Slice piece = writer.piece(source, i);
    if (!tree.root) program.recv(group.at(tree.parent), piece, writer.channel(i));
    for (const int child : largest_first) program.send(group.at(child), piece, writer.channel(i));
  }
  if (tree.root) writer.copy(data.in, data.out);
}

void tree_reduce(Writer& writer, const Group& group, const Tree& tree, const Operands& data) {
  Program& program = writer.program();
  const bool passes_on = !tree.root && !tree.children.empty();
  Slots slots(program, passes_on ? writer.piece_bytes_max(data.in.length) : 0);
  for (int i = 0; i < writer.pieces(data.in.length); ++i) {
    Slice addend = writer.piece(data.in, i);
    const Slice sum = tree.root ? writer.piece(data.out, i) : passes_on ? slots.next(addend.length) : addend;
    for (const int child : tree.children) {
      program.recv_reduce(group.at(child), addend, sum, writer.channel(i));
      addend = sum;
    }
    if (!tree.root) program.send(group.at(tree.parent), addend, writer.channel(i));
    if (tree.root && tree.children.empty()) program.copy(addend, sum);
    if (tree.root && writer.finishes()) program.finish(sum);
  }
}

}  // namespace strata
