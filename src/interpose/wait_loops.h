// SPDX-License-Identifier: Apache-2.0
// The loops in which jobs of OpenBLAS wait for each other. They are plain loops, which cannot be intercepted. So each
// loop is changed to call a function: then jobs that wait for each other can run on one thread, by turns
// (interpose/fibers.h). Two kinds of loops are known, by all of their instructions, and each function must have loops
// of its own. In a copy with anything else waits are not seen. It needs nothing of libc but system calls, so that the
// audit library may use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

#include "interpose/loop_owners.h"
#include "interpose/openblas.h"
#include "platform/segments.h"

namespace weft::interpose {

// Which kinds of jobs call the function when they wait, as bits. The audit library writes what it has found behind the
// redirection of the copy's function that begins lists.
enum SeenWaits : uint32_t {
  kArraysSeen = 1,  // those that come as an array: products and what is made of them
  kListsSeen = 2,  // those that come as a list, beside which their creator runs: the LU factorization
  kLookedFor = 4,
};

#if defined(__x86_64__)

// To be used only while no thread can be in the code of the object.
class WaitLoops {
 public:
  // Those of `segments` are the object's.
  explicit WaitLoops(const platform::Segments& segments) noexcept : segments_(segments) {}

  // A function of the object.
  void add(Known what, void* function, size_t size) noexcept {
    if (what == Known::product) products_.add(static_cast<Byte*>(function), size, segments_);
    if (what == Known::factorization) factorizations_.add(static_cast<Byte*>(function), size, segments_);
  }

  // Makes the loops call `function`, which keeps all registers. Returns which waits call it from now on.
  uint32_t call(const void* function) noexcept {
    void* page = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return 0;
    page_ = static_cast<Byte*>(page);
    void* memory = mmap(nullptr, kMostNops * sizeof(Byte*), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) nops_ = static_cast<Byte**>(memory);
    write_entry(function);
    find_in_factorizations();
    const bool products = near(products_) && products_are_known();
    const bool factorizations = near(factorizations_) && factorizations_are_known();
    if (factorizations) copy_factorizations();
    uint32_t seen = 0;
    if (mprotect(page_, kPageSize, PROT_READ | PROT_EXEC) == 0) {
      if (products && change(products_, [this] { patch_products(); })) seen |= kArraysSeen;
      if (factorizations && change(factorizations_, [this] { patch_factorizations(); })) seen |= kListsSeen;
    }
    if (nops_ != nullptr) munmap(nops_, kMostNops * sizeof(Byte*));
    if (seen == 0) {
      give_back(page_);
      page_ = nullptr;
    }
    return seen;
  }

  // What the loops call through, until nobody can be in the code of the object any more; null: nothing.
  void* page() const noexcept { return page_; }
  static void give_back(void* page) noexcept {
    if (page != nullptr) munmap(page, kPageSize);
  }

 private:
  using Byte = LoopOwners::Byte;

  static constexpr size_t kPageSize = 4096;
  // A job of a product waits before it packs its blocks anew, for those of others, and at its end.
  static constexpr int kLeastOfAProduct = 3;
  static constexpr int kMostOfAProduct = 64;
  // In the code of each LU factorization: one of its creator, three of its jobs. Most compilers make two of the last.
  static constexpr int kLeastOfADriver = 4;
  static constexpr int kMostOfADriver = 5;
  static constexpr int kMostDrivers = 8;
  static constexpr size_t kNops = 8;
  static constexpr size_t kMostNops = 8192;  // loops of products; there are some 1000
  static constexpr Byte kNop = 0x90;

  bool near(const LoopOwners& functions) const noexcept {
    constexpr intptr_t kReach = 0x7fff0000;
    const auto fits = [this](const Byte* at) {
      const intptr_t distance = reinterpret_cast<intptr_t>(at) - reinterpret_cast<intptr_t>(page_);
      return distance < kReach && -distance < kReach;
    };
    return functions.size() > 0 && fits(functions.begin()) && fits(functions.end());
  }

