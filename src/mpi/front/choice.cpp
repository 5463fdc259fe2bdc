// SPDX-License-Identifier: Apache-2.0
// MPI's names are functions chosen at run time (IFUNC) for whoever asks once this library is ready: a program may ask
// by weak references what its MPI has, or whether it has one.
// The dynamic linker relocates the libraries of an MPI before this one, and some at once (-z now): those must neither
// get an answer from code that is not relocated, nor make the dynamic linker say that they should be linked again. So
// the file has plain functions by these names, and they become chosen ones while this library is relocated itself.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "mpi/front/mapped.h"
#include "mpi/front/places.h"
#include "mpi/front/targets.h"
#include "platform/system_call.h"

// Hidden: their addresses follow from where this code is, without a table that the dynamic linker fills.
#pragma GCC visibility push(hidden)
extern "C" {
extern const char weft_mpi_chosen_begin[];
extern const char weft_mpi_chosen_end[];
extern const ElfW(Ehdr) __ehdr_start;
weft::mpi::Function weft_mpi_choose(weft::mpi::Function stub, const char* name);
weft::mpi::Function weft_mpi_begin_choice();
void weft_mpi_choice_begun() __attribute__((ifunc("weft_mpi_begin_choice")));
}
#pragma GCC visibility pop

namespace {

// The distance from a plain function to the resolver of the same name; the same number as CHOSEN in stub_*.inc.
constexpr ElfW(Addr) kChosenStep = 32;

// The dynamic linker asks for its address while it relocates this library.
[[gnu::used]] void (*volatile g_asked)() = weft_mpi_choice_begun;

// Whether objects ask for the name, and none of them by a weak reference.
bool is_needed(const char* name) noexcept {
  struct Asked {
    const char* name;
    bool weakly = false, strongly = false;
  } asked{name};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto& [wanted, weakly, strongly] = *static_cast<Asked*>(argument);
        weft::platform::object_of(*info).for_each_reference([&](const char* taken, void**, bool weak) {
          if (std::strcmp(taken, wanted) == 0) (weak ? weakly : strongly) = true;
        });
        return 0;
      },
      &asked);
  return asked.strongly && !asked.weakly;
}

// Without an MPI, the weak references of libraries that were relocated before this one: to functions of this library.
[[gnu::constructor]] void forget_weak_references() {
  if (weft::mpi::has_mpi()) return;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void*) {
        weft::platform::object_of(*info).for_each_reference([&](const char*, void** place, bool weak) {
          const auto address = static_cast<const char*>(*place);
          if (weak && address >= weft_mpi_chosen_begin && address < weft_mpi_chosen_end) {
            weft::mpi::Protected(*info).write(place, nullptr);
          }
        });
        return 0;
      },
      nullptr);
}

}  // namespace

// Before anything is relocated here: no call, no table, no sanitizer.
__attribute__((no_sanitize("address", "thread", "undefined"))) weft::mpi::Function weft_mpi_begin_choice() {
  const auto base = reinterpret_cast<ElfW(Addr)>(&__ehdr_start);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(base + __ehdr_start.e_phoff);
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < __ehdr_start.e_phnum; ++i) {
    if (segments[i].p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(base + segments[i].p_vaddr);
  }
  ElfW(Sym)* symbols = nullptr;
  const uint32_t* hash = nullptr;
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    // Some dynamic linkers add the base to these addresses in place.
    const ElfW(Addr) address = dynamic->d_un.d_ptr < base ? base + dynamic->d_un.d_ptr : dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_SYMTAB) symbols = reinterpret_cast<ElfW(Sym)*>(address);
    if (dynamic->d_tag == DT_GNU_HASH) hash = reinterpret_cast<const uint32_t*>(address);
  }
  // As it is linked, the table is in front, where no code is. Otherwise the names stay plain functions.
  if (symbols == nullptr || hash == nullptr) return nullptr;
  const ElfW(Addr) table = reinterpret_cast<ElfW(Addr)>(symbols) - base;
  const ElfW(Phdr)* segment = nullptr;
  for (int i = 0; i < __ehdr_start.e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0 && table < segments[i].p_memsz) {
      segment = &segments[i];
    }
  }
  if (segment == nullptr || (segment->p_flags & PF_X) != 0) return nullptr;
  const size_t bytes = segment->p_memsz;
  if (weft::platform::system_call(SYS_mprotect, base, bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;

  // What others may find is behind the first `hash[1]` symbols; the chains say where the table ends.
  const uint32_t buckets = hash[0];
  const uint32_t first_found = hash[1];
  const uint32_t* bucket = hash + 4 + hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* chain = bucket + buckets;
  uint32_t last = 0;
  for (uint32_t i = 0; i < buckets; ++i) last = bucket[i] > last ? bucket[i] : last;
  while (last >= first_found && (chain[last - first_found] & 1) == 0) ++last;
  const ElfW(Addr) begin = reinterpret_cast<ElfW(Addr)>(weft_mpi_chosen_begin) - base;
  const ElfW(Addr) end = reinterpret_cast<ElfW(Addr)>(weft_mpi_chosen_end) - base;
  for (uint32_t i = first_found; i <= last; ++i) {
    ElfW(Sym)& symbol = symbols[i];
    if (symbol.st_value < begin || symbol.st_value >= end || (symbol.st_info & 0xf) != STT_FUNC) continue;
    symbol.st_value += kChosenStep;
    symbol.st_info = static_cast<unsigned char>((symbol.st_info & 0xf0) | STT_GNU_IFUNC);
  }
  weft::platform::system_call(SYS_mprotect, base, bytes, PROT_READ);
  return nullptr;
}

// Called by the resolvers, when the dynamic linker looks a name up for an object. Returns `stub`, or null if the MPI
// lacks the function.
weft::mpi::Function weft_mpi_choose(weft::mpi::Function stub, const char* name) {
  using namespace weft::mpi;
  if (mpi_has(name)) return stub;
  // A program that cannot do without an MPI gets the stub, which says so when it is called.
  return !has_mpi() && is_needed(name) ? stub : nullptr;
}
