#include "ccl/trace/recorder.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "ccl/base/errno_status.hpp"
#include "ccl/base/fd.hpp"

namespace strata::trace {
namespace {

std::uint64_t since_1970_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Those that there ever were: they stay, and are not lost.
void keep(Recorder* recorder) {
  static std::mutex mutex;
  static auto* const all = new std::vector<Recorder*>;
  const std::lock_guard lock(mutex);
  all->push_back(recorder);
}

void copy_text(const std::string& text, std::span<char> into) {
  std::copy_n(text.begin(), std::min(text.size(), into.size() - 1), into.begin());
}

}  // namespace

thread_local constinit Recorder::Thread Recorder::thread_;

Expected<Recorder*> Recorder::open(const std::string& path, const Identity& identity, std::uint64_t bytes) {
  bytes = std::max<std::uint64_t>(bytes, 2 * kHeaderBytes);
  const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return errno_status("open", path);
  // All of its room is taken now: a full disk must not be found by a store to memory.
  if (const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)); error != 0) {
    ::unlink(path.c_str());
    errno = error;
    return errno_status("posix_fallocate", path);
  }
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) {
    const Status why = errno_status("mmap", path);
    ::unlink(path.c_str());
    return why;
  }
  // Else the first store to each page would have to wait for it. A system that cannot does without.
  ::madvise(memory, bytes, MADV_POPULATE_WRITE);
  auto* const recorder = new Recorder(path, memory, bytes);
  keep(recorder);
  PartHeader& header = *recorder->header_;
  header.rank = identity.rank;
  header.size = identity.size;
  header.pid = static_cast<int>(::getpid());
  copy_text(identity.host, header.host);
  header.created_ns = since_1970_ns();
  header.begun = header.latest = read_anchor();
  header.records_max = recorder->records_max_;
  header.magic = kMagic;
  return recorder;
}

Recorder::Recorder(std::string path, void* memory, std::uint64_t bytes)
    : path_(std::move(path)),
      header_(new (memory) PartHeader),
      records_(reinterpret_cast<Record*>(static_cast<std::byte*>(memory) + kHeaderBytes)),
      bytes_(bytes),
      records_max_((bytes - kHeaderBytes) / sizeof(Record)) {}

void Recorder::introduce_thread() {
  const std::uint32_t index = threads_.fetch_add(1, std::memory_order_relaxed);
  thread_ = {this, static_cast<std::uint16_t>(std::min(index, 0xffffu))};
  if (index >= kThreadsNamedMax) return;
  ThreadName name{};
  ::pthread_getname_np(::pthread_self(), reinterpret_cast<char*>(name.data()), sizeof name);
  for (std::size_t i = 0; i < name.size(); ++i)
    std::atomic_ref(header_->threads[index][i]).store(name[i], std::memory_order_relaxed);
}

void Recorder::drop_anchor() {
  const Anchor anchor = read_anchor();
  std::atomic_ref(header_->latest.ticks).store(anchor.ticks, std::memory_order_relaxed);
  std::atomic_ref(header_->latest.ns).store(anchor.ns, std::memory_order_relaxed);
}

Part Recorder::snapshot() {
  drop_anchor();
  Part part;
  PartHeader& h = part.header;
  h.magic = header_->magic;
  h.rank = header_->rank, h.size = header_->size, h.pid = header_->pid;
  h.host = header_->host;
  h.created_ns = header_->created_ns;
  h.begun = header_->begun;
  h.latest = {std::atomic_ref(header_->latest.ticks).load(std::memory_order_relaxed),
              std::atomic_ref(header_->latest.ns).load(std::memory_order_relaxed)};
  h.first = header_->first, h.last = header_->last;
  h.records_max = records_max_;
  h.next = std::atomic_ref(header_->next).load(std::memory_order_relaxed);
  for (std::size_t t = 0; t < h.threads.size(); ++t)
    for (std::size_t i = 0; i < h.threads[t].size(); ++i)
      h.threads[t][i] = std::atomic_ref(header_->threads[t][i]).load(std::memory_order_relaxed);
  const std::uint64_t claimed = std::min(h.next, records_max_);
  part.records.reserve(claimed);
  for (std::uint64_t i = 0; i < claimed; ++i)
    if (std::atomic_ref(records_[i].kind).load(std::memory_order_acquire) != Kind::none)
      part.records.push_back(records_[i]);
  to_nanoseconds(part);
  return part;
}

void Recorder::close(bool keep) {
  if (!keep) ::unlink(path_.c_str());
  // Late records go into memory that nobody reads.
  ::mmap(header_, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
         0);
}

}  // namespace strata::trace
