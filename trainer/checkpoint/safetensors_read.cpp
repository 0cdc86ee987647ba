// Reads safetensors files, and believes nothing in them before it has been checked.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "trainer/checkpoint/safetensors.hpp"

namespace strata::trainer {
namespace {

using nlohmann::json;
constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kHeaderBytesMax = 100'000'000;  // the format's own limit

std::size_t element_bytes(std::string_view type) {
  if (type == "F64" || type == "I64" || type == "U64") return 8;
  if (type == "F32" || type == "I32" || type == "U32") return 4;
  if (type == "F16" || type == "BF16" || type == "I16" || type == "U16") return 2;
  if (type == "I8" || type == "U8" || type == "BOOL" || type == "F8_E4M3" || type == "F8_E5M2") return 1;
  return 0;
}

Status damaged(const std::string& path, std::string_view why) {
  return {ErrorCode::invalid_argument,
          fmt::format("{}: not a safetensors file, or a damaged one: {}", path, why)};
}

// The element count, or none if it overflows or is no list of counts.
std::optional<std::size_t> read_dimensions(const json& list, std::vector<std::size_t>& dimensions) {
  std::size_t count = 1;
  for (const json& d : list) {
    if (!d.is_number_unsigned()) return std::nullopt;
    dimensions.push_back(d.get<std::size_t>());
    if (__builtin_mul_overflow(count, dimensions.back(), &count)) return std::nullopt;
  }
  return count;
}

// Null if the entry describes bytes that are really there; else what is wrong with it.
const char* read_entry(const json& entry, std::span<const std::byte> data, StoredTensor& tensor) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
      !entry.contains("data_offsets"))
    return "has no dtype, shape or data_offsets";
  const json &type = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
  if (!type.is_string() || element_bytes(type.get_ref<const std::string&>()) == 0)
    return "has an unknown dtype";
  tensor.type = type.get<std::string>();
  if (!shape.is_array()) return "has a shape that is no list";
  const auto count = read_dimensions(shape, tensor.dimensions);
  std::size_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, element_bytes(tensor.type), &bytes))
    return "has an impossible shape";
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    return "has data_offsets that are not two numbers";
  const auto begin = offsets[0].get<std::size_t>(), end = offsets[1].get<std::size_t>();
  if (begin > end || end > data.size()) return "lies beyond the end of the file (truncated?)";
  if (end - begin != bytes) return "has as many bytes as its shape and dtype do not";
  tensor.bytes = data.subspan(begin, bytes);
  return nullptr;
}

}  // namespace

std::size_t StoredTensor::count() const {
  const std::size_t each = element_bytes(type);
  return each ? bytes.size() / each : 0;
}

Expected<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  const auto refused = [&](const char* what) {
    return Status(ErrorCode::unavailable, fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
  };
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return refused("cannot open the checkpoint");
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return damaged(path, "it is no regular file");
  }
  const auto bytes = static_cast<std::size_t>(info.st_size);
  if (bytes < kLengthBytes) {
    ::close(fd);
    return damaged(path, fmt::format("it has {} bytes", bytes));
  }
  void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  ::close(fd);
  if (memory == MAP_FAILED) return refused("cannot map the checkpoint");
  SafetensorsFile file(path, {static_cast<const std::byte*>(memory), bytes});
  if (Status status = file.parse(); !status.ok()) return status;
  return file;
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept
    : path_(std::move(other.path_)),
      mapped_(std::exchange(other.mapped_, {})),
      metadata_(std::move(other.metadata_)),
      tensors_(std::move(other.tensors_)) {}

SafetensorsFile::~SafetensorsFile() {
  if (!mapped_.empty()) ::munmap(const_cast<std::byte*>(mapped_.data()), mapped_.size());
}

Status SafetensorsFile::parse() {
  std::uint64_t length = 0;
  std::memcpy(&length, mapped_.data(), kLengthBytes);
  if (length > kHeaderBytesMax || length > mapped_.size() - kLengthBytes)
    return damaged(path_, fmt::format("its header claims {} bytes of {}", length, mapped_.size()));
  const auto* text = reinterpret_cast<const char*>(mapped_.data()) + kLengthBytes;
  const json header = json::parse(text, text + length, nullptr, false);
  if (!header.is_object()) return damaged(path_, "its header is no JSON object");
  const auto data = mapped_.subspan(kLengthBytes + length);
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      if (!entry.is_object()) return damaged(path_, "__metadata__ is no JSON object");
      for (const auto& [key, value] : entry.items())
        if (value.is_string()) metadata_[key] = value.get<std::string>();
      continue;
    }
    StoredTensor tensor;
    tensor.name = name;
    if (const char* wrong = read_entry(entry, data, tensor))
      return damaged(path_, fmt::format("tensor '{}' {}", name, wrong));
    tensors_.push_back(std::move(tensor));
  }
  return {};
}

const StoredTensor* SafetensorsFile::find(std::string_view name) const {
  for (const StoredTensor& tensor : tensors_)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

}  // namespace strata::trainer
