// SPDX-License-Identifier: Apache-2.0
#include "sequence.h"

#include <cstring>

namespace test {

namespace {

using weft::coll::Operation;
using Words = std::vector<uint64_t>;

// Of a message from one rank to another one, or to all (0).
uint64_t word(uint64_t salt, int from, int to, size_t index) {
  uint64_t x =
      salt + 0x9e3779b97f4a7c15 * (index + 1) + (static_cast<uint64_t>(from) << 40) + (static_cast<uint64_t>(to) << 50);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  return x ^ (x >> 29);
}

void fill(char* data, size_t bytes, uint64_t salt, int from, int to) {
  for (size_t at = 0; at < bytes; at += 8) {
    const uint64_t value = word(salt, from, to, at / 8);
    std::memcpy(data + at, &value, std::min<size_t>(8, bytes - at));
  }
}

bool holds(const char* data, size_t bytes, uint64_t salt, int from, int to) {
  for (size_t at = 0; at < bytes; at += 8) {
    const uint64_t value = word(salt, from, to, at / 8);
    if (std::memcmp(data + at, &value, std::min<size_t>(8, bytes - at)) != 0) return false;
  }
  return true;
}

// x -> in(inout(x)), of functions x -> a x + b with a and b of 32 bits: associative, as MPI assumes, but any other
// order of ranks gives something else.
uint64_t combined(uint64_t in, uint64_t inout) {
  const auto a = static_cast<uint32_t>(in >> 32 | 1), b = static_cast<uint32_t>(in);
  const auto c = static_cast<uint32_t>(inout >> 32 | 1), d = static_cast<uint32_t>(inout);
  return uint64_t{a * c} << 32 | (a * d + b);
}

void combine(void*, const void* in, void* inout, size_t count) {
  const auto* from = static_cast<const uint64_t*>(in);
  auto* to = static_cast<uint64_t*>(inout);
  for (size_t i = 0; i < count; ++i) to[i] = combined(from[i], to[i]);
}

bool is_reduced(const uint64_t* data, size_t count, uint64_t salt, int ranks) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t value = word(salt, ranks - 1, 0, i);
    for (int rank = ranks - 2; rank >= 0; --rank) value = combined(word(salt, rank, 0, i), value);
    if (data[i] != value) return false;
  }
  return true;
}

constexpr size_t kGuard = 64;
constexpr char kGuardByte = 0x5a;

// Bytes with a guard behind them, which nobody may write.
class Buffer {
 public:
  explicit Buffer(size_t bytes) : words_((bytes + 7) / 8 + kGuard / 8), bytes_(bytes) {
    std::memset(data() + bytes, kGuardByte, kGuard);
  }
  char* data() { return reinterpret_cast<char*>(words_.data()); }
  uint64_t* words() { return words_.data(); }
  bool is_whole() {
    for (size_t i = 0; i < kGuard; ++i) {
      if (data()[bytes_ + i] != kGuardByte) return false;
    }
    return true;
  }

 private:
  Words words_;
  size_t bytes_;
};

bool perform_reduction(weft::coll::Group& group, int rank, int ranks, const Call& call) {
  const size_t count = call.bytes / 8;
  const weft::coll::Reduction reduction{combine, nullptr, 8};
  Buffer in(8 * count), out(8 * count);
  fill(in.data(), 8 * count, call.salt, rank, 0);
  void* to = call.in_place ? in.words() : out.words();
  if (call.operation == Operation::reduce) {
    weft::coll::reduce(group, in.words(), to, count, reduction, call.root);
  } else {
    weft::coll::allreduce(group, in.words(), to, count, reduction);
  }
  const bool has_result = call.operation == Operation::allreduce || rank == call.root;
  if (has_result && !is_reduced(static_cast<uint64_t*>(to), count, call.salt, ranks)) return false;
  if (!(has_result && call.in_place) && !holds(in.data(), 8 * count, call.salt, rank, 0)) return false;
  return in.is_whole() && out.is_whole();
}

}  // namespace

const char* name_of(Operation operation) {
  constexpr const char* kNames[] = {"barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall"};
  return kNames[static_cast<int>(operation)];
}

Call random_call(std::mt19937_64& random, int ranks, size_t most_bytes) {
  const auto draw = [&](uint64_t below) { return std::uniform_int_distribution<uint64_t>(0, below - 1)(random); };
  // As many of each order of magnitude.
  size_t bytes = draw(size_t{1} << (1 + draw(21)));
  return {static_cast<Operation>(draw(weft::coll::kOperations)), std::min(bytes, most_bytes),
          static_cast<int>(draw(static_cast<uint64_t>(ranks))), draw(2) == 0, random()};
}

bool perform(weft::coll::Group& group, int rank, int ranks, const Call& call) {
  const size_t bytes = call.bytes, all = bytes * static_cast<size_t>(ranks);
  const auto block = [bytes](Buffer& buffer, int of) { return buffer.data() + static_cast<size_t>(of) * bytes; };
  switch (call.operation) {
    case Operation::barrier: weft::coll::barrier(group); return true;
    case Operation::bcast: {
      Buffer data(bytes);
      if (rank == call.root) fill(data.data(), bytes, call.salt, rank, 0);
      weft::coll::bcast(group, data.data(), bytes, call.root);
      return holds(data.data(), bytes, call.salt, call.root, 0) && data.is_whole();
    }
    case Operation::reduce:
    case Operation::allreduce: return perform_reduction(group, rank, ranks, call);
    case Operation::allgather: {
      Buffer mine(bytes), gathered(all);
      char* from = call.in_place ? block(gathered, rank) : mine.data();
      fill(from, bytes, call.salt, rank, 0);
      weft::coll::allgather(group, from, gathered.data(), bytes);
      for (int other = 0; other < ranks; ++other) {
        if (!holds(block(gathered, other), bytes, call.salt, other, 0)) return false;
      }
      return gathered.is_whole() && mine.is_whole();
    }
    case Operation::alltoall: {
      Buffer send(all), recv(all);
      Buffer& from = call.in_place ? recv : send;
      for (int other = 0; other < ranks; ++other) fill(block(from, other), bytes, call.salt, rank, other);
      weft::coll::alltoall(group, from.data(), recv.data(), bytes);
      for (int other = 0; other < ranks; ++other) {
        if (!holds(block(recv, other), bytes, call.salt, other, rank)) return false;
      }
      return send.is_whole() && recv.is_whole();
    }
  }
  return false;
}

}  // namespace test
