// SPDX-License-Identifier: Apache-2.0
// The asking code: which library the code at a return address belongs to, of those that are answered in their own way,
// also where it is linked into the program (embedded_code.h). A thread remembers the mappings that it has been called
// from last; a name of a library is resolved once per process. So no call but an object's first looks at the file
// system.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::openmp {

// A call of a routine: where it returns to, and where its frame lies.
struct Call {
  const void* caller;
  const void* frame;
};

inline uint64_t page_of(const void* address) noexcept {
  constexpr unsigned kPageBits = 12;
  return reinterpret_cast<uintptr_t>(address) >> kPageBits;
}

enum class Library : uint8_t {
  other,
  openblas,  // an OpenBLAS on OpenMP (nested_blas.h)
  mkl,       // the function of MKL that asks for a number of threads (mkl_threads.h)
};

// A mapping or a part of it, and what it belongs to, in one word: a handler of signals that asks too never finds half
// of one.
struct Mapping {
  static constexpr unsigned kSizeBits = 18;
  uint64_t first_page : 44;
  uint64_t pages : kSizeBits;  // 0: none
  uint64_t owner_bits : 2;

  bool holds(uint64_t page) const noexcept { return page - first_page < pages; }
  Library owner() const noexcept { return static_cast<Library>(owner_bits); }
};

// Those that the thread remembers. BLAS, LAPACK and OpenBLAS are three in Debian, and the program itself may ask.
// Relaxed: of the thread alone.
inline constexpr size_t kRemembered = 4;
inline constinit thread_local std::array<std::atomic<Mapping>, kRemembered> t_mappings{};
static_assert(std::atomic<Mapping>::is_always_lock_free);

// How often the thread still believes them. Nobody tells when a library is unloaded and another one takes its place; so
// a wrong answer, which is at worst an ordinary one, lasts for this many questions.
inline constexpr int kBelieved = 1024;
inline constinit thread_local int t_believed = kBelieved;

// Whether a library has been seen that may open regions without a question first (OwnCount). Set once for all; relaxed:
// its own constructor asks, which comes before.
inline constinit std::atomic<bool> g_counts_itself{false};

// The members that the next region of the library at `address` must have, since the program has told the library; 0:
// the library asks.
int own_count(const void* address) noexcept;

// The function of MKL that asks, where `address` is in it: mkl_serv_domain_get_max_threads(domain). Null: there is
// none.
using AskMkl = int (*)(int domain);
AskMkl mkl_question(const void* address) noexcept;

// The rest of library_of(): a mapping that the thread does not remember, or believes no longer.
Library look_up(const void* address) noexcept;

inline Library library_of(const void* address) noexcept {
  if (--t_believed > 0) {
    const uint64_t page = page_of(address);
    for (const std::atomic<Mapping>& kept : t_mappings) {
      const Mapping mapping = kept.load(std::memory_order_relaxed);
      if (mapping.holds(page)) return mapping.owner();
    }
  }
  return look_up(address);
}

}  // namespace weft::openmp
