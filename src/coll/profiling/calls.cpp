// SPDX-License-Identifier: Apache-2.0
// What the program calls. Calls that look wrong, and calls without bytes, go on to MPI, which reports errors as usual.
#include <climits>
#include <cstddef>

#include <dlfcn.h>

#include "coll/coll.h"
#include "coll/profiling/communicator.h"
#include "coll/profiling/data.h"
#include "coll/profiling/family.h"
#include "coll/profiling/handles.h"
#include "coll/profiling/link.h"
#include "coll/profiling/process_mpi.h"
#include "mpi/meeting.h"

namespace weft::coll {

ProcessMpi g_mpi;

namespace {

bool is_data(int count, MPI_Datatype type, MPI_Comm comm) noexcept {
  if (count <= 0 || type == MPI_DATATYPE_NULL) return false;
  if (is_basic(type)) return true;
  // There is no other way to find out whether a type has been committed.
  char nothing = 0;
  int position = 0;
  return g_mpi.Pack(&nothing, 0, type, &nothing, 0, &position, comm) == MPI_SUCCESS;
}

size_t bytes_of(int count, MPI_Datatype type) noexcept { return size_of(type) * static_cast<size_t>(count); }

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

Group* take_bcast(Communicator* communicator, const void* data, int count, MPI_Datatype type, int root, MPI_Comm comm,
                  size_t* bytes, Comparison::Timing& timing) noexcept {
  if (communicator == nullptr || !is_data(count, type, comm) || root < 0 || root >= communicator->size) return nullptr;
  *bytes = bytes_of(count, type);
  if (!is_ours(*bytes) || is_nowhere(data, type)) return nullptr;
  return take(*communicator, comm, Operation::bcast, *bytes, timing);
}

int call_bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) noexcept {
  Comparison::Timing timing;
  Communicator* communicator = comm != MPI_COMM_NULL ? find_communicator(comm) : nullptr;
  size_t bytes = 0;
  Group* group = take_bcast(communicator, data, count, type, root, comm, &bytes, timing);
  if (group == nullptr) return ended(timing, g_mpi.next_bcast(data, count, type, root, comm));
  Blocks blocks(data, count, type, 1, comm);
  if (!blocks) return lacking_memory(comm);
  if (communicator->rank == root) blocks.pack();
  bcast(*group, blocks.bytes(), bytes, root);
  if (communicator->rank != root) blocks.unpack();
  return ended(timing, MPI_SUCCESS);
}

struct Combination {
  MPI_Datatype type;
  MPI_Op op;
};

void combine(void* context, const void* in, void* inout, size_t count) noexcept {
  const auto& combination = *static_cast<const Combination*>(context);
  g_mpi.Reduce_local(in, inout, static_cast<int>(count), combination.type, combination.op);
}

// `receive` counts only where there is a result.
bool is_reduction(const void* send, const void* receive, int count, MPI_Datatype type, bool result,
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

int call_reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
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
  if (group == nullptr) return g_mpi.next_reduce(send, receive, count, type, op, root, comm);
  Combination combination{type, op};
  const Reduction reduction{combine, &combination, size_of(type)};
  reduce(*group, send == MPI_IN_PLACE ? receive : send, receive, static_cast<size_t>(count), reduction, root);
  return MPI_SUCCESS;
}

int call_allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) noexcept {
  Comparison::Timing timing;
  Communicator* communicator = comm != MPI_COMM_NULL ? find_communicator(comm) : nullptr;
  Group* group = nullptr;
  if (communicator != nullptr && is_reduction(send, receive, count, type, true, comm) &&
      combines(*communicator, Operation::allreduce, {type, op})) {
    const size_t bytes = bytes_of(count, type);
    if (bytes > 0) group = take(*communicator, comm, Operation::allreduce, bytes, timing);
  }
  if (group == nullptr) return g_mpi.next_allreduce(send, receive, count, type, op, comm);
  Combination combination{type, op};
  const Reduction reduction{combine, &combination, size_of(type)};
  allreduce(*group, send == MPI_IN_PLACE ? receive : send, receive, static_cast<size_t>(count), reduction);
  return MPI_SUCCESS;
}

