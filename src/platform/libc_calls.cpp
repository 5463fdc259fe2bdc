// SPDX-License-Identifier: Apache-2.0
#include "platform/libc_calls.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "platform/loaded_object.h"

namespace weft::platform {

namespace {

uintptr_t page_of(uintptr_t address) noexcept { return address & ~(static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) - 1); }

// How the pages at `address` are mapped; -1: it is none of the object's.
int protection(const dl_phdr_info& object, uintptr_t address) noexcept {
  int found = -1;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    const uintptr_t begin = object.dlpi_addr + part.p_vaddr;
    if (address < begin || address >= begin + part.p_memsz) continue;
    if (part.p_type == PT_LOAD) {
      found = ((part.p_flags & PF_R) != 0 ? PROT_READ : 0) | ((part.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
              ((part.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
    }
  }
  for (int i = 0; found >= 0 && i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_GNU_RELRO) continue;
    // The dynamic linker protects whole pages.
    const uintptr_t begin = page_of(object.dlpi_addr + part.p_vaddr);
    const uintptr_t end = page_of(object.dlpi_addr + part.p_vaddr + part.p_memsz);
    if (address >= begin && address < end) found &= ~PROT_WRITE;
  }
  return found;
}

// Others may read the word meanwhile, so it is never unreadable, and it changes at once.
template <class Word>
bool write_in(const dl_phdr_info& object, Word* place, Word value) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(place);
  const int now = protection(object, address);
  if (now < 0) return false;
  const uintptr_t begin = page_of(address);
  const size_t size = address + sizeof *place - begin;
  const bool closed = (now & PROT_WRITE) == 0;
  const int open = PROT_READ | PROT_WRITE | (now & PROT_EXEC);
  if (closed && mprotect(reinterpret_cast<void*>(begin), size, open) != 0) return false;
  __atomic_store_n(place, value, __ATOMIC_RELEASE);
  if (closed) mprotect(reinterpret_cast<void*>(begin), size, now);
  return true;
}

template <class Word>
bool write_somewhere(Word* place, Word value) noexcept {
  struct WriteRequest {
    Word* place;
    Word value;
    bool done;
  } request{place, value, false};
  const base::KeepErrno keep;
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* argument) {
        auto* wanted = static_cast<WriteRequest*>(argument);
        if (protection(*object, reinterpret_cast<uintptr_t>(wanted->place)) < 0) return 0;
        wanted->done = write_in(*object, wanted->place, wanted->value);
        return 1;
      },
      &request);
  return request.done;
}

