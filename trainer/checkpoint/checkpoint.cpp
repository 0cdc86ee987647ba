// Saves and loads the weights of a model.
#include "trainer/checkpoint/checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstring>
#include <optional>

#include "trainer/checkpoint/safetensors.hpp"

namespace strata::trainer {
namespace {

constexpr const char *kHeads = "strata.heads", *kStep = "strata.step", *kLoss = "strata.validation_loss";
constexpr std::size_t kGpt2HeadWidth = 64;

Status wrong(const SafetensorsFile& file, const std::string& what) {
  return {ErrorCode::invalid_argument, fmt::format("{}: {}", file.path(), what)};
}

template <class T>
std::optional<T> number_in(const Metadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) return std::nullopt;
  T value{};
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Files saved from GPT2LMHeadModel have a prefix that those of GPT2Model lack.
const StoredTensor* find_tensor(const SafetensorsFile& file, const std::string& name) {
  const StoredTensor* tensor = file.find(name);
  return tensor ? tensor : file.find("transformer." + name);
}

Expected<ModelShape> shape_of(const SafetensorsFile& file) {
  const StoredTensor *tokens = find_tensor(file, "wte.weight"), *positions = find_tensor(file, "wpe.weight");
  if (!tokens || !positions || tokens->dimensions.size() != 2 || positions->dimensions.size() != 2)
    return wrong(file, "holds no GPT-2: it has no matrices wte.weight and wpe.weight");
  ModelShape shape;
  shape.vocabulary = tokens->dimensions[0];
  shape.width = tokens->dimensions[1];
  shape.sequence = positions->dimensions[0];
  for (shape.layers = 0; find_tensor(file, fmt::format("h.{}.ln_1.weight", shape.layers));) ++shape.layers;
  const auto heads = number_in<std::size_t>(file.metadata(), kHeads);
  shape.heads = heads.value_or(std::max<std::size_t>(1, shape.width / kGpt2HeadWidth));
  if (shape.layers == 0 || shape.width == 0 || shape.sequence == 0 || shape.vocabulary == 0 ||
      shape.heads == 0 || shape.width % shape.heads != 0)
    return wrong(file,
                 fmt::format("holds no usable GPT-2: {} layers, {} heads, width {}, {} positions, {} tokens",
                             shape.layers, shape.heads, shape.width, shape.sequence, shape.vocabulary));
  return shape;
}

Status load_tensor(const SafetensorsFile& file, const Tensor& tensor, float* weights) {
  const StoredTensor* stored = find_tensor(file, tensor.name);
  if (!stored) return wrong(file, fmt::format("tensor '{}' is missing", tensor.name));
  if (stored->type != "F32")
    return wrong(file,
                 fmt::format("tensor '{}' is of type {}; only F32 can be read", tensor.name, stored->type));
  if (stored->dimensions != tensor.dimensions)
    return wrong(file, fmt::format("tensor '{}' is [{}]; it should be [{}]", tensor.name,
                                   fmt::join(stored->dimensions, ", "), fmt::join(tensor.dimensions, ", ")));
  std::memcpy(weights + tensor.offset, stored->bytes.data(), stored->bytes.size());
  return {};
}

}  // namespace

Status save_checkpoint(const std::string& path, Gpt& gpt, const CheckpointInfo& info) {
  std::vector<StoredTensor> tensors;
  for (const Tensor& tensor : gpt.table().tensors())
    tensors.push_back({tensor.name, "F32", tensor.dimensions,
                       std::as_bytes(std::span(gpt.weights() + tensor.offset, tensor.count))});
  const Metadata metadata{{"format", "pt"},  // what transformers looks for
                          {kHeads, fmt::format("{}", gpt.table().shape().heads)},
                          {kStep, fmt::format("{}", info.step)},
                          {kLoss, fmt::format("{}", info.validation_loss)}};
  return write_safetensors(path, tensors, metadata);
}

Expected<LoadedModel> load_checkpoint(const std::string& path, std::size_t sequences_max, Device& device) {
  auto file = SafetensorsFile::open(path);
  if (!file.ok()) return file.status();
  const auto shape = shape_of(*file);
  if (!shape.ok()) return shape.status();
  auto gpt = Gpt::create(*shape, sequences_max, device);
  if (!gpt.ok()) return gpt.status();
  for (const Tensor& tensor : (*gpt)->table().tensors())
    if (Status status = load_tensor(*file, tensor, (*gpt)->weights()); !status.ok()) return status;
  LoadedModel model{std::move(gpt).value(), {}};
  model.info.step = number_in<std::int64_t>(file->metadata(), kStep).value_or(0);
  model.info.validation_loss = number_in<double>(file->metadata(), kLoss).value_or(0);
  return model;
}

}  // namespace strata::trainer
