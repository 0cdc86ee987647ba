#include "ccl/shm/memory_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "ccl/base/errno_status.hpp"

namespace strata::shm {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr unsigned kNoExecSeal =
    0x8;  // MFD_NOEXEC_SEAL, Linux 6.3; some systems insist on it, older ones refuse it

}  // namespace

Expected<Fd> make_memory_file(std::size_t bytes) {
  Fd file(::memfd_create("strata", MFD_CLOEXEC | MFD_ALLOW_SEALING | kNoExecSeal));
  if (!file.valid() && errno == EINVAL) file.reset(::memfd_create("strata", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid()) return errno_status("memfd_create", "shared memory between ranks");
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
    return errno_status("ftruncate", fmt::format("{} bytes of shared memory", bytes));
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0)
    return errno_status("fcntl(F_ADD_SEALS)", "shared memory");
  return file;
}

Expected<Mapping> map(const Fd& file, std::size_t offset, std::size_t bytes) {
  void* const at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), static_cast<off_t>(offset));
  if (at == MAP_FAILED) return errno_status("mmap", fmt::format("{} bytes of shared memory", bytes));
  return Mapping(at, bytes);
}

Status check_memory_file(const Fd& file, std::uint64_t bytes) {
  struct stat state {};
  if (::fstat(file.get(), &state) != 0) return errno_status("fstat", "a peer's shared memory");
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  if (seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && static_cast<std::uint64_t>(state.st_size) == bytes)
    return {};
  return {ErrorCode::internal,
          fmt::format("its shared memory is no sealed memory file of {} bytes (size {}, seals {:#x})", bytes,
                      state.st_size, seals)};
}

}  // namespace strata::shm