// What a rank gives to each rank and gets from each, as the arguments of allgather and alltoall say it.
struct Exchange {
  const void* send;
  int send_count;
  MPI_Datatype send_type;
  void* receive;
  int count;
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

int call_allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                   MPI_Datatype type, MPI_Comm comm) noexcept {
  Comparison::Timing timing;
  Communicator* communicator = comm != MPI_COMM_NULL ? find_communicator(comm) : nullptr;
  size_t bytes = 0;
  Group* group = take_exchange(communicator, {send, send_count, send_type, receive, count, type}, comm,
                               Operation::allgather, &bytes, timing);
  if (group == nullptr) {
    return ended(timing, g_mpi.next_allgather(send, send_count, send_type, receive, count, type, comm));
  }
  Blocks all(receive, count, type, communicator->size, comm);
  if (!all) return lacking_memory(comm);
  if (send == MPI_IN_PLACE) {
    all.pack_block(communicator->rank);
    allgather(*group, all.block(communicator->rank), all.bytes(), bytes);
  } else {
    Blocks mine(send, send_count, send_type, 1, comm);
    if (!mine) return lacking_memory(comm);
    mine.pack();
    allgather(*group, mine.bytes(), all.bytes(), bytes);
  }
  all.unpack();
  return ended(timing, MPI_SUCCESS);
}

int call_alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count, MPI_Datatype type,
                  MPI_Comm comm) noexcept {
  Comparison::Timing timing;
  Communicator* communicator = comm != MPI_COMM_NULL ? find_communicator(comm) : nullptr;
  size_t bytes = 0;
  Group* group = take_exchange(communicator, {send, send_count, send_type, receive, count, type}, comm,
                               Operation::alltoall, &bytes, timing);
  if (group == nullptr) {
    return ended(timing, g_mpi.next_alltoall(send, send_count, send_type, receive, count, type, comm));
  }
  Blocks out(receive, count, type, communicator->size, comm);
  if (!out) return lacking_memory(comm);
  if (send == MPI_IN_PLACE) {
    out.pack();
    alltoall(*group, out.bytes(), out.bytes(), bytes);
  } else {
    Blocks in(send, send_count, send_type, communicator->size, comm);
    if (!in) return lacking_memory(comm);
    in.pack();
    alltoall(*group, in.bytes(), out.bytes(), bytes);
  }
  out.unpack();
  return ended(timing, MPI_SUCCESS);
}

constexpr mpi::MeetingTexts kTexts{.part = "coll",
                                   .library = "/libweft-coll.so",
                                   .name = "weft's collectives",
                                   .option = "weft run --collectives",
                                   .tag = 32702};

// The component sees to it that ranks without weft go on with MPI's own.
void meet_others() noexcept {
  if (!has_component()) mpi::Meeting<ProcessMpi>(g_mpi, kTexts).meet(0);
}

int call_init(int* argc, char*** argv) noexcept {
  const int code = g_mpi.next_init(argc, argv);
  if (code == MPI_SUCCESS) meet_others();
  return code;
}

int call_init_thread(int* argc, char*** argv, int required, int* provided) noexcept {
  const int code = g_mpi.next_init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) meet_others();
  return code;
}

const Function kCalls[kNames] = {
    reinterpret_cast<Function>(call_barrier),   reinterpret_cast<Function>(call_bcast),
    reinterpret_cast<Function>(call_reduce),    reinterpret_cast<Function>(call_allreduce),
    reinterpret_cast<Function>(call_allgather), reinterpret_cast<Function>(call_alltoall),
    reinterpret_cast<Function>(call_init),      reinterpret_cast<Function>(call_init_thread)};

template <class F>
bool find(void* library, const char* name, F* function) noexcept {
  *function = reinterpret_cast<F>(dlsym(library, name));
  return *function != nullptr;
}

template <class F>
void set(F* function, Function found) noexcept {
  *function = reinterpret_cast<F>(found);
}

}  // namespace

static const Function* calls_before(void* mpi, const Function* next) noexcept {
  bool all = true;
#define WEFT_COLL_FIND(name) all = find(mpi, "PMPI_" #name, &g_mpi.name) && all;
  WEFT_COLL_PMPI(WEFT_COLL_FIND)
#undef WEFT_COLL_FIND
  // A program may have the object in itself (a copy relocation): so all look for it in the global scope first.
#define WEFT_COLL_FIND(name) all = (find(RTLD_DEFAULT, #name, &g_mpi.name) || find(mpi, #name, &g_mpi.name)) && all;
  WEFT_COLL_OBJECTS(WEFT_COLL_FIND)
#undef WEFT_COLL_FIND
  set(&g_mpi.next_barrier, next[kBarrier]);
  set(&g_mpi.next_bcast, next[kBcast]);
  set(&g_mpi.next_reduce, next[kReduce]);
  set(&g_mpi.next_allreduce, next[kAllreduce]);
  set(&g_mpi.next_allgather, next[kAllgather]);
  set(&g_mpi.next_alltoall, next[kAlltoall]);
  set(&g_mpi.next_init, next[kInit]);
  set(&g_mpi.next_init_thread, next[kInitThread]);
  return all ? kCalls : nullptr;
}

}  // namespace weft::coll

extern "C" [[gnu::visibility("default")]] const weft::coll::Link weft_coll_link;
const weft::coll::Link weft_coll_link{.layout = weft::coll::kLinkLayout, .calls_before = weft::coll::calls_before};