  template <class Patch>
  static bool change(const LoopOwners& functions, Patch&& patch) noexcept {
    const auto size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t begin = reinterpret_cast<uintptr_t>(functions.begin()) & ~(size - 1);
    const uintptr_t end = (reinterpret_cast<uintptr_t>(functions.end()) + size - 1) & ~(size - 1);
    const auto protect = [&](int protection) {
      return mprotect(reinterpret_cast<void*>(begin), end - begin, protection) == 0;
    };
    // One that fails may have changed some of the pages.
    const bool may = protect(PROT_READ | PROT_WRITE);
    if (may) patch();
    protect(PROT_READ | PROT_EXEC);
    return may;
  }

  // ---- writing ----

  static void put_distance(Byte* at, const Byte* target) noexcept {
    const auto distance = static_cast<int32_t>(target - (at + 4));
    __builtin_memcpy(at, &distance, 4);
  }
  // jmp *2(%rip); the function
  void write_entry(const void* function) noexcept {
    constexpr Byte kJump[] = {0xff, 0x25, 2, 0, 0, 0};
    __builtin_memcpy(page_, kJump, sizeof kJump);
    __builtin_memcpy(page_ + 8, &function, 8);
    used_ = 16;
  }
  void write_call(Byte* at) const noexcept {
    at[0] = 0xe8;
    put_distance(at + 1, page_);
  }

  static void write_jump(Byte* at, const Byte* target) noexcept {
    at[0] = 0xe9;
    put_distance(at + 1, target);
  }

  // ---- products: eight nops, a look, and back to the nops ----

  static bool is_nops(const Byte* at) noexcept {
    uint64_t word;
    __builtin_memcpy(&word, at, kNops);
    return word == 0x9090909090909090;
  }
  // The conditional jump back, a load and a comparison behind the nops.
  static bool goes_back(const Byte* nops) noexcept {
    constexpr int kLook = 24;
    for (const Byte* at = nops + kNops; at < nops + kNops + kLook; ++at) {
      int32_t distance;
      __builtin_memcpy(&distance, at + 2, 4);
      const bool is_short = (at[0] & 0xfe) == 0x74 && at + 2 + static_cast<int8_t>(at[1]) == nops;
      const bool is_long = at[0] == 0x0f && (at[1] & 0xfe) == 0x84 && at + 6 + distance == nops;
      if (is_short || is_long) return true;
    }
    return false;
  }
  // Visits each run of at least eight nops by its last eight: one more may stand before, for alignment.
  template <class Visit>
  static void for_each_nops(const LoopOwners& functions, Visit&& visit) noexcept {
    const Byte* end = functions.end();
    for (Byte* at = functions.begin(); at + kNops + 32 < end;) {
      if (at[kNops - 1] != kNop) {
        at += kNops;
      } else if (!is_nops(at)) {
        ++at;
      } else {
        while (at[kNops] == kNop) ++at;
        visit(at);
        at += kNops;
      }
    }
  }
  // Near the products stand other functions, which have nops for waits of another kind.
  bool products_are_known() noexcept {
    for_each_nops(products_, [this](Byte* nops) {
      if (goes_back(nops)) {
        products_.count(nops);
        if (nops_count_ < kMostNops && nops_ != nullptr) nops_[nops_count_] = nops;
        ++nops_count_;
      } else {
        products_.spoil(nops);
      }
    });
    return nops_ != nullptr && nops_count_ <= kMostNops && products_.each_has(kLeastOfAProduct, kMostOfAProduct);
  }
  void patch_products() const noexcept {
    for (size_t i = 0; i < nops_count_; ++i) write_call(nops_[i]);
  }

  // ---- factorizations: a load, a test, and back to the load ----

