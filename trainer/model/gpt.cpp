// The model's passes: embedding, blocks, final norm, tied head and loss.
#include "trainer/model/gpt.hpp"

#include <algorithm>

#include "strata/trace.hpp"
#include "trainer/base/check.hpp"

namespace strata::trainer {

using enum ModelTensor;

namespace {

// In the timeline; waiting for weights is not part of it.
template <class Work>
void traced(std::string_view name, std::size_t layer, Work&& work) {
  const TraceSpan span(name, static_cast<int>(layer));
  work();
}

}  // namespace

Gpt::Gpt(const ModelShape& shape, std::size_t sequences_max, Device& device)
    : device_(device), table_(shape), rows_max_(sequences_max * shape.sequence) {}

Expected<std::unique_ptr<Gpt>> Gpt::create(const ModelShape& shape, std::size_t sequences_max,
                                           Device& device) {
  std::unique_ptr<Gpt> gpt(new Gpt(shape, sequences_max, device));
  if (const Status status = gpt->allocate(); !status.ok()) return status;
  return gpt;
}

Status Gpt::allocate() {
  const auto take = [&](DeviceFloats& into, std::size_t count) {
    auto memory = device_.allocate(count);
    if (memory.ok()) into = std::move(memory).value();
    return memory.status();
  };
  const std::size_t activations = lay_out(table_.shape(), rows_max_, nullptr, kept_);
  if (Status s = take(weights_, table_.floats()); !s.ok()) return s;
  if (Status s = take(grads_, table_.floats()); !s.ok()) return s;
  if (Status s = take(memory_, activations); !s.ok()) return s;
  lay_out(table_.shape(), rows_max_, memory_.get(), kept_);
  for (std::size_t layer = 0; layer < table_.shape().layers; ++layer) {
    block_weights_.push_back(block_tensors(table_, layer, weights_.get()));
    block_grads_.push_back(block_tensors(table_, layer, grads_.get()));
  }
  return {};
}

BlockPass Gpt::pass_of(const Batch& batch) const {
  const ModelShape& shape = table_.shape();
  STRATA_TRAINER_CHECK(batch.sequence <= shape.sequence && batch.rows() <= rows_max_);
  return {device_, shape.width, {batch.sequences, batch.sequence, shape.heads, shape.head_width()}};
}

const float* Gpt::forward_blocks(const Batch& batch, PassListener* listener) {
  const auto needs = [&](const Tensor& first) {
    if (listener) listener->weights_needed(first.offset);
  };
  const BlockPass pass = pass_of(batch);
  needs(table_.at(positions));
  device_.embed(batch.rows(), table_.shape().width, batch.sequence, batch.tokens, weight(tokens),
                weight(positions), kept_.embedded);
  const float* residual = kept_.embedded;
  for (std::size_t layer = 0; layer < kept_.blocks.size(); ++layer) {
    needs(table_.at(layer, BlockTensor::projection_weight));
    traced("forward attention", layer,
           [&] { forward_attention(pass, block_weights_[layer], residual, kept_.blocks[layer]); });
    needs(table_.at(layer, BlockTensor::down_weight));
    traced("forward mlp", layer, [&] { forward_mlp(pass, block_weights_[layer], kept_.blocks[layer]); });
    residual = kept_.blocks[layer].out;
  }
  needs(table_.at(final_norm_weight));
  return residual;
}

void Gpt::final_norm(const Batch& batch, const float* residual) {
  device_.layer_norm(batch.rows(), table_.shape().width, residual, weight(final_norm_weight),
                     weight(final_norm_bias), {kept_.final_mean, kept_.final_rstd}, kept_.final_norm);
}

// A few rows at a time, so that the logits of a large vocabulary need not all exist. Going back, they turn
// into their own gradient, and that into the final norm's (in backward.narrow) and the embedding's.
double Gpt::head(const Batch& batch, float grad_scale) {
  const TraceSpan span("head");
  const auto width = static_cast<std::int64_t>(table_.shape().width);
  const auto vocabulary = static_cast<std::int64_t>(table_.shape().vocabulary);
  double sum = 0;
  for (std::size_t begin = 0; begin < batch.rows(); begin += kept_.logit_rows) {
    const std::size_t count = std::min(kept_.logit_rows, batch.rows() - begin);
    const auto rows = static_cast<std::int64_t>(count);
    const float* in = kept_.final_norm + begin * table_.shape().width;
    device_.multiply({false, true, false, rows, vocabulary, width}, in, weight(tokens), kept_.logits);
    sum += device_.cross_entropy(count, table_.shape().vocabulary, batch.targets + begin, grad_scale,
                                 kept_.logits, kept_.losses);
    if (grad_scale == 0) continue;
    device_.multiply({true, false, true, vocabulary, width, rows}, kept_.logits, in, grad(tokens));
    device_.multiply({false, false, false, rows, width, vocabulary}, kept_.logits, weight(tokens),
                     kept_.backward.narrow + begin * table_.shape().width);
  }
  return sum;
}

double Gpt::forward_backward(const Batch& batch, float grad_scale, PassListener* listener) {
  const auto ready = [&](const Tensor& last) {
    if (listener) listener->gradients_ready(last.offset + last.count);
  };
  const BlockPass pass = pass_of(batch);
  const std::size_t width = table_.shape().width;
  const float* last = forward_blocks(batch, listener);
  final_norm(batch, last);
  const double sum = head(batch, grad_scale);
  device_.zero(batch.rows() * width, kept_.backward.residual);
  device_.layer_norm_backward(batch.rows(), width, last, weight(final_norm_weight),
                              {kept_.final_mean, kept_.final_rstd}, kept_.backward.narrow,
                              kept_.backward.residual, grad(final_norm_weight), grad(final_norm_bias));
  ready(table_.at(final_norm_bias));
  for (std::size_t layer = kept_.blocks.size(); layer-- > 0;) {
    const float* in = layer ? kept_.blocks[layer - 1].out : kept_.embedded;
    traced("backward mlp", layer, [&] {
      backward_mlp(pass, block_weights_[layer], block_grads_[layer], kept_.blocks[layer], kept_.backward);
    });
    ready(table_.at(layer, BlockTensor::norm_2_bias));
    traced("backward attention", layer, [&] {
      backward_attention(pass, block_weights_[layer], block_grads_[layer], in, kept_.blocks[layer],
                         kept_.backward);
    });
    ready(table_.at(layer, BlockTensor::norm_1_bias));
  }
  device_.embed_backward(batch.rows(), width, batch.sequence, batch.tokens, kept_.backward.residual,
                         grad(tokens), grad(positions));
  ready(table_.at(tokens));
  return sum;
}

double Gpt::loss(const Batch& batch) {
  final_norm(batch, forward_blocks(batch, nullptr));
  return head(batch, 0);
}

const float* Gpt::next_logits(const std::int32_t* given, std::size_t count) {
  const Batch batch{given, nullptr, 1, count};
  const auto width = static_cast<std::int64_t>(table_.shape().width);
  final_norm(batch, forward_blocks(batch, nullptr));
  const float* last = kept_.final_norm + (count - 1) * table_.shape().width;
  device_.multiply({false, true, false, 1, static_cast<std::int64_t>(table_.shape().vocabulary), width}, last,
                   weight(tokens), kept_.logits);
  device_.synchronize();
  return kept_.logits;
}

}  // namespace strata::trainer
