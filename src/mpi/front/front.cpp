// SPDX-License-Identifier: Apache-2.0
// libweft-mpi.so before it knows the MPI: what stands in the place of MPI's functions comes from the library for that.
#include <cstring>

#include <dlfcn.h>
#include <signal.h>

#include "mpi/front/library.h"
#include "mpi/front/mapped.h"
#include "mpi/front/targets.h"
#include "mpi/front/tools.h"
#include "mpi/front/yield.h"
#include "mpi/link.h"

namespace weft::mpi {

const char kPart[] = "mpi";
const char kLeft[] = "weft";

namespace {

// Whether the process was started with the signal blocked that users ask by.
bool g_signal_blocked = false;

// Null: MPI runs without weft.
const Link* g_link = nullptr;

// Before main: what the program came with.
[[gnu::constructor]] void look_at_process() {
  sigset_t blocked;
  g_signal_blocked = pthread_sigmask(SIG_BLOCK, nullptr, &blocked) == 0 && sigismember(&blocked, SIGUSR1) == 1;
  // A tool that comes first calls PMPI_Init: there is no first call here.
  const Kind kind = find_mapped().kind;
  if (kind != Kind::none && kind != Kind::several && has_tool()) set_targets();
}

}  // namespace

bool begin() noexcept {
  const Library library = load_library("libweft-mpi", true);
  if (library.handle == nullptr) return library.kind != Kind::several;
  const auto* link = static_cast<const Link*>(dlsym(library.handle, kLinkName));
  if (link == nullptr || link->layout != kLinkLayout) {
    say_left("the library for this MPI is of another version of weft than libweft-mpi.so");
    return true;
  }
  g_link = link;
  link->begin(g_signal_blocked);
  hand_over_yields(link->yield);
  put_behind_tools();
  return true;
}

Function replacement_of(const char* name) noexcept {
  for (int list = 0; g_link != nullptr && list < g_link->count; ++list) {
    for (int i = 0; i < g_link->lists[list].count; ++i) {
      const Replacement& replacement = g_link->lists[list].first[i];
      if (std::strcmp(replacement.name, name) == 0) return replacement.function;
    }
  }
  return nullptr;
}

}  // namespace weft::mpi
