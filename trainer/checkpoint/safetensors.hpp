// The safetensors file format: 8 bytes of length, a JSON table of tensors, then their bytes
// (https://github.com/huggingface/safetensors#format). Reads by mapping the file; writes atomically.
#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/status.hpp"

namespace strata::trainer {

struct StoredTensor {
  std::string name;
  std::string type;  // "F32", "F16", "BF16", "I32", ...
  std::vector<std::size_t> dimensions;
  std::span<const std::byte> bytes;  // little-endian, row-major; the file's or the caller's memory
  std::size_t count() const;
};
using Metadata = std::map<std::string, std::string>;

class SafetensorsFile final {
 public:
  // Errors: unavailable (cannot be read), invalid_argument (not a safetensors file, or a damaged one); they
  // name the file and what is wrong with it.
  static Expected<SafetensorsFile> open(const std::string& path);
  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) = delete;
  ~SafetensorsFile();

  const std::string& path() const { return path_; }
  const Metadata& metadata() const { return metadata_; }
  std::span<const StoredTensor> tensors() const { return tensors_; }
  const StoredTensor* find(std::string_view name) const;  // null if there is none

 private:
  SafetensorsFile(std::string path, std::span<const std::byte> mapped)
      : path_(std::move(path)), mapped_(mapped) {}
  Status parse();
  std::string path_;
  std::span<const std::byte> mapped_;
  Metadata metadata_;
  std::vector<StoredTensor> tensors_;
};

// Writes to a temporary file beside `path`, flushes it to the disk, and renames it: whoever opens `path` sees
// the old file or the new one, whole. Error: unavailable, naming the file and the cause; the old file stays.
Status write_safetensors(const std::string& path, std::span<const StoredTensor> tensors,
                         const Metadata& metadata);

}  // namespace strata::trainer
