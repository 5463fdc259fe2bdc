// SPDX-License-Identifier: Apache-2.0
// MPI's own libraries call PMPI_ functions too, with locks held, so the names as such are left alone: the places in a
// tool where their addresses stand are written instead.
#include "mpi/front/tools.h"

#include <link.h>

#include "base/message.h"
#include "mpi/front/mapped.h"
#include "mpi/front/places.h"
#include "platform/loaded_object.h"

namespace weft::mpi {

namespace {

// The name of the function that PMPI_X profiles, in C or in Fortran; null: `name` is none of those.
const char* profiled(const char* name) noexcept {
  const bool in_c = name[0] == 'P' && name[1] == 'M' && name[2] == 'P' && name[3] == 'I' && name[4] == '_';
  const bool in_fortran = name[0] == 'p' && name[1] == 'm' && name[2] == 'p' && name[3] == 'i' && name[4] == '_';
  return in_c || in_fortran ? name + 1 : nullptr;
}

// Visits each object that is a tool, and the names and places of PMPI_X for which it has an MPI_X, until `visit` says
// true. `before`: whether it was loaded before this library.
template <class Visit>
void for_each_place(Visit&& visit) noexcept {
  struct Walk {
    Visit& visit;
    bool before = true;
  } walk{visit};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto& [visit, before] = *static_cast<Walk*>(argument);
        if (is_ours(*info)) {
          before = false;
          return 0;
        }
        const platform::LoadedObject object = platform::object_of(*info);
        if (kind_of(*info) != Kind::none) return 0;
        object.for_each_taken([&](const char* name, void** place) {
          const char* own = profiled(name);
          if (own != nullptr && object.find(own) != nullptr) visit(*info, own, place, before);
        });
        return 0;
      },
      &walk);
}

}  // namespace

bool has_tool() noexcept {
  bool found = false;
  for_each_place([&](const dl_phdr_info&, const char*, void**, bool before) { found = found || before; });
  return found;
}

void put_behind_tools() noexcept {
  bool said = false;
  for_each_place([&](const dl_phdr_info& info, const char* name, void** place, bool before) {
    Function function = replacement_for(name);
    if (function == nullptr) return;
    if (before) {
      Protected(info).write(place, reinterpret_cast<void*>(function));
    } else if (!said) {
      said = true;
      base::warn("mpi: the tool %s sees no call that weft converts; preload it before libweft-mpi.so", info.dlpi_name);
    }
  });
}

}  // namespace weft::mpi
