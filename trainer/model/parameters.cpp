// Lays out the tensors of a GPT-2 in the order in which backward finishes them.
#include "trainer/model/parameters.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace strata::trainer {
namespace {

constexpr std::size_t kAlignFloats = 16;  // tensors begin on cache lines

// Dimensions in widths; columns 0: a vector.
struct BlockTensorShape {
  const char* name;
  std::size_t rows, columns;
};
constexpr BlockTensorShape kBlock[kBlockTensors] = {
    {"mlp.c_proj.weight", 4, 1},  {"mlp.c_proj.bias", 1, 0},  {"mlp.c_fc.weight", 1, 4},
    {"mlp.c_fc.bias", 4, 0},      {"ln_2.weight", 1, 0},      {"ln_2.bias", 1, 0},
    {"attn.c_proj.weight", 1, 1}, {"attn.c_proj.bias", 1, 0}, {"attn.c_attn.weight", 1, 3},
    {"attn.c_attn.bias", 3, 0},   {"ln_1.weight", 1, 0},      {"ln_1.bias", 1, 0},
};
constexpr std::size_t kTensorsBeforeBlocks = 2;

}  // namespace

ParameterTable::ParameterTable(const ModelShape& shape) : shape_(shape) {
  add("ln_f.weight", shape.layers, {shape.width});
  add("ln_f.bias", shape.layers, {shape.width});
  for (std::size_t layer = shape.layers; layer-- > 0;) {
    for (const BlockTensorShape& t : kBlock) {
      std::vector<std::size_t> dimensions{t.rows * shape.width};
      if (t.columns) dimensions.push_back(t.columns * shape.width);
      add("h." + std::to_string(layer) + "." + t.name, layer + 1, std::move(dimensions));
    }
  }
  add("wpe.weight", 0, {shape.sequence, shape.width});
  add("wte.weight", 0, {shape.vocabulary, shape.width});
}

void ParameterTable::add(std::string name, std::size_t layer, std::vector<std::size_t> dimensions) {
  const std::size_t count =
      std::accumulate(dimensions.begin(), dimensions.end(), std::size_t{1}, std::multiplies<std::size_t>());
  tensors_.push_back({std::move(name), std::move(dimensions), floats_, count, layer});
  floats_ = (floats_ + count + kAlignFloats - 1) / kAlignFloats * kAlignFloats;
}

std::size_t ParameterTable::parameters() const {
  std::size_t sum = 0;
  for (const Tensor& t : tensors_) sum += t.count;
  return sum;
}

const Tensor* ParameterTable::find(std::string_view name) const {
  for (const Tensor& t : tensors_)
    if (t.name == name) return &t;
  return nullptr;
}

std::span<const Tensor> ParameterTable::tensors_in(std::size_t begin, std::size_t end) const {
  const auto first = [&](std::size_t offset) {
    return std::lower_bound(tensors_.begin(), tensors_.end(), offset,
                            [](const Tensor& tensor, std::size_t value) { return tensor.offset < value; });
  };
  return {first(begin), first(end)};
}

const Tensor& ParameterTable::at(std::size_t layer, BlockTensor which) const {
  return tensors_[kTensorsBeforeBlocks + (shape_.layers - 1 - layer) * kBlockTensors +
                  static_cast<std::size_t>(which)];
}

const Tensor& ParameterTable::at(ModelTensor which) const {
  const auto index = static_cast<std::size_t>(which);
  return tensors_[index < kTensorsBeforeBlocks ? index : index + shape_.layers * kBlockTensors];
}

}  // namespace strata::trainer
