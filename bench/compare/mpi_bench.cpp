// An MPI's collectives, measured; built once with each MPI.
//   mpirun -np 2 mpi_bench --collective all_reduce --sizes 8,1024
#include <mpi.h>

#include "bench/compare/measure.hpp"
#include "bench/compare/memory.hpp"

namespace strata::compare {
namespace {

class Mpi final {
 public:
  Mpi() {
    MPI_Comm_rank(world_, &rank_);
    MPI_Comm_size(world_, &size_);
  }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  void barrier() { MPI_Barrier(world_); }
  void slowest(std::span<double> numbers) {
    const int count = static_cast<int>(numbers.size());
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), count, MPI_DOUBLE, MPI_MAX, world_);
  }

  std::optional<Buffers> prepare(Collective collective, std::uint64_t bytes) {
    collective_ = collective;
    requests_.resize(static_cast<std::size_t>(messages_per_call(collective, bytes)));
    count_ = static_cast<int>(bytes / sizeof(float));
    part_ = count_ / size_;
    buffers_ = counts_of(collective, bytes, size_);
    in_.reset(), out_.reset();
    out_ = map_memory(buffers_.out_count, MAP_PRIVATE);
    in_ = collective == Collective::broadcast ? out_ : map_memory(buffers_.in_count, MAP_PRIVATE);
    buffers_.in = in_.get(), buffers_.out = out_.get();
    return buffers_;
  }

  void call(int root) {
    float *in = buffers_.in, *out = buffers_.out;
    switch (collective_) {
      case Collective::all_reduce: MPI_Allreduce(in, out, count_, MPI_FLOAT, MPI_SUM, world_); break;
      case Collective::all_gather: MPI_Allgather(in, part_, MPI_FLOAT, out, part_, MPI_FLOAT, world_); break;
      case Collective::reduce_scatter:
        MPI_Reduce_scatter_block(in, out, part_, MPI_FLOAT, MPI_SUM, world_);
        break;
      case Collective::broadcast: MPI_Bcast(out, count_, MPI_FLOAT, root, world_); break;
      case Collective::reduce: MPI_Reduce(in, out, count_, MPI_FLOAT, MPI_SUM, root, world_); break;
      case Collective::all_to_all: MPI_Alltoall(in, part_, MPI_FLOAT, out, part_, MPI_FLOAT, world_); break;
      case Collective::barrier: MPI_Barrier(world_); break;
      case Collective::ping_pong: ping_pong(); break;
      case Collective::send: send_at_once(); break;
    }
  }

 private:
  void send(const float* from, int count) { MPI_Send(from, count, MPI_FLOAT, 1 - rank_, 0, world_); }
  void receive(float* into, int count) {
    MPI_Recv(into, count, MPI_FLOAT, 1 - rank_, 0, world_, MPI_STATUS_IGNORE);
  }

  void ping_pong() {
    if (rank_ == 0) send(buffers_.in, count_);
    if (rank_ <= 1) receive(buffers_.out, count_);
    if (rank_ == 1) send(buffers_.out, count_);
  }

  // The receiver says when it has them all.
  void send_at_once() {
    if (rank_ > 1) return;
    for (MPI_Request& request : requests_)
      if (rank_ == 0)
        MPI_Isend(buffers_.in, count_, MPI_FLOAT, 1, 0, world_, &request);
      else
        MPI_Irecv(buffers_.out, count_, MPI_FLOAT, 0, 0, world_, &request);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    rank_ == 0 ? receive(buffers_.out, 1) : send(buffers_.out, 1);
  }

  int rank_ = 0, size_ = 1, count_ = 0, part_ = 0;
  Collective collective_ = Collective::barrier;
  const MPI_Comm world_ = MPI_COMM_WORLD;
  Memory in_, out_;
  Buffers buffers_;
  std::vector<MPI_Request> requests_;
};

}  // namespace
}  // namespace strata::compare

int main(int argc, char** argv) {
  using namespace strata::compare;
  MPI_Init(&argc, &argv);
  const Arguments arguments = parse_arguments(argc, argv, {});
  int status = 0;
  {
    Mpi mpi;
    status = measure_all(mpi, arguments, "");
  }
  MPI_Finalize();
  return status;
}
