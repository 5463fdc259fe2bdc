// SPDX-License-Identifier: Apache-2.0
// The parts of an object that are mapped from its file, as its program headers say. Between them there may be holes,
// which nobody can read. Needs nothing of libc, so that the audit library may use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <link.h>
#include <sys/mman.h>

namespace weft::platform {

struct Segment {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  int protection = PROT_NONE;

  bool is_code() const noexcept { return protection == (PROT_READ | PROT_EXEC); }
  bool holds(const void* address, size_t size) const noexcept {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return at >= begin && at < end && size <= end - at;
  }
};

class Segments {
 public:
  Segments() = default;
  explicit Segments(const dl_phdr_info& info) noexcept {
    for (int i = 0; i < info.dlpi_phnum; ++i) add(info.dlpi_addr, info.dlpi_phdr[i]);
  }

  // `base`: what is added to the addresses in the file. Other headers than those of segments are passed over.
  void add(uintptr_t base, const ElfW(Phdr) & header) noexcept {
    if (header.p_type != PT_LOAD || count_ == parts_.size()) return;
    const auto protection = [&header](ElfW(Word) flag, int allowed) {
      return (header.p_flags & flag) != 0 ? allowed : PROT_NONE;
    };
    parts_[count_++] = {
        .begin = base + header.p_vaddr,
        .end = base + header.p_vaddr + header.p_filesz,
        .protection = protection(PF_R, PROT_READ) | protection(PF_W, PROT_WRITE) | protection(PF_X, PROT_EXEC)};
  }

  // The one that holds all of these bytes; an empty one: there is none.
  Segment of(const void* address, size_t size) const noexcept {
    for (size_t i = 0; i < count_; ++i) {
      if (parts_[i].holds(address, size)) return parts_[i];
    }
    return {};
  }

 private:
  std::array<Segment, 32> parts_{};
  size_t count_ = 0;
};

}  // namespace weft::platform
