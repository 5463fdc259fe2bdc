// SPDX-License-Identifier: Apache-2.0
#include "audit/spin_waits.h"

#include <array>
#include <climits>
#include <cstdint>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "audit/function_table.h"
#include "audit/needed.h"
#include "audit/program_headers.h"
#include "audit/room.h"
#include "audit/start.h"
#include "interpose/openblas.h"
#include "platform/loaded_object.h"
#include "platform/redirect.h"

#if defined(__x86_64__)

#include "audit/spin_patch.h"

// Where the runtime says what loops are to call, once it has started; null: it is not mapped. Written before the code
// of the loops may run, or after: a release, and the loops read it by plain loads, which acquire on x86-64.
extern "C" {
const void* weft_audit_spin_wait_place = nullptr;
void weft_audit_spin_wait();
void weft_audit_spin_lock();
}

// They keep all registers, as those do, and use no more of the stack than what the caller has kept free for them. The
// second one is for loops that try to take a lock.
#define WEFT_SPIN_WAIT(name, offset)                   \
  asm("  .text\n"                                      \
      "  .hidden weft_audit_spin_wait_place\n"         \
      "  .hidden " #name                               \
      "\n"                                             \
      "  .type " #name ", @function\n" #name           \
      ":\n"                                            \
      "  mov %rax, -8(%rsp)\n"                         \
      "  mov weft_audit_spin_wait_place(%rip), %rax\n" \
      "  test %rax, %rax\n"                            \
      "  je 1f\n"                                      \
      "  mov " #offset                                 \
      "(%rax), %rax\n"                                 \
      "  test %rax, %rax\n"                            \
      "  je 1f\n"                                      \
      "  mov %rax, -16(%rsp)\n"                        \
      "  mov -8(%rsp), %rax\n"                         \
      "  jmp *-16(%rsp)\n"                             \
      "1:\n"                                           \
      "  mov -8(%rsp), %rax\n"                         \
      "  pause\n"                                      \
      "  ret\n"                                        \
      "  .size " #name ", .-" #name "\n")
WEFT_SPIN_WAIT(weft_audit_spin_wait, 0);
WEFT_SPIN_WAIT(weft_audit_spin_lock, 8);

namespace weft::audit {

namespace {

// To look at more would be felt when a program starts: some 0.3 ms a megabyte.
constexpr ptrdiff_t kMostCode = 16 << 20;
constexpr size_t kMostLoops = 1024;
// For jumps into loops, again and again: some 0.2 ms a megabyte.
constexpr ptrdiff_t kMostSearched = 32 << 20;

// What is known of an object by its program headers.
struct Parts {
  AllCode code;
  const unsigned char* table = nullptr;
  size_t table_size = 0;
  bool is_other = true;     // what is mapped is another file
  bool may_change = false;  // some of its code may be written to, or may not be read
};

Parts parts_of(const link_map* object, const char* file) noexcept {
  Parts parts;
  const auto at = [object](ElfW(Addr) address) {
    return reinterpret_cast<const unsigned char*>(object->l_addr + address);
  };
  for_each_header(file, [&](const ElfW(Phdr) & header) {
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0) {
      parts.may_change |= header.p_flags != (PF_R | PF_X) || parts.code.count == AllCode::kMost;
      if (parts.may_change) return;
      parts.code.parts[parts.code.count++] = {at(header.p_vaddr), at(header.p_vaddr) + header.p_filesz};
    }
    // A program may have been started by the dynamic linker's name, a file may have been replaced.
    if (header.p_type == PT_DYNAMIC) {
      parts.is_other = at(header.p_vaddr) != reinterpret_cast<const unsigned char*>(object->l_ld);
    }
    if (header.p_type == PT_GNU_EH_FRAME) {
      parts.table = at(header.p_vaddr);
      parts.table_size = header.p_memsz;
    }
  });
  return parts;
}

// The addresses in its code are not final yet.
bool is_relocated_code(const link_map* object) noexcept {
  for (const ElfW(Dyn)* entry = object->l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_TEXTREL) return true;
    if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0) return true;
  }
  return false;
}

bool is_near(const unsigned char* a, const unsigned char* b) noexcept {
  constexpr ptrdiff_t kReach = 0x7f000000;
  return a - b < kReach && b - a < kReach;
}

// Memory near an object: the copies of its loops. It lies before the object's beginning, where the heap does not grow.
class Copies {
 public:
  // `begin`: of the object.
  explicit Copies(uintptr_t begin = 0) noexcept : object_(begin) {}

