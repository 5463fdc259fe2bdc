// SPDX-License-Identifier: Apache-2.0
#include "numa/recorded.h"

#include <algorithm>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::tools::numa {

namespace {

using weft::numa::ArrayState;
using weft::numa::Record;

RecordedArray copy(const weft::numa::Array& array, uint64_t page_size) {
  RecordedArray copied;
  copied.number = array.number.load(std::memory_order_relaxed);
  copied.live = array.state.load(std::memory_order_relaxed) == ArrayState::live;
  copied.begin = array.begin;
  copied.bytes = array.bytes;
  copied.born = array.born;
  copied.died = array.died;
  copied.site = array.site;
  copied.thread = array.thread;
  copied.how = array.how;
  copied.policy = array.policy;
  copied.policy_nodes = array.policy_nodes;
  const uint64_t pages = copied.bytes / page_size + 1;
  const uint64_t placed = std::min<uint64_t>({array.placed, weft::numa::kPlaces, pages});
  for (uint64_t i = 0; i < placed; ++i) copied.node.push_back(std::clamp<int>(array.node[i], -1, 1023));
  return copied;
}

RecordedTouch copy(const weft::numa::Touch& touch) {
  return {
      touch.time, touch.array,  touch.position * 0x1p-32, touch.thread, std::clamp<int>(touch.node, 0, 1023), touch.cpu,
      touch.site, touch.access, touch.first != 0,         touch.code};
}

}  // namespace

bool read_record(const Record& record, Recorded& recorded) {
  const weft::numa::Header& header = record.header;
  if (header.ready.load(std::memory_order_acquire) != 1 || header.magic != weft::numa::kMagic) return false;
  if (header.layout != weft::numa::kLayout) return false;
  constexpr uint64_t kLeastPage = 512;
  recorded.pid = header.pid;
  recorded.page_size = std::max<uint64_t>(header.page_size, kLeastPage);
  recorded.began = header.began;
  recorded.ended = header.ended.load(std::memory_order_relaxed);
  recorded.touching = header.touching;
  recorded.stop = header.stop.load(std::memory_order_relaxed);
  recorded.least_size = header.least_size;
  recorded.allocated = header.arrays.load(std::memory_order_relaxed);
  recorded.lost = header.lost.load(std::memory_order_relaxed);
  recorded.rounds = header.rounds.load(std::memory_order_relaxed);
  recorded.spent = header.spent.load(std::memory_order_relaxed);
  recorded.sampler = header.sampler;
  recorded.query_error = header.query_error;
  const uint32_t sites = std::min(header.sites.load(std::memory_order_acquire), weft::numa::kSites);
  for (uint32_t i = 0; i < sites; ++i) {
    const weft::numa::Site& site = record.site[i];
    RecordedSite copied{site.calls.load(std::memory_order_relaxed), site.bytes.load(std::memory_order_relaxed), {}};
    copied.frames.assign(site.frame, site.frame + std::min(site.frames, weft::numa::kFrames));
    recorded.sites.push_back(std::move(copied));
  }
  for (const weft::numa::Array& array : record.array) {
    const ArrayState state = array.state.load(std::memory_order_acquire);
    if (state != ArrayState::live && state != ArrayState::freed) continue;
    RecordedArray found = copy(array, recorded.page_size);
    if (found.bytes > 0 && found.site < sites) recorded.arrays.push_back(std::move(found));
  }
  const uint32_t touches = std::min(header.touches.load(std::memory_order_relaxed), weft::numa::kTouches);
  for (uint32_t i = 0; i < touches; ++i) {
    const weft::numa::Touch& touch = record.touch[i];
    if (__atomic_load_n(&touch.time, __ATOMIC_ACQUIRE) != 0) recorded.touches.push_back(copy(touch));
  }
  return true;
}

bool read_record(const std::string& file, Recorded& recorded) {
  const int opened = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) return false;
  struct stat status{};
  void* mapped = MAP_FAILED;
  if (fstat(opened, &status) == 0 && status.st_size >= static_cast<off_t>(sizeof(Record))) {
    mapped = mmap(nullptr, sizeof(Record), PROT_READ, MAP_SHARED, opened, 0);
  }
  close(opened);
  if (mapped == MAP_FAILED) return false;
  recorded.file = file;
  const bool good = read_record(*static_cast<const Record*>(mapped), recorded);
  munmap(mapped, sizeof(Record));
  return good;
}

}  // namespace weft::tools::numa
