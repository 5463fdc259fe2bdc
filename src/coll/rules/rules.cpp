// SPDX-License-Identifier: Apache-2.0
#include "coll/rules/rules.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "base/message.h"
#include "base/scanner.h"

namespace weft::coll {

bool Choices::any() const noexcept {
  for (const Lines& lines : lines_) {
    if (lines.count == 0 || lines.from[0] > 0 || lines.used != 0) return true;
  }
  return false;
}

bool Choices::add(Operation operation, uint64_t bytes, bool use) noexcept {
  Lines& lines = lines_[static_cast<int>(operation)];
  int at = 0;
  while (at < lines.count && lines.from[at] < bytes) ++at;
  if (at == lines.count || lines.from[at] != bytes) {
    if (lines.count == kMost) return false;
    for (int i = lines.count; i > at; --i) lines.from[i] = lines.from[i - 1];
    const uint32_t before = (1U << at) - 1;
    lines.used = (lines.used & before) | (lines.used & ~before) << 1;
    lines.from[at] = bytes;
    ++lines.count;
  }
  const uint32_t bit = 1U << at;
  lines.used = use ? lines.used | bit : lines.used & ~bit;
  return true;
}

namespace {

constexpr char kHeader[] = "# weft collectives 1";

struct Line {
  Operation operation;
  long long ranks;
  long long bytes;
  bool use;
};

// Reads a line. Returns what is wrong with it; null: nothing.
const char* parse(const char* text, Line* line) noexcept {
  base::Scanner in(text);
  int operation = 0;
  while (operation < kOperations && !in.word(kOperationNames[operation])) ++operation;
  if (operation == kOperations) return "barrier, bcast, reduce, allreduce, allgather or alltoall is wanted first";
  line->operation = static_cast<Operation>(operation);
  if (!in.number(2, INT_MAX, &line->ranks)) return "a number of ranks from 2 on is wanted behind the operation";
  if (!in.number(0, LLONG_MAX, &line->bytes)) return "a number of bytes is wanted behind the ranks";
  line->use = in.word("weft");
  if (!line->use && !in.word("mpi")) return "weft or mpi is wanted behind the bytes";
  return in.at_end() ? nullptr : "there is something behind weft or mpi";
}

// Reads line by line, and keeps for each operation the lines whose number of ranks is the greatest that is not above
// the group's.
class Reader {
 public:
  explicit Reader(int ranks) noexcept : ranks_(ranks) {}

  const char* read(char* text) noexcept {
    char* end = text + std::strlen(text);
    while (end > text && (end[-1] == '\n' || end[-1] == '\r')) *--end = '\0';
    ++number_;
    if (number_ == 1) return std::strcmp(text, kHeader) == 0 ? nullptr : "\"# weft collectives 1\" is wanted there";
    base::Scanner in(text);
    if (in.at_end() || in.sees('#')) return nullptr;
    Line line;
    if (const char* fault = parse(text, &line)) return fault;
    long long& nearest = nearest_[static_cast<int>(line.operation)];
    if (line.ranks > ranks_ || line.ranks < nearest) return nullptr;
    if (line.ranks > nearest) choices_.clear(line.operation);
    nearest = line.ranks;
    const bool added = choices_.add(line.operation, static_cast<uint64_t>(line.bytes), line.use);
    return added ? nullptr : "there are more than 32 lines of this operation and these ranks";
  }

  int number() const noexcept { return number_; }
  const Choices& choices() const noexcept { return choices_; }

 private:
  int ranks_;
  int number_ = 0;
  long long nearest_[kOperations] = {};
  Choices choices_;
};

// Warns once in a process, although each communicator reads the file anew. `line`: 0 for the file as a whole.
void complain(const char* path, int line, const char* fault) noexcept {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  char where[16] = "";
  if (line > 0) std::snprintf(where, sizeof where, ":%d", line);
  base::warn("coll: %s%s: %s; all collectives are left to MPI", path, where, fault);
}

bool read_all(std::FILE* file, const char* path, Reader* reader) noexcept {
  char text[256];
  while (std::fgets(text, sizeof text, file) != nullptr) {
    if (const char* fault = reader->read(text)) {
      complain(path, reader->number(), fault);
      return false;
    }
  }
  // A folder can be opened.
  if (std::ferror(file) != 0 || reader->number() == 0) {
    const char* fault = std::ferror(file) != 0 ? std::strerror(errno) : "is empty";
    complain(path, 0, fault);
    return false;
  }
  return true;
}

}  // namespace

Choices read_rules(const char* path, int ranks) noexcept {
  Choices none;
  none.leave_all();
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) {
    complain(path, 0, std::strerror(errno));
    return none;
  }
  Reader reader(ranks);
  const bool good = read_all(file, path, &reader);
  std::fclose(file);
  return good ? reader.choices() : none;
}

}  // namespace weft::coll