  bool map() noexcept {
    constexpr uintptr_t kApart = 1 << 20;
    const uintptr_t begin = object_;
    void* wish = begin >= 2 * kApart ? reinterpret_cast<void*>((begin - kApart) & ~uintptr_t{kPage - 1}) : nullptr;
    void* memory = mmap(wish, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    begin_ = static_cast<unsigned char*>(memory);
    write_entry(begin_, &weft_audit_spin_wait);
    write_entry(begin_ + kEntry, &weft_audit_spin_lock);
    used_ = 2 * kEntry;
    return true;
  }
  bool reaches(const Code& code) const noexcept { return is_near(begin_, code.begin) && is_near(begin_, code.end); }
  // null: no more fit in.
  unsigned char* add(const SpinPatch& patch) noexcept {
    if (kSize - used_ < SpinPatch::kMostSpace) return nullptr;
    unsigned char* copy = begin_ + used_;
    if (!patch.reaches_from(copy)) return nullptr;
    used_ += patch.write_copy(copy, patch.takes_lock() ? begin_ + kEntry : begin_);
    return copy;
  }
  bool finish() const noexcept { return mprotect(begin_, kSize, PROT_READ | PROT_EXEC) == 0; }
  void unmap() noexcept {
    if (begin_ != nullptr) munmap(begin_, kSize);
    begin_ = nullptr;
  }
  bool is_mapped() const noexcept { return begin_ != nullptr; }

 private:
  static constexpr size_t kEntry = 16;

  static void write_entry(unsigned char* place, void (*function)()) noexcept {
    // jmp *2(%rip); the function
    constexpr unsigned char kJump[] = {0xff, 0x25, 2, 0, 0, 0};
    const auto entry = reinterpret_cast<uintptr_t>(function);
    std::memcpy(place, kJump, sizeof kJump);
    std::memcpy(place + 8, &entry, sizeof entry);
  }

  static constexpr uintptr_t kPage = 4096;
  static constexpr size_t kSize = kMostLoops * 64;

  uintptr_t object_;
  unsigned char* begin_ = nullptr;
  size_t used_ = 0;
};

// Of objects that may be unmapped. Under the dynamic linker's lock.
struct CopiesOfObject {
  uintptr_t mark = 0;
  Copies copies;
};
std::array<CopiesOfObject, 64> g_kept;
bool g_ends = false;

uintptr_t mark_of(const link_map* object) noexcept { return reinterpret_cast<uintptr_t>(object->l_ld); }

// What becomes of the loops of an object, in the order in which they stand. The record is large for a stack.
struct Changes {
  struct Change {
    unsigned char* place;
    unsigned char* copy;
  };

