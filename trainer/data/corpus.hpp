// The text a model is trained and judged on, one token a byte, mapped from files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "strata/status.hpp"

namespace strata::trainer {

using Tokens = std::span<const std::uint8_t>;

// A file in memory as long as the object lives.
class MappedFile final {
 public:
  // Error: unavailable, naming the path and the cause.
  static Expected<MappedFile> open(const std::string& path);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  Tokens bytes() const { return bytes_; }

 private:
  Tokens bytes_;
};

struct CorpusOptions {
  std::string text;                   // trained on
  std::string validation_text;        // judged on; empty: the end of `text`
  double validation_fraction = 0.05;  // of `text`, if there is no validation_text
  std::size_t sequence = 0;           // both parts must hold one more token than this
};

class Corpus final {
 public:
  // Errors: unavailable (a file cannot be read), invalid_argument (too short); they name the file.
  static Expected<Corpus> open(const CorpusOptions& options);
  Tokens train() const { return train_; }
  Tokens validation() const { return validation_; }

 private:
  MappedFile text_, validation_text_;
  Tokens train_, validation_;
};

}  // namespace strata::trainer
