// Memory that several processes map: a file without a name, which the kernel frees with the last process that
// has it, however they die.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ccl/base/fd.hpp"
#include "ccl/shm/mapping.hpp"
#include "strata/status.hpp"

namespace strata::shm {

// Of zeros and of fixed size: sealed, so that nobody who has it can make others fault by truncating it. Pages
// take memory when they are first touched.
Expected<Fd> make_memory_file(std::size_t bytes);

// Readable and writable. offset: a multiple of the page size.
Expected<Mapping> map(const Fd& file, std::size_t offset, std::size_t bytes);

// Is it a sealed memory file of that size? To be asked of whatever another process passed, before it is
// mapped.
Status check_memory_file(const Fd& file, std::uint64_t bytes);

}  // namespace strata::shm
