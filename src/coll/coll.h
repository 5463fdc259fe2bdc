// SPDX-License-Identifier: Apache-2.0
// Collective operations among the processes of one node, by shared memory: the facade of this layer. Nothing of MPI is
// in it; docs/explanation/collectives.md says how it works.
//
// The ranks of a group call the same operations in the same order, with the same sizes, roots and reductions. Several
// threads may be in operations of different groups, never of one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::coll {

// How the ranks communicate before they share memory. In allgather() each rank gives `bytes` at `mine`, and gets those
// of all ranks, in their order, at `all`. It returns false, on all ranks, where it has failed.
struct Bootstrap {
  int rank;
  int size;  // 2 or more
  bool (*allgather)(void* context, const void* mine, void* all, size_t bytes);
  void* context;
};

struct Settings {
  size_t queue_bytes = 0;     // the size of each rank's queue (the paper's b); 0: chosen by the number of ranks
  size_t fragment_bytes = 0;  // the size of one of its buffers (the paper's f); 0: chosen by the model
  bool single_copy = true;  // whether ranks may read each other's memory (process_vm_readv), where the kernel lets them
  // How many ranks the whole job has on this node; 0: not known. Where they are more than the CPUs, a rank that waits
  // gives way at once.
  int job_ranks = 0;
  // From so many ranks on short operations go by trees; 0: that follows from the number of ranks and their CPUs.
  int trees_from = 0;
  // Called now and then by a rank that waits: it moves the messages that other ranks wait for. May be null.
  void (*progress)() = nullptr;
  // Called where a rank has died while the caller waits for it. Does not return.
  void (*died)(int rank) = nullptr;
};

// The collective operations.
enum class Operation : uint8_t { barrier, bcast, reduce, allreduce, allgather, alltoall };
inline constexpr int kOperations = 6;

// How elements are combined: inout[i] = in[i] op inout[i] for `count` elements, as MPI_Reduce_local.
struct Reduction {
  void (*combine)(void* context, const void* in, void* inout, size_t count);
  void* context;
  size_t element;  // bytes of one element
};

class Group;

// Collective over the ranks of `bootstrap`. Null on all ranks, with the reason in `*why` (a text that stays), where one
// of them cannot take part: another node, no shared memory, not enough of it.
Group* create(const Bootstrap& bootstrap, const Settings& settings, const char** why) noexcept;
// Does not wait: a rank may go while others still read from its queue.
void destroy(Group* group) noexcept;

// Sizes are bytes of contiguous data and the same on all ranks; with 0 an operation returns at once.
void barrier(Group& group) noexcept;
void bcast(Group& group, void* data, size_t bytes, int root) noexcept;
// The result of rank order, x0 op (x1 op (x2 ...)): the same bits in each run, and on all ranks. `in` may be `out`, for
// MPI_IN_PLACE; `out` counts at the root alone.
void reduce(Group& group, const void* in, void* out, size_t count, const Reduction& reduction, int root) noexcept;
void allreduce(Group& group, const void* in, void* out, size_t count, const Reduction& reduction) noexcept;
// `mine` may lie at its place in `all`.
void allgather(Group& group, const void* mine, void* all, size_t bytes) noexcept;
// Whether it is wise to call alltoall for blocks of so many bytes: else they would go in very many pieces.
bool suits_alltoall(const Group& group, size_t bytes) noexcept;
// Block i of `send` goes to rank i. `send` may be `recv`, for MPI_IN_PLACE.
void alltoall(Group& group, const void* send, void* recv, size_t bytes) noexcept;

// What was measured of a group and what follows from it, for `weft tune explain`.
struct Facts {
  double notify_ns;  // the time until a rank sees what another one has written (the paper's tW)
  double copy_ns_per_byte;  // the time to copy a byte out of a queue (the paper's t)
  size_t queue_bytes;  // the paper's b
  size_t fragment_bytes;  // the paper's f
  int fragments;  // the paper's s
  bool single_copy;  // whether all ranks may read the memory of all others
  int nodes;  // on how many NUMA nodes ranks are bound; 1 where they are not bound
  int cpus;  // how many CPUs the ranks may use together
  bool crowded;  // the group, or the job, has more ranks than CPUs
};
Facts facts(const Group& group) noexcept;

}  // namespace weft::coll
