// SPDX-License-Identifier: Apache-2.0
// What a collector has left, copied out of its file. The file belongs to a program that may have written anywhere:
// whatever stands in it is bounded here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "numa/record/layout.h"

namespace weft::tools::numa {

struct RecordedSite {
  uint64_t calls = 0;
  uint64_t bytes = 0;
  std::vector<uint64_t> frames;
};

struct RecordedArray {
  uint32_t number = 0;
  bool live = false;
  uint64_t begin = 0;
  uint64_t bytes = 0;
  int64_t born = 0;
  int64_t died = 0;
  uint32_t site = 0;
  int thread = 0;
  weft::numa::How how = weft::numa::How::malloc;
  int policy = -1;
  uint32_t policy_nodes = 0;
  // Of the pages of place_of(); -1: nobody has touched it. Empty: not known.
  std::vector<int> node;
};

struct RecordedTouch {
  int64_t time = 0;
  uint32_t array = 0;
  double position = 0;  // 0 to 1
  int thread = 0;
  int node = 0;
  int cpu = 0;
  uint32_t site = 0;
  weft::numa::Access access = weft::numa::Access::unknown;
  bool first = false;
  uint64_t code = 0;  // the instruction; 0: a system call
};

struct Recorded {
  std::string file;
  int pid = 0;
  uint64_t page_size = 4096;
  int64_t began = 0;
  int64_t ended = 0;  // 0: unseen
  weft::numa::Touching touching = weft::numa::Touching::off;
  weft::numa::Stop stop = weft::numa::Stop::none;
  uint64_t least_size = 0;
  uint64_t allocated = 0;  // arrays, ever
  uint64_t lost = 0;
  uint64_t left_out = 0;  // blocks that there was no time for
  bool full = false;      // the disk had no room for more
  uint64_t rounds = 0;
  uint64_t paused = 0;  // of them
  int64_t spent = 0;
  int sampler = 0;
  int query_error = 0;
  std::vector<RecordedSite> sites;
  std::vector<RecordedArray> arrays;
  std::vector<RecordedTouch> touches;
};

// How much of a record is read.
enum class Depth { header, arrays, all };

// False when the file is no record, or not yet. The file has holes, which are not filled by this.
bool read_record(const std::string& file, Recorded& recorded, Depth depth = Depth::all);

// The same of what is in memory already.
bool read_record(const weft::numa::Record& record, Recorded& recorded, Depth depth = Depth::all);

// Tells the collector that others reach into the memory of its process.
void note_peers(const std::string& file);

}  // namespace weft::tools::numa
