// Writes safetensors files so that no reader ever sees half of one.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "trainer/checkpoint/safetensors.hpp"

namespace strata::trainer {
namespace {

std::string header_of(std::span<const StoredTensor> tensors, const Metadata& metadata) {
  nlohmann::ordered_json header;
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (const StoredTensor& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.type},
                           {"shape", tensor.dimensions},
                           {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors begin aligned
  return text;
}

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

bool write_file(int fd, std::span<const StoredTensor> tensors, const Metadata& metadata) {
  const std::string header = header_of(tensors, metadata);
  const std::uint64_t length = header.size();
  if (!write_all(fd, std::as_bytes(std::span(&length, 1)))) return false;
  if (!write_all(fd, std::as_bytes(std::span(header)))) return false;
  for (const StoredTensor& tensor : tensors)
    if (!write_all(fd, tensor.bytes)) return false;
  return ::fsync(fd) == 0;
}

// The rename itself must reach the disk too. A file system that cannot flush a directory has no such promise.
void flush_directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

Status write_safetensors(const std::string& path, std::span<const StoredTensor> tensors,
                         const Metadata& metadata) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  const auto failed = [&](const char* what) {
    const int cause = errno;
    ::unlink(temporary.c_str());
    return Status(ErrorCode::unavailable, fmt::format("{}: {}: {}", path, what, std::strerror(cause)));
  };
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return failed("cannot create the checkpoint");
  const bool written = write_file(fd, tensors, metadata);
  const int cause = errno;
  if (::close(fd) != 0 || !written) {
    if (!written) errno = cause;
    return failed("cannot write the checkpoint");
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return failed("cannot publish the checkpoint");
  flush_directory_of(path);
  return {};
}

}  // namespace strata::trainer
