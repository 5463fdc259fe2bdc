// SPDX-License-Identifier: Apache-2.0
// Changes words of a segment that processes share, for as long as it is told to:
//
//     corrupt PATH SECONDS SEED
//
// Half of the changes go to bytes anywhere, half to a whole word of what is in use: the header, the first slots, the
// first records. A word becomes a value at an edge, another word of the segment, or itself with a bit changed.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/layout.h"

namespace {

using namespace weft::node;
using Clock = std::chrono::steady_clock;

constexpr size_t kSlotsInUse = 16;
constexpr size_t kRecordsInUse = 8;

class Corrupter {
 public:
  explicit Corrupter(unsigned seed) : random_(seed) {}

  void change(unsigned char* bytes) {
    if (below(2) == 0) {
      bytes[below(sizeof(Layout))] = static_cast<unsigned char>(random_());
      return;
    }
    const size_t width = below(2) == 0 ? sizeof(uint32_t) : sizeof(uint64_t);
    const size_t at = place_in_use() / width * width;
    uint64_t word = 0;
    std::memcpy(&word, bytes + at, width);
    word = value(bytes, word, width);
    std::memcpy(bytes + at, &word, width);
  }

 private:
  size_t below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random_); }

  // Each word is as likely as the next: else the few that send everybody away would be all that is hit.
  size_t place_in_use() {
    constexpr size_t kSlotBytes = kSlotsInUse * sizeof(Owner);
    const size_t at = below(sizeof(Header) + kSlotBytes + kRecordsInUse * sizeof(Record));
    if (at < sizeof(Header)) return offsetof(Layout, header) + at;
    if (at < sizeof(Header) + kSlotBytes) return offsetof(Layout, slots) + at - sizeof(Header);
    return offsetof(Layout, records) + at - sizeof(Header) - kSlotBytes;
  }

  uint64_t value(const unsigned char* bytes, uint64_t old, size_t width) {
    constexpr uint64_t kEdges[] = {0, 1, 2, ~uint64_t{0}, 0x7fffffff, 0x80000000, 0x7fffffffffffffff, 0x40000000};
    switch (below(4)) {
      case 0: return old ^ uint64_t { 1 } << below(8 * width);
      case 1: return uint64_t{random_()} << 32 | random_();
      case 2: {
        uint64_t other = 0;
        std::memcpy(&other, bytes + place_in_use() / width * width, width);
        return other;
      }
      default: return kEdges[below(std::size(kEdges))];
    }
  }

  std::mt19937 random_;
};

// The file may be removed and made again meanwhile.
unsigned char* map(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat found{};
  void* memory = MAP_FAILED;
  if (fstat(file, &found) == 0 && static_cast<size_t>(found.st_size) == sizeof(Layout)) {
    memory = mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<unsigned char*>(memory);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const auto end = Clock::now() + std::chrono::duration<double>(std::atof(arguments[2]));
  Corrupter corrupter(static_cast<unsigned>(std::atoi(arguments[3])));
  constexpr int kChangesOfOne = 50;
  long changes = 0;
  while (Clock::now() < end) {
    unsigned char* bytes = map(arguments[1]);
    for (int i = 0; i < kChangesOfOne; ++i) {
      if (bytes != nullptr) corrupter.change(bytes), ++changes;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    if (bytes != nullptr) munmap(bytes, sizeof(Layout));
  }
  std::printf("%ld\n", changes);
  return 0;
}
