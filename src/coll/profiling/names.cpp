// SPDX-License-Identifier: Apache-2.0
// The names of MPI in libweft-coll-mpich.so and libweft-coll-openmpi.so. The library may get into processes with
// another MPI, whose handles have another size, or with none: arguments pass through as whole registers, and at the
// first call it is seen whose they are.
#include <atomic>

#include <dlfcn.h>
#include <pthread.h>

#include "base/message.h"
#include "coll/profiling/link.h"
#include "mpi/front/known.h"
#include "mpi/front/mapped.h"
#include "platform/launcher.h"

namespace weft::coll {

namespace {

using Word = uintptr_t;

// Release and acquire: with the pointer come the functions.
std::atomic<const Function*> g_functions{nullptr};
Function g_own[kNames];

void resolve() noexcept {
  for (int i = 0; i < kNames; ++i) {
    g_own[i] = reinterpret_cast<Function>(mpi::find_own(kNameTexts[i]));
    if (g_own[i] == nullptr) base::fatal("coll: %s is called, but no MPI of the process has it", kNameTexts[i]);
  }
  const mpi::Mapped mapped = mpi::find_mapped();
  // Where both libraries are before MPI, one of them says it.
  if (mapped.kind == mpi::Kind::standard_abi &&
      (kBuiltFor == mpi::Kind::mpich || platform::mpi_by_launcher() == platform::Mpi::openmpi)) {
    base::warn(
        "coll: %s has MPI's standard ABI, for which weft has no library yet; MPI runs without weft's collectives",
        mapped.path);
  }
  const Function* functions = nullptr;
  // It may not be in the global scope.
  void* library = mapped.kind == kBuiltFor ? dlopen(mapped.path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  char why[sizeof mapped.path + 200];
  if (library != nullptr &&
      !mpi::is_known(mapped, reinterpret_cast<mpi::SayVersion>(dlsym(library, "PMPI_Get_library_version")), why,
                     sizeof why)) {
    base::warn("coll: %s; MPI runs without weft's collectives", why);
  } else if (library != nullptr) {
    functions = calls_before(library, g_own);
  }
  g_functions.store(functions != nullptr ? functions : g_own, std::memory_order_release);
}

template <class... Words>
Word call(Name name, Words... words) noexcept {
  const Function* functions = g_functions.load(std::memory_order_acquire);
  if (functions == nullptr) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, resolve);
    functions = g_functions.load(std::memory_order_acquire);
  }
  return reinterpret_cast<Word (*)(Words...)>(functions[name])(words...);
}

}  // namespace

}  // namespace weft::coll

#pragma GCC visibility push(default)
extern "C" {
using weft::coll::Word;

Word MPI_Barrier(Word comm) { return weft::coll::call(weft::coll::kBarrier, comm); }

Word MPI_Bcast(Word buffer, Word count, Word type, Word root, Word comm) {
  return weft::coll::call(weft::coll::kBcast, buffer, count, type, root, comm);
}

Word MPI_Reduce(Word send, Word receive, Word count, Word type, Word op, Word root, Word comm) {
  return weft::coll::call(weft::coll::kReduce, send, receive, count, type, op, root, comm);
}

Word MPI_Allreduce(Word send, Word receive, Word count, Word type, Word op, Word comm) {
  return weft::coll::call(weft::coll::kAllreduce, send, receive, count, type, op, comm);
}

Word MPI_Allgather(Word send, Word send_count, Word send_type, Word receive, Word count, Word type, Word comm) {
  return weft::coll::call(weft::coll::kAllgather, send, send_count, send_type, receive, count, type, comm);
}

Word MPI_Alltoall(Word send, Word send_count, Word send_type, Word receive, Word count, Word type, Word comm) {
  return weft::coll::call(weft::coll::kAlltoall, send, send_count, send_type, receive, count, type, comm);
}

// All ranks meet there: one without this library would never come to what the others do in a collective.
Word MPI_Init(Word argc, Word argv) { return weft::coll::call(weft::coll::kInit, argc, argv); }

Word MPI_Init_thread(Word argc, Word argv, Word required, Word provided) {
  return weft::coll::call(weft::coll::kInitThread, argc, argv, required, provided);
}
}
#pragma GCC visibility pop