  // The length of `mov` from memory to a register of 64 bits, which may stand elsewhere as well; 0: it is none.
  static int length_of_load(const Byte* at, int& into) noexcept {
    if ((at[0] & 0xf8) != 0x48 || at[1] != 0x8b) return 0;
    const int mode = at[2] >> 6;
    const int base = at[2] & 7;
    into = (at[2] >> 3 & 7) | (at[0] & 4) << 1;
    const bool relative_to_code = mode == 0 && base == 5;
    if (mode == 3 || relative_to_code) return 0;
    const bool has_index = base == 4;
    const bool no_base = has_index && mode == 0 && (at[3] & 7) == 5;
    constexpr int kDisplacement[] = {0, 1, 4};
    return 3 + (has_index ? 1 : 0) + (no_base ? 4 : kDisplacement[mode]);
  }
  static bool tests(const Byte* at, int which) noexcept {
    const int first = (at[2] >> 3 & 7) | (at[0] & 4) << 1;
    const int second = (at[2] & 7) | (at[0] & 1) << 3;
    return (at[0] & 0xf8) == 0x48 && at[1] == 0x85 && at[2] >> 6 == 3 && first == which && second == which;
  }
  struct Loop {
    Byte* begin;
    Byte* test;  // of three bytes, behind the load; then the jump, of two
    Byte* copy;
  };
  static constexpr int kTest = 3;
  static constexpr int kTestAndJump = kTest + 2;
  static bool is_loop(Byte* at, Loop& loop) noexcept {
    int into = 0;
    const int load = length_of_load(at, into);
    if (load == 0 || !tests(at + load, into)) return false;
    loop = {.begin = at, .test = at + load, .copy = nullptr};
    const Byte* jump = loop.test + kTest;
    return (jump[0] & 0xfe) == 0x74 && jump + 2 + static_cast<int8_t>(jump[1]) == at;
  }
  // The same wait, written as a comparison of memory with 0: some compiler might do so.
  static bool is_other_loop(const Byte* at) noexcept {
    int into = 0;
    if (at[1] != 0x83 || (at[2] >> 3 & 7) != 7) return false;
    const Byte as_load[] = {at[0], 0x8b, at[2], at[3]};
    const int length = length_of_load(as_load, into);
    if (length == 0 || at[length] != 0) return false;
    const Byte* jump = at + length + 1;
    return (jump[0] & 0xfe) == 0x74 && jump + 2 + static_cast<int8_t>(jump[1]) == at;
  }
  void find_in_factorizations() noexcept {
    const Byte* end = factorizations_.end();
    for (Byte* at = factorizations_.begin(); at != nullptr && at + 32 < end; ++at) {
      if ((at[0] & 0xf8) != 0x48) continue;  // both begin with the prefix for 64 bits
      if (is_other_loop(at)) factorizations_.spoil(at);
      if (!is_loop(at, loops_[static_cast<size_t>(found_)])) continue;
      factorizations_.count(at);
      if (++found_ == static_cast<int>(loops_.size()) - 1) return;
    }
  }
  bool factorizations_are_known() const noexcept {
    for (int loops = kLeastOfADriver; loops <= kMostOfADriver; ++loops) {
      if (found_ == loops * factorizations_.size() && factorizations_.each_has(loops, loops)) return true;
    }
    return false;
  }
  // The ends of the loops move to the page, with a call in each. The loads stay, and a jump to the copy is as long as
  // what it replaces, so that loops may be entered at the load and at the test.
  void copy_factorizations() noexcept {
    for (int i = 0; i < found_; ++i) {
      Loop& loop = loops_[static_cast<size_t>(i)];
      loop.copy = page_ + used_;
      __builtin_memcpy(loop.copy, loop.test, kTest);
      Byte* at = loop.copy + kTest;
      at[0] = 0x0f;  // the contrary of the jump back, to behind the loop
      at[1] = static_cast<Byte>((loop.test[kTest] ^ 1) + 0x10);
      put_distance(at + 2, loop.test + kTestAndJump);
      write_call(at + 6);
      write_jump(at + 11, loop.begin);
      used_ += static_cast<size_t>(at + 16 - loop.copy);
    }
  }
  void patch_factorizations() const noexcept {
    for (int i = 0; i < found_; ++i) {
      const Loop& loop = loops_[static_cast<size_t>(i)];
      write_jump(loop.test, loop.copy);
    }
  }

  const platform::Segments& segments_;
  LoopOwners products_;
  LoopOwners factorizations_;
  std::array<Loop, kMostOfADriver * kMostDrivers + 2> loops_;
  int found_ = 0;
  Byte** nops_ = nullptr;  // the loops of products
  size_t nops_count_ = 0;
  Byte* page_ = nullptr;
  size_t used_ = 0;
};

#endif

}  // namespace weft::interpose
