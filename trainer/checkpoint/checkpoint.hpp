// A model on disk: one safetensors file with Hugging Face's GPT-2 names, so that others can read it too.
#pragma once
#include <memory>
#include <string>

#include "strata/status.hpp"
#include "trainer/model/gpt.hpp"

namespace strata::trainer {

struct CheckpointInfo {
  std::int64_t step = 0;
  double validation_loss = 0;  // 0: not known
};

// Error: unavailable, as write_safetensors.
Status save_checkpoint(const std::string& path, Gpt& gpt, const CheckpointInfo& info);

struct LoadedModel {
  std::unique_ptr<Gpt> gpt;
  CheckpointInfo info;
};
// Takes the model's size from the tensors; the number of heads from the file's metadata or, if that is not
// ours, GPT-2's rule of 64 floats a head. sequences_max: as Gpt::create. Errors: unavailable,
// invalid_argument naming the file and the tensor that is missing, or of another size or type than it should
// be.
Expected<LoadedModel> load_checkpoint(const std::string& path, std::size_t sequences_max, Device& device);

}  // namespace strata::trainer