  static Changes* make() noexcept {
    void* memory = mmap(nullptr, sizeof(Changes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? static_cast<Changes*>(memory) : nullptr;
  }
  void end() noexcept { munmap(this, sizeof *this); }

  void add(unsigned char* place, unsigned char* copy) noexcept { all[count++] = {place, copy}; }

  // Pages that follow each other at once.
  void carry_out() const noexcept {
    const auto page = static_cast<uintptr_t>(page_size());
    const auto begin_of = [&](size_t i) { return reinterpret_cast<uintptr_t>(all[i].place) & ~(page - 1); };
    const auto end_of = [&](size_t i) {
      return (reinterpret_cast<uintptr_t>(all[i].place) + SpinPatch::kJump + page - 1) & ~(page - 1);
    };
    for (size_t first = 0, next = 0; first < count; first = next) {
      for (next = first + 1; next < count && begin_of(next) <= end_of(next - 1); ++next) continue;
      auto* const pages = reinterpret_cast<void*>(begin_of(first));
      const size_t size = end_of(next - 1) - begin_of(first);
      if (mprotect(pages, size, PROT_READ | PROT_WRITE) == 0) {
        for (size_t i = first; i < next; ++i) SpinPatch::write_jump(all[i].place, all[i].copy);
      }
      mprotect(pages, size, PROT_READ | PROT_EXEC);
    }
  }

  size_t count;
  Change all[kMostLoops];
};

// What is looked at of the code: all of it, or where the waits of a library are that is too large for that.
Code part_to_look_at(const link_map* object, const Code& code) noexcept {
  if (code.end - code.begin <= kMostCode) return code;
  constexpr ptrdiff_t kAround = 64 << 10;  // functions that are not exported stand beside those that are
  const interpose::WaitingFunctions known(platform::LoadedObject(object->l_addr, object->l_ld));
  Code part{.begin = known.begin - kAround, .end = known.end + kAround};
  if (known.begin == nullptr || known.begin < code.begin || known.end >= code.end) return {};
  if (part.begin < code.begin) part.begin = code.begin;
  if (part.end > code.end) part.end = code.end;
  return part.end - part.begin <= kMostCode ? part : Code{};
}

// Fills in what becomes of the loops; the copies are mapped where there are some.
void find_loops(const AllCode& code, const Code& part, const FunctionTable& functions, Copies& copies,
                Changes& changes) noexcept {
  bool has_room = true;
  const unsigned char* last_end = nullptr;  // of the last loop that is changed
  ptrdiff_t may_search = kMostSearched;
  for_each_spin_loop(part.begin, part.end, [&](const SpinLoop& loop) {
    if (!has_room || changes.count == kMostLoops) return;
    // Loops may share instructions. A copy goes on behind its loop, where the other one may change.
    if (loop.begin < last_end) return;
    const FunctionRange range = functions.of(loop.begin);
    if (range.begin == nullptr || range.begin < part.begin || range.end > part.end) return;
    const SpinPatch patch(loop, function_around(loop, {range.begin, range.end}), code, may_search);
    if (!patch.is_possible()) return;
    has_room = copies.is_mapped() || copies.map();
    unsigned char* copy = has_room && copies.reaches(part) ? copies.add(patch) : nullptr;
    has_room = copy != nullptr;
    if (!has_room) return;
    changes.add(const_cast<unsigned char*>(patch.place()), copy);
    last_end = loop.end();
  });
}

void change_loops(const link_map* object, const char* file) noexcept {
  const Parts parts = parts_of(object, file);
  if (parts.is_other || parts.may_change || is_relocated_code(object)) return;
  CopiesOfObject* room = nullptr;
  for (CopiesOfObject& kept : g_kept) {
    if (kept.mark == 0) room = &kept;
  }
  if (room == nullptr) return;
  Changes* changes = Changes::make();
  if (changes == nullptr) return;
  // A program at fixed addresses is not moved.
  const bool is_moved = object->l_addr != 0 || parts.code.count == 0;
  Copies copies(is_moved ? object->l_addr : reinterpret_cast<uintptr_t>(parts.code.parts[0].begin));
  const FunctionTable functions(parts.table, parts.table_size);
  for (size_t i = 0; i < parts.code.count; ++i) {
    const Code part = part_to_look_at(object, parts.code.parts[i]);
    if (part.begin != nullptr) find_loops(parts.code, part, functions, copies, *changes);
  }
  if (changes->count > 0 && platform::may_change_code(file) && copies.finish()) {
    changes->carry_out();
    *room = {mark_of(object), copies};
  } else {
    copies.unmap();
  }
  changes->end();
}

}  // namespace

void look_for_spin_waits(const link_map* object, const char* runtime) noexcept {
  if (std::strcmp(object->l_name, runtime) == 0) {
    const platform::LoadedObject seen(object->l_addr, object->l_ld);
    const auto give = reinterpret_cast<const void* (*)()>(seen.find("weft_spin_wait_place"));
    if (give != nullptr) __atomic_store_n(&weft_audit_spin_wait_place, give(), __ATOMIC_RELEASE);
    return;
  }
  if (!needs_runtime(object)) return;
  char path[PATH_MAX];
  const char* file = object->l_name[0] != '\0' ? object->l_name : program_file(path, sizeof path);
  if (file != nullptr) change_loops(object, file);
}

void forget_spin_waits(const link_map* object, const char* runtime) noexcept {
  if (std::strcmp(object->l_name, runtime) == 0) {
    __atomic_store_n(&weft_audit_spin_wait_place, nullptr, __ATOMIC_RELEASE);
    return;
  }
  // Its threads may go on while the program ends.
  g_ends |= object->l_name[0] == '\0';
  for (CopiesOfObject& kept : g_kept) {
    if (g_ends || kept.mark != mark_of(object)) continue;
    kept.copies.unmap();
    kept.mark = 0;
  }
}

}  // namespace weft::audit

#else

namespace weft::audit {

void look_for_spin_waits(const link_map*, const char*) noexcept {}
void forget_spin_waits(const link_map*, const char*) noexcept {}

}  // namespace weft::audit

#endif
