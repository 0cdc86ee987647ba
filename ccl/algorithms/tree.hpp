// Trees of ranks, and how data goes down or sums go up along them, piece after piece.
#pragma once
#include <vector>

#include "ccl/algorithms/writer.hpp"

namespace strata {

// What one member of the group sees of a tree; indices in the group.
struct Tree {
  bool root = false;
  int parent = 0;             // unless root
  std::vector<int> children;  // those with the smallest subtrees first: in this order sums arrive
  std::vector<int> largest_first() const { return {children.rbegin(), children.rend()}; }  // data goes out
};
Tree binomial_tree(const Group& group, int root);
Tree chain(const Group& group, int root);

// data.in at the root to data.out of all.
void tree_broadcast(Writer& writer, const Group& group, const Tree& tree, const Operands& data);
// The finished sum of all data.in to data.out at the root. Partial sums live in a few pieces of scratch.
void tree_reduce(Writer& writer, const Group& group, const Tree& tree, const Operands& data);

}  // namespace strata
