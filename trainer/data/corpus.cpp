// Maps the text and cuts off what the model is judged on.
#include "trainer/data/corpus.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace strata::trainer {

Expected<MappedFile> MappedFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto refused = [&](int cause) {
    if (fd >= 0) ::close(fd);
    return Status(ErrorCode::unavailable,
                  fmt::format("cannot read the text {}: {}", path, std::strerror(cause)));
  };
  if (fd < 0) return refused(errno);
  struct stat info {};
  if (::fstat(fd, &info) != 0) return refused(errno);
  if (!S_ISREG(info.st_mode)) return refused(S_ISDIR(info.st_mode) ? EISDIR : EINVAL);
  MappedFile file;
  if (info.st_size > 0) {
    const auto bytes = static_cast<std::size_t>(info.st_size);
    void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED) return refused(errno);
    file.bytes_ = {static_cast<const std::uint8_t*>(memory), bytes};
  }
  ::close(fd);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}
MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

Expected<Corpus> Corpus::open(const CorpusOptions& options) {
  Corpus corpus;
  auto text = MappedFile::open(options.text);
  if (!text.ok()) return text.status();
  corpus.text_ = std::move(text).value();
  corpus.train_ = corpus.text_.bytes();
  if (options.validation_text.empty()) {
    const auto held =
        static_cast<std::size_t>(static_cast<double>(corpus.train_.size()) * options.validation_fraction);
    corpus.validation_ = corpus.train_.last(held);
    corpus.train_ = corpus.train_.first(corpus.train_.size() - held);
  } else {
    auto validation = MappedFile::open(options.validation_text);
    if (!validation.ok()) return validation.status();
    corpus.validation_text_ = std::move(validation).value();
    corpus.validation_ = corpus.validation_text_.bytes();
  }
  const auto too_short = [&](const char* part, const std::string& path, std::size_t has, std::size_t needs) {
    return Status(
        ErrorCode::invalid_argument,
        fmt::format("{}: the {} part has {} bytes; a sequence of {} needs at least {}: give more text or a "
                    "smaller model.sequence",
                    path, part, has, options.sequence, needs));
  };
  // Training windows shift by up to a sequence from epoch to epoch.
  if (corpus.train_.size() < 2 * options.sequence)
    return too_short("training", options.text, corpus.train_.size(), 2 * options.sequence);
  if (corpus.validation_.size() < options.sequence + 1)
    return too_short("validation", options.validation_text.empty() ? options.text : options.validation_text,
                     corpus.validation_.size(), options.sequence + 1);
  return corpus;
}

}  // namespace strata::trainer
