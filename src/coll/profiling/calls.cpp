// SPDX-License-Identifier: Apache-2.0
// What the program calls. Calls that look wrong, and calls without bytes, go on to MPI, which reports errors as usual.
#include "coll/profiling/calls.h"

#include <climits>
#include <cstddef>

#include "coll/coll.h"
#include "coll/profiling/communicator.h"
#include "coll/profiling/data.h"
#include "coll/profiling/handles.h"
#include "coll/profiling/process_mpi.h"

namespace weft::coll {

namespace {

template <class Count>
const NextCalls<Count>& next() noexcept {
  if constexpr (sizeof(Count) == sizeof(int)) {
    return g_mpi.next;
  } else {
    return g_mpi.next_large;
  }
}

// More elements than INT_MAX are more bytes than that, so that all ranks leave them to MPI (is_ours).
bool is_data(MPI_Count count, MPI_Datatype type, MPI_Comm comm) noexcept {
  if (count <= 0 || count > INT_MAX || type == MPI_DATATYPE_NULL) return false;
  if (is_basic(type)) return true;
  // There is no other way to find out whether a type has been committed.
  char nothing = 0;
  int position = 0;
  return g_mpi.Pack(&nothing, 0, type, &nothing, 0, &position, comm) == MPI_SUCCESS;
}

size_t bytes_of(MPI_Count count, MPI_Datatype type) noexcept { return size_of(type) * static_cast<size_t>(count); }

// Whether weft takes a call with so many bytes: MPI counts packed bytes by an int. All ranks decide alike, since
// `bytes` is the same on all.
bool is_ours(size_t bytes) noexcept { return bytes > 0 && bytes <= INT_MAX; }

// Whether the data has no valid address: the address 0 is valid only with a type that holds addresses.
bool is_nowhere(const void* data, MPI_Datatype type) noexcept { return data == nullptr && is_basic(type); }

int lacking_memory(MPI_Comm comm) noexcept {
  g_mpi.Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
  return MPI_ERR_NO_MEM;
}

// To be called after each call, weft's or MPI's: it may have been measured.
int ended(const Comparison::Timing& timing, int result) noexcept {
  Comparison::end(timing);
  return result;
}

}  // namespace

int call_barrier(MPI_Comm comm) noexcept {
  Comparison::Timing timing;
  Communicator* communicator = comm != MPI_COMM_NULL ? find_communicator(comm) : nullptr;
  Group* group = communicator != nullptr ? take(*communicator, comm, Operation::barrier, 0, timing) : nullptr;
  if (group == nullptr) return ended(timing, g_mpi.next_barrier(comm));
  barrier(*group);
  // Programs rely on it that what was complete before a barrier is seen by the first test after it (MPI_Win_test).
  make_progress();
  return ended(timing, MPI_SUCCESS);
}

namespace {

Group* take_bcast(Communicator* communicator, const void* data, MPI_Count count, MPI_Datatype type, int root,
                  MPI_Comm comm, size_t* bytes, Comparison::Timing& timing) noexcept {
  if (communicator == nullptr || !is_data(count, type, comm) || root < 0 || root >= communicator->size) return nullptr;
  *bytes = bytes_of(count, type);
  if (!is_ours(*bytes) || is_nowhere(data, type)) return nullptr;
  return take(*communicator, comm, Operation::bcast, *bytes, timing);
}

}  // namespace

template <class Count>
int call_bcast(void* data, Count count, MPI_Datatype type, int root, MPI_Comm comm) noexcept {
  Comparison::Timing timing;
  Communicator* communicator = comm != MPI_COMM_NULL ? find_communicator(comm) : nullptr;
  size_t bytes = 0;
  Group* group = take_bcast(communicator, data, count, type, root, comm, &bytes, timing);
  if (group == nullptr) return ended(timing, next<Count>().bcast(data, count, type, root, comm));
  Blocks blocks(data, static_cast<int>(count), type, 1, comm);
  if (!blocks) return lacking_memory(comm);
  if (communicator->rank == root) blocks.pack();
  bcast(*group, blocks.bytes(), bytes, root);
  if (communicator->rank != root) blocks.unpack();
  return ended(timing, MPI_SUCCESS);
}

namespace {

struct Combination {
  MPI_Datatype type;
  MPI_Op op;
};

void combine(void* context, const void* in, void* inout, size_t count) noexcept {
  const auto& combination = *static_cast<const Combination*>(context);
  g_mpi.Reduce_local(in, inout, static_cast<int>(count), combination.type, combination.op);
}

// `receive` counts only where there is a result.
bool is_reduction(const void* send, const void* receive, MPI_Count count, MPI_Datatype type, bool result,
                  MPI_Comm comm) noexcept {
  return is_data(count, type, comm) && send != receive && send != nullptr && (!result || receive != nullptr);
}

// MPI wants operation and type to be the same on all ranks, so all decide alike. MPI makes the other calls, and may
// refuse them.
bool can_combine(const Combination& combination) noexcept {
  if (combination.op == MPI_OP_NULL) return false;
  return is_of_user(combination.op) ? is_plain(combination.type) : has_meaning(combination.type, combination.op);
}

bool combines(Communicator& communicator, Operation operation, const Combination& combination) noexcept {
  if (can_combine(combination)) return true;
  if (communicator.fits) communicator.front.leave(operation);
  return false;
}

}  // namespace

template <class Count>
int call_reduce(const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm) noexcept {
  Comparison::Timing timing;
  Communicator* communicator = comm != MPI_COMM_NULL ? find_communicator(comm) : nullptr;
  Group* group = nullptr;
  if (communicator != nullptr && root >= 0 && root < communicator->size &&
      (send != MPI_IN_PLACE || communicator->rank == root) &&
      is_reduction(send, communicator->rank == root ? receive : nullptr, count, type, communicator->rank == root,
                   comm) &&
      combines(*communicator, Operation::reduce, {type, op})) {
    const size_t bytes = bytes_of(count, type);
    if (bytes > 0) group = take(*communicator, comm, Operation::reduce, bytes, timing);
  }
  if (group == nullptr) return next<Count>().reduce(send, receive, count, type, op, root, comm);
  Combination combination{type, op};
  const Reduction reduction{combine, &combination, size_of(type)};
  reduce(*group, send == MPI_IN_PLACE ? receive : send, receive, static_cast<size_t>(count), reduction, root);
  return MPI_SUCCESS;
}

template <class Count>
int call_allreduce(const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) noexcept {
  Comparison::Timing timing;
  Communicator* communicator = comm != MPI_COMM_NULL ? find_communicator(comm) : nullptr;
  Group* group = nullptr;
  if (communicator != nullptr && is_reduction(send, receive, count, type, true, comm) &&
      combines(*communicator, Operation::allreduce, {type, op})) {
    const size_t bytes = bytes_of(count, type);
    if (bytes > 0) group = take(*communicator, comm, Operation::allreduce, bytes, timing);
  }
  if (group == nullptr) return next<Count>().allreduce(send, receive, count, type, op, comm);
  Combination combination{type, op};
  const Reduction reduction{combine, &combination, size_of(type)};
  allreduce(*group, send == MPI_IN_PLACE ? receive : send, receive, static_cast<size_t>(count), reduction);
  return MPI_SUCCESS;
}

namespace {

// What a rank gives to each rank and gets from each, as the arguments of allgather and alltoall say it.
struct Exchange {
  const void* send;
  MPI_Count send_count;
  MPI_Datatype send_type;
  void* receive;
  MPI_Count count;
  MPI_Datatype type;
};

// Whether the data that is given is the block that is to be received, after `before` others: MPICH refuses that. With
// other types the same address may mean other data.
bool is_alias(const Exchange& exchange, int before) noexcept {
  if (exchange.send_type != exchange.type || exchange.send_count != exchange.count) return false;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  g_mpi.Type_get_extent(exchange.type, &lower, &extent);
  return exchange.send == static_cast<const char*>(exchange.receive) + extent * exchange.count * before;
}

Group* take_exchange(Communicator* communicator, const Exchange& exchange, MPI_Comm comm, Operation operation,
                     size_t* bytes, Comparison::Timing& timing) noexcept {
  if (communicator == nullptr || !is_data(exchange.count, exchange.type, comm)) return nullptr;
  *bytes = bytes_of(exchange.count, exchange.type);
  if (!is_ours(*bytes) || is_nowhere(exchange.receive, exchange.type)) return nullptr;
  if (exchange.send != MPI_IN_PLACE) {
    if (!is_data(exchange.send_count, exchange.send_type, comm)) return nullptr;
    if (bytes_of(exchange.send_count, exchange.send_type) != *bytes) return nullptr;
    if (is_alias(exchange, operation == Operation::allgather ? communicator->rank : 0) ||
        is_nowhere(exchange.send, exchange.send_type)) {
      return nullptr;
    }
  }
  return take(*communicator, comm, operation, *bytes, timing);
}

}  // namespace

template <class Count>
int call_allgather(const void* send, Count send_count, MPI_Datatype send_type, void* receive, Count count,
                   MPI_Datatype type, MPI_Comm comm) noexcept {
  Comparison::Timing timing;
  Communicator* communicator = comm != MPI_COMM_NULL ? find_communicator(comm) : nullptr;
  size_t bytes = 0;
  Group* group = take_exchange(communicator, {send, send_count, send_type, receive, count, type}, comm,
                               Operation::allgather, &bytes, timing);
  if (group == nullptr) {
    return ended(timing, next<Count>().allgather(send, send_count, send_type, receive, count, type, comm));
  }
  Blocks all(receive, static_cast<int>(count), type, communicator->size, comm);
  if (!all) return lacking_memory(comm);
  if (send == MPI_IN_PLACE) {
    all.pack_block(communicator->rank);
    allgather(*group, all.block(communicator->rank), all.bytes(), bytes);
  } else {
    Blocks mine(send, static_cast<int>(send_count), send_type, 1, comm);
    if (!mine) return lacking_memory(comm);
    mine.pack();
    allgather(*group, mine.bytes(), all.bytes(), bytes);
  }
  all.unpack();
  return ended(timing, MPI_SUCCESS);
}

template <class Count>
int call_alltoall(const void* send, Count send_count, MPI_Datatype send_type, void* receive, Count count,
                  MPI_Datatype type, MPI_Comm comm) noexcept {
  Comparison::Timing timing;
  Communicator* communicator = comm != MPI_COMM_NULL ? find_communicator(comm) : nullptr;
  size_t bytes = 0;
  Group* group = take_exchange(communicator, {send, send_count, send_type, receive, count, type}, comm,
                               Operation::alltoall, &bytes, timing);
  if (group == nullptr) {
    return ended(timing, next<Count>().alltoall(send, send_count, send_type, receive, count, type, comm));
  }
  Blocks out(receive, static_cast<int>(count), type, communicator->size, comm);
  if (!out) return lacking_memory(comm);
  if (send == MPI_IN_PLACE) {
    out.pack();
    alltoall(*group, out.bytes(), out.bytes(), bytes);
  } else {
    Blocks in(send, static_cast<int>(send_count), send_type, communicator->size, comm);
    if (!in) return lacking_memory(comm);
    in.pack();
    alltoall(*group, in.bytes(), out.bytes(), bytes);
  }
  out.unpack();
  return ended(timing, MPI_SUCCESS);
}

#define WEFT_COLL_COUNTED(Count)                                                                                \
  template int call_bcast(void*, Count, MPI_Datatype, int, MPI_Comm) noexcept;                                  \
  template int call_reduce(const void*, void*, Count, MPI_Datatype, MPI_Op, int, MPI_Comm) noexcept;            \
  template int call_allreduce(const void*, void*, Count, MPI_Datatype, MPI_Op, MPI_Comm) noexcept;              \
  template int call_allgather(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, MPI_Comm) noexcept; \
  template int call_alltoall(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, MPI_Comm) noexcept;
WEFT_COLL_COUNTED(int)
WEFT_COLL_COUNTED(MPI_Count)
#undef WEFT_COLL_COUNTED

}  // namespace weft::coll
