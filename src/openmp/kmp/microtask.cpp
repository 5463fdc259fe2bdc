// SPDX-License-Identifier: Apache-2.0
#include "openmp/kmp/microtask.h"

#include <array>
#include <utility>

namespace weft::openmp::kmp {

namespace {

template <size_t... I>
void call(Microtask task, int32_t* gtid, int32_t* tid, void* const* arguments, std::index_sequence<I...>) {
  // By the calling conventions of x86-64 and AArch64 the outlined function, which takes pointers and has no
  // variable arguments, finds them where it would if it were declared so, and does not mind more of them.
  using Plain = void (*)(int32_t*, int32_t*, decltype(static_cast<void>(I), static_cast<void*>(nullptr))...);
  reinterpret_cast<Plain>(reinterpret_cast<void*>(task))(gtid, tid, arguments[I]...);
}

// Calls with N >= count arguments, the missing ones null.
template <size_t N>
void call_padded(Microtask task, int32_t* gtid, int32_t* tid, void* const* arguments, int count) {
  std::array<void*, N> padded{};
  for (int i = 0; i < count; ++i) padded[static_cast<size_t>(i)] = arguments[i];
  call(task, gtid, tid, padded.data(), std::make_index_sequence<N>());
}

void call_microtask(Microtask task, int number, void* const* arguments, int count) {
  int32_t gtid = number;
  int32_t tid = number;
  switch (count) {
    case 0: return call(task, &gtid, &tid, arguments, std::make_index_sequence<0>());
    case 1: return call(task, &gtid, &tid, arguments, std::make_index_sequence<1>());
    case 2: return call(task, &gtid, &tid, arguments, std::make_index_sequence<2>());
    case 3: return call(task, &gtid, &tid, arguments, std::make_index_sequence<3>());
    case 4: return call(task, &gtid, &tid, arguments, std::make_index_sequence<4>());
    default: break;
  }
  if (count <= 8) return call_padded<8>(task, &gtid, &tid, arguments, count);
  if (count <= 16) return call_padded<16>(task, &gtid, &tid, arguments, count);
  if (count <= 32) return call_padded<32>(task, &gtid, &tid, arguments, count);
  if (count <= 64) return call_padded<64>(task, &gtid, &tid, arguments, count);
  if (count <= 128) return call_padded<128>(task, &gtid, &tid, arguments, count);
  return call_padded<kMaxArguments>(task, &gtid, &tid, arguments, count);
}

}  // namespace

void run_microtask(void* const* words, int number) noexcept {
  const auto count = static_cast<int>(reinterpret_cast<intptr_t>(words[4]));
  void* const* arguments = count <= kInlineArguments ? words + 2 : static_cast<void* const*>(words[2]);
  call_microtask(reinterpret_cast<Microtask>(words[1]), number, arguments, count);
}

}  // namespace weft::openmp::kmp
