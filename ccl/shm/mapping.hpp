// Owns a mapping of memory.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <utility>

namespace strata::shm {

class Mapping final {
 public:
  Mapping() = default;
  Mapping(void* address, std::size_t bytes) : address_(static_cast<std::byte*>(address)), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() {
    if (address_ != nullptr) ::munmap(address_, bytes_);
  }
  std::byte* get() const { return address_; }

 private:
  std::byte* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace strata::shm
