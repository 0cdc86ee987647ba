#include "ccl/transport/shm/shm_pipe.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

namespace strata::shm {
namespace {

bool has_ended(int process) {
  pollfd waited{process, POLLIN, 0};
  return process >= 0 && ::poll(&waited, 1, 0) == 1;
}

}  // namespace

ShmPipe::ShmPipe(Neighbour neighbour, RingMemory inbound) : neighbour_(std::move(neighbour)) {
  writer_ = RingWriter(neighbour_.ring.ring(), bell());
  reader_ = RingReader(inbound, bell());
}

// A child that this process forked may keep the socket open; the peer hears of our end all the same.
ShmPipe::~ShmPipe() { ::shutdown(neighbour_.socket.get(), SHUT_RDWR); }

std::size_t ShmPipe::write(std::span<const iovec> parts) {
  if (!status_.ok()) return 0;
  const std::size_t written = writer_.write(parts);
  check_indices();
  return written;
}

std::span<const std::byte> ShmPipe::peek() {
  const std::span<const std::byte> run = reader_.peek();
  check_indices();
  return run;
}

std::size_t ShmPipe::read(std::span<std::byte> into) {
  const std::size_t bytes = reader_.read(into);
  check_indices();
  return bytes;
}

bool ShmPipe::has_news() {
  unreported_ = writer_.relieved() || unreported_;
  const bool readable = reader_.readable();
  check_indices();
  return readable || unreported_;
}

void ShmPipe::peer_is_gone() {
  fail(ErrorCode::peer_lost,
       has_ended(neighbour_.process.get()) ? "its process has ended" : "it closed the connection");
}

void ShmPipe::check_indices() {
  if (reader_.corrupt() || writer_.corrupt())
    fail(ErrorCode::internal, "the indices of its ring make no sense");
}

void ShmPipe::fail(ErrorCode code, std::string_view what) {
  if (!status_.ok()) return;
  status_ = Status(code, fmt::format("shared memory with rank {}: {}", neighbour_.peer, what));
  unreported_ = true;
}

}  // namespace strata::shm
