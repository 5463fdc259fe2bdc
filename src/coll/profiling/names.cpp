// SPDX-License-Identifier: Apache-2.0
// The names of MPI in libweft-coll.so. It gets into processes with any MPI, whose handles differ in size, or with none:
// arguments pass through as whole registers, and the first call finds out whose they are and loads the library for it.
#include <atomic>
#include <cstdint>

#include <dlfcn.h>
#include <pthread.h>

#include "base/message.h"
#include "coll/profiling/link.h"
#include "mpi/front/known.h"
#include "mpi/front/mapped.h"

namespace weft::coll {

namespace {

using Word = uintptr_t;

// Release and acquire: with the pointer come the functions.
std::atomic<const Function*> g_functions{nullptr};
Function g_own[kNames];

// The end of the message where MPI's own collectives are all there is.
constexpr char kPlainly[] = "MPI runs without weft's collectives";

const char* library_for(const mpi::Mapped& mapped) noexcept {
  switch (mapped.kind) {
    case mpi::Kind::open_mpi: return "libweft-coll-openmpi.so";
    case mpi::Kind::mpich: return "libweft-coll-mpich.so";
    case mpi::Kind::standard_abi: return "libweft-coll-abi.so";
    case mpi::Kind::several:
      base::warn("coll: the process has loaded two MPIs, one of them %s; %s", mapped.path, kPlainly);
      return nullptr;
    case mpi::Kind::none: return nullptr;
  }
  return nullptr;
}

// Null: the process goes on with MPI's own.
const Function* functions_of_weft() noexcept {
  const mpi::Mapped mapped = mpi::find_mapped();
  const char* name = library_for(mapped);
  // It may not be in the global scope.
  void* mpi = name != nullptr ? dlopen(mapped.path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (mpi == nullptr) return nullptr;
  char why[sizeof mapped.path + 200];
  if (!mpi::is_known(mapped, reinterpret_cast<mpi::SayVersion>(dlsym(mpi, "PMPI_Get_library_version")), why,
                     sizeof why)) {
    base::warn("coll: %s; %s", why, kPlainly);
    return nullptr;
  }
  void* library = mpi::load_beside(name);
  if (library == nullptr) {
    base::warn("coll: %s; %s", dlerror(), kPlainly);
    return nullptr;
  }
  const auto* link = static_cast<const Link*>(dlsym(library, kLinkName));
  if (link == nullptr || link->layout != kLinkLayout) {
    base::warn("coll: %s is of another version of weft than libweft-coll.so; %s", name, kPlainly);
    return nullptr;
  }
  return link->calls_before(mpi, g_own);
}

void resolve() noexcept {
  for (int i = 0; i < kNames; ++i) {
    g_own[i] = reinterpret_cast<Function>(mpi::find_own(kNameTexts[i]));
    if (g_own[i] == nullptr) base::fatal("coll: %s is called, but no MPI of the process has it", kNameTexts[i]);
  }
  const Function* functions = functions_of_weft();
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
