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

// What the ranks have to talk by before they share memory. Each gives `bytes` at `mine` and gets those of all, in the
// order of ranks, at `all`. False: it failed, on all ranks.
struct Bootstrap {
  int rank;
  int size;  // 2 or more
  bool (*allgather)(void* context, const void* mine, void* all, size_t bytes);
  void* context;
};

struct Settings {
  size_t queue_bytes = 0;     // of each rank's queue (the paper's b); 0: chosen by the number of ranks
  size_t fragment_bytes = 0;  // of one of its buffers (the paper's f); 0: by the model from what was measured
  bool single_copy = true;  // whether ranks may read each other's memory (process_vm_readv), where the kernel lets them
  // Ranks of the whole job on this node; 0: not known. With more of them than CPUs, who waits gives way at once.
  int job_ranks = 0;
  // The ranks from which on short operations go by trees; 0: by their number and the CPUs that they have.
  int trees_from = 0;
  // Called now and then by who waits: it moves the messages that others wait for. May be null.
  void (*progress)() = nullptr;
  // A rank has died while the caller waits for it. Does not return.
  void (*died)(int rank) = nullptr;
};

// The operations, as rules name them.
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
// Waits for nobody: a rank may go while others still read from its queue.
void destroy(Group* group) noexcept;

// Sizes are bytes of contiguous data and the same on all ranks; 0 is allowed everywhere and waits for nobody.
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

// What was measured and what follows from it, for people and for `weft tune explain`.
struct Facts {
  double notify_ns;  // until a rank sees what another one has written (the paper's tW)
  double copy_ns_per_byte;  // of copying out of a queue (the paper's t)
  size_t queue_bytes;  // b
  size_t fragment_bytes;  // f
  int fragments;  // s
  bool single_copy;  // whether all ranks may read all others
  int nodes;  // NUMA nodes on which ranks are bound; 1 where they are not bound
  int cpus;  // that the ranks may use together
  bool crowded;  // the group, or the job, has more ranks than CPUs
};
Facts facts(const Group& group) noexcept;

}  // namespace weft::coll