class LibcRedirection {
 public:
  explicit LibcRedirection(std::initializer_list<LibcCalls> groups) noexcept {
    // Before glibc 2.34 threads have a library of their own.
    void* const parts[] = {dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD),
                           dlopen("libpthread.so.0", RTLD_LAZY | RTLD_NOLOAD)};
    for (const LibcCalls& group : groups) {
      for (const LibcCall& call : group) add(call, parts);
    }
    for (void* part : parts) {
      if (part != nullptr) dlclose(part);
    }
  }

  // Objects are visited under the dynamic linker's lock: none comes or goes.
  void run() const noexcept {
    if (marks_ == 0) return;
    dl_iterate_phdr(
        [](dl_phdr_info* object, size_t, void* argument) {
          static_cast<const LibcRedirection*>(argument)->visit(*object);
          return 0;
        },
        const_cast<LibcRedirection*>(this));
  }

 private:
  // Some functions are in both parts; calls come to that of either. Where one part has it, a look into the other, which
  // needs that one, finds the same.
  void add(const LibcCall& call, std::span<void* const> parts) noexcept {
    void* before = nullptr;
    for (void* part : parts) {
      void* theirs = part != nullptr ? dlsym(part, call.name) : nullptr;
      if (call.version != nullptr) {
        void* now = theirs;
        theirs = part != nullptr ? dlvsym(part, call.name, call.version) : nullptr;
        if (theirs == now) continue;
      }
      if (theirs != nullptr && theirs != before) add(call, theirs);
      before = theirs;
    }
  }

  void add(const LibcCall& call, void* theirs) noexcept {
    assert(count_ < kMost);
    if (count_ == kMost) return;
    if (*call.theirs == nullptr) *call.theirs = theirs;
    marks_ |= mark_of(theirs);
    calls_[count_] = &call;
    theirs_[count_] = theirs;
    usual_[count_++] = call.own_calls ? usual_of(call.name, theirs) : theirs;
  }

  // Whose function a call of that name comes to without us.
  static void* usual_of(const char* name, void* theirs) noexcept {
    void* found = dlsym(RTLD_DEFAULT, name);
    if (found == theirs) return theirs;
    // A program that is linked to run at a fixed place has a stub of its own in place of the function's address.
    Dl_info object;
    ElfW(Sym)* symbol = nullptr;
    const bool known = dladdr1(found, &object, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) != 0;
    return known && symbol != nullptr && symbol->st_shndx == SHN_UNDEF ? theirs : found;
  }

  // Most words of most objects are told apart from all functions at a glance.
  static uint64_t mark_of(const void* function) noexcept {
    return uint64_t{1} << (reinterpret_cast<uintptr_t>(function) / 16 % 64);
  }

  const LibcCall* call_to(const void* theirs) const noexcept {
    if ((marks_ & mark_of(theirs)) == 0) return nullptr;
    for (size_t i = 0; i < count_; ++i) {
      if (theirs_[i] == theirs) return calls_[i];
    }
    return nullptr;
  }

  // The library of threads of a glibc before 2.34.
  static bool is_thread_library(const LoadedObject& symbols) noexcept {
    return symbols.find("__pthread_get_minstack") != nullptr && symbols.find("gnu_get_libc_version") == nullptr;
  }

  static bool is_libc(const LoadedObject& symbols) noexcept {
    return symbols.find("gnu_get_libc_version") != nullptr || is_thread_library(symbols);
  }

  static bool has_one_version(const LoadedObject& symbols, const char* name) noexcept {
    int versions = 0;
    symbols.for_each_of_name(name, [&](const ElfW(Sym)&) {
      ++versions;
      return false;
    });
    return versions == 1;
  }

  void visit(const dl_phdr_info& object) const noexcept {
    const LoadedObject symbols = object_of(object);
    if (protection(object, reinterpret_cast<uintptr_t>(calls_[0]->ours)) >= 0) {
      keep_own(object, symbols);
    } else if (is_libc(symbols)) {
      change_table(object, symbols);
    } else {
      symbols.for_each_taken([&](const char*, void** place) {
        const LibcCall* call = call_to(__atomic_load_n(place, __ATOMIC_RELAXED));
        if (call != nullptr) write_in(object, place, const_cast<void*>(call->ours));
      });
    }
  }

  // What it has not bound so far would be bound to ours otherwise.
  void keep_own(const dl_phdr_info& object, const LoadedObject& symbols) const noexcept {
    symbols.for_each_taken([&](const char* name, void** place) {
      for (size_t i = 0; i < count_; ++i) {
        const bool same = calls_[i]->own_calls && std::strcmp(calls_[i]->name, name) == 0;
        if (same && usual_[i] != nullptr) write_in(object, place, usual_[i]);
      }
    });
  }

  static int type_of(const ElfW(Sym) & symbol) noexcept { return symbol.st_info & 0xf; }
  static bool is_chosen(const ElfW(Sym) & symbol) noexcept { return type_of(symbol) == STT_GNU_IFUNC; }

  // Visits the entries of libc's table for the functions. One may have several versions, and those with other code have
  // other arguments.
  template <class Visit>
  void for_each_entry(const dl_phdr_info& libc, const LoadedObject& symbols, Visit&& visit) const noexcept {
    const bool is_of_threads = is_thread_library(symbols);
    for (size_t i = 0; i < count_; ++i) {
      // A library that stands before libc may look for libc's function at its first call. With ours in its place, a
      // call of the runtime's own would come back to the runtime.
      const LibcCall& call = *calls_[i];
      if (usual_[i] != theirs_[i]) continue;
      // Of some functions of libc, as system(), the library of threads has one that jumps there.
      const bool leads_there = is_of_threads && has_one_version(symbols, call.name);
      symbols.for_each_of_name(call.name, [&](const ElfW(Sym) & symbol) {
        const bool same = leads_there || reinterpret_cast<void*>(libc.dlpi_addr + symbol.st_value) == theirs_[i];
        const bool chosen = is_chosen(symbol) && leads_there && call.choose != nullptr;
        if (same && (type_of(symbol) == STT_FUNC || chosen)) visit(const_cast<ElfW(Sym)&>(symbol), call);
        return false;
      });
    }
  }

  // All at once, so that the table stays one mapping.
  void change_table(const dl_phdr_info& libc, const LoadedObject& symbols) const noexcept {
    uintptr_t begin = UINTPTR_MAX;
    uintptr_t end = 0;
    for_each_entry(libc, symbols, [&](const ElfW(Sym) & symbol, const LibcCall&) {
      begin = std::min(begin, page_of(reinterpret_cast<uintptr_t>(&symbol)));
      end = std::max(end, reinterpret_cast<uintptr_t>(&symbol + 1));
    });
    if (begin >= end) return;
    const int now = protection(libc, begin);
    auto* const table = reinterpret_cast<void*>(begin);
    if (now < 0 || mprotect(table, end - begin, PROT_READ | PROT_WRITE) != 0) return;
    for_each_entry(libc, symbols, [&](ElfW(Sym) & symbol, const LibcCall& call) {
      const auto ours =
          is_chosen(symbol) ? reinterpret_cast<uintptr_t>(call.choose) : reinterpret_cast<uintptr_t>(call.ours);
      // Addresses in the table count from where libc lies; the sum wraps.
      const ElfW(Addr) value = ours - libc.dlpi_addr;
      __atomic_store_n(&symbol.st_value, value, __ATOMIC_RELEASE);
    });
    mprotect(table, end - begin, now);
  }

  static constexpr size_t kMost = 64;
  const LibcCall* calls_[kMost] = {};
  void* theirs_[kMost] = {};
  size_t count_ = 0;
  uint64_t marks_ = 0;
  // Whose functions these are without us: libc's, or those of a library that stands before it.
  void* usual_[kMost] = {};
};

}  // namespace

void take_libc_calls(std::initializer_list<LibcCalls> groups) noexcept {
  const base::KeepErrno keep;
  const LibcRedirection redirection(groups);
  redirection.run();
  // Another thread may have looked into libc's table before, and have bound a word behind our visit.
  if (__libc_single_threaded == 0) redirection.run();
}

bool write_mapped(void** place, const void* value) noexcept { return write_somewhere(place, const_cast<void*>(value)); }
bool write_mapped(uint32_t* place, uint32_t value) noexcept { return write_somewhere(place, value); }

}  // namespace weft::platform
