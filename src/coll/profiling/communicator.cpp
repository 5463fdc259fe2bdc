// SPDX-License-Identifier: Apache-2.0
#include "coll/profiling/communicator.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <pthread.h>

#include "coll/profiling/family.h"

namespace weft::coll {

namespace {

FrontSettings g_settings;
int g_key = MPI_KEYVAL_INVALID;

// The greatest tag. progress() looks for messages with it, as programs hardly use it.
int g_silent_tag = 32767;

// Lets MPI move messages: it looks for one, finds none, and moves others meanwhile. (In MPI_COMM_SELF it would move
// nothing.)
void progress() noexcept {
  int found = 0;
  g_mpi.Iprobe(MPI_ANY_SOURCE, g_silent_tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

void died(int rank) noexcept {
  say_died(rank);
  g_mpi.Abort(MPI_COMM_WORLD, 1);
}

// In place of MPI_COMM_NULL_COPY_FN, which is a function of Open MPI's.
int copy_nothing(MPI_Comm, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}

int forget(MPI_Comm, int, void* value, void*) {
  delete static_cast<Communicator*>(value);
  return MPI_SUCCESS;
}

void name(void* context, char* text, size_t size) noexcept {
  char whole[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  if (g_mpi.Comm_get_name(*static_cast<MPI_Comm*>(context), whole, &length) != MPI_SUCCESS) whole[0] = '\0';
  std::snprintf(text, size, "%s", whole);
}

// Whether weft takes part. Calls of communicators of sessions come before MPI_Init, and after MPI_Finalize: then MPI
// makes them, as it does where there is no MPI_COMM_WORLD at all.
enum class Part { unknown, taken, left };
// Release and acquire: with `taken` comes what begin() has written.
std::atomic<Part> g_part{Part::unknown};

int end_world(MPI_Comm, int, void*, void* speaks) {
  leave_world();
  if (speaks != nullptr) totals().say();
  return MPI_SUCCESS;
}

// Has end_world() called by MPI_Finalize, which first deletes the attributes of MPI_COMM_SELF.
void watch_end() noexcept {
  static bool speaks = true;
  int rank = 0;
  int key = MPI_KEYVAL_INVALID;
  const bool is_speaker = g_settings.report && g_mpi.Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank == 0;
  if (g_mpi.Comm_create_keyval(copy_nothing, end_world, &key, is_speaker ? &speaks : nullptr) != MPI_SUCCESS) return;
  g_mpi.Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

void begin() noexcept {
  if (has_component() || has_unknown_fortran() || goes_on_without_ranks() ||
      g_mpi.Comm_create_keyval(copy_nothing, forget, &g_key, nullptr) != MPI_SUCCESS) {
    return leave_world();
  }
  g_settings = settings_of_environment();
  g_settings.group.progress = progress;
  g_settings.group.died = died;
  g_settings.name = name;
  if (const int ranks = local_ranks_by_launcher(); ranks > 0) g_settings.group.job_ranks = ranks;
  if (const int from = pays_from(); from > 0) g_settings.pays_from = from;
  watch_end();
  int* greatest = nullptr;
  int found = 0;
  if (g_mpi.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &greatest, &found) == MPI_SUCCESS && found != 0) {
    g_silent_tag = *greatest;
  }
  g_part.store(Part::taken, std::memory_order_release);
}

bool has_world() noexcept {
  int begun = 0;
  int ended = 0;
  return g_mpi.Initialized(&begun) == MPI_SUCCESS && begun != 0 && g_mpi.Finalized(&ended) == MPI_SUCCESS && ended == 0;
}

bool takes_part() noexcept {
  const Part part = g_part.load(std::memory_order_acquire);
  if (part != Part::unknown) return part == Part::taken;
  // A tool has called MPI_Init by its other name.
  if (has_world()) begin_world();
  return g_part.load(std::memory_order_acquire) == Part::taken;
}

// Whether all ranks of the communicator belong to this process's MPI_COMM_WORLD: processes that were started by other
// ways may run without weft.
bool is_of_own_world(MPI_Comm comm, int size) noexcept {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  if (g_mpi.Comm_group(comm, &group) != MPI_SUCCESS || g_mpi.Comm_group(MPI_COMM_WORLD, &world) != MPI_SUCCESS) {
    return false;
  }
  bool own = true;
  for (int rank = 0; own && rank < size; ++rank) {
    int there = MPI_UNDEFINED;
    own = g_mpi.Group_translate_ranks(group, 1, &rank, world, &there) == MPI_SUCCESS && there != MPI_UNDEFINED;
  }
  g_mpi.Group_free(&group);
  g_mpi.Group_free(&world);
  return own;
}

Communicator* add(MPI_Comm comm) noexcept {
  int rank = 0;
  int size = 0;
  int inter = 1;
  if (g_mpi.Comm_test_inter(comm, &inter) != MPI_SUCCESS || g_mpi.Comm_rank(comm, &rank) != MPI_SUCCESS ||
      g_mpi.Comm_size(comm, &size) != MPI_SUCCESS) {
    return nullptr;
  }
  const bool fits = inter == 0 && size > 1 && is_of_own_world(comm, size);
  auto* made = new (std::nothrow) Communicator{rank, size, fits, Front(g_settings)};
  if (made != nullptr && g_mpi.Comm_set_attr(comm, g_key, made) == MPI_SUCCESS) return made;
  delete made;
  return nullptr;
}

bool gather_by_mpi(void* context, const void* mine, void* all, size_t bytes) noexcept {
  const int count = static_cast<int>(bytes);
  return g_mpi.Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, *static_cast<MPI_Comm*>(context)) == MPI_SUCCESS;
}

}  // namespace

void begin_world() noexcept {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, begin);
}

void leave_world() noexcept { g_part.store(Part::left, std::memory_order_release); }

Communicator* find_communicator(MPI_Comm comm) noexcept {
  if (!takes_part()) return nullptr;
  void* value = nullptr;
  int found = 0;
  if (g_mpi.Comm_get_attr(comm, g_key, &value, &found) != MPI_SUCCESS) return nullptr;
  return found != 0 ? static_cast<Communicator*>(value) : add(comm);
}

void make_progress() noexcept { progress(); }

Group* take(Communicator& communicator, MPI_Comm comm, Operation operation, size_t bytes,
            Comparison::Timing& timing) noexcept {
  if (!communicator.fits) return nullptr;
  const Bootstrap bootstrap{communicator.rank, communicator.size, gather_by_mpi, &comm};
  return communicator.front.take(operation, bytes, bootstrap, timing);
}

}  // namespace weft::coll
