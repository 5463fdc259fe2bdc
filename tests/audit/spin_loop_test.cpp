// SPDX-License-Identifier: Apache-2.0
// Which loops count as waits for another thread, and that they wait as before when they call a function.
#include "audit/spin_loop.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include <link.h>
#include <sys/mman.h>

#include <gtest/gtest.h>

#include "audit/function_table.h"
#include "audit/spin_patch.h"

namespace weft::audit {
namespace {

using Bytes = std::vector<unsigned char>;

// Code in front of a loop, the loop, and what comes behind it.
Bytes around(const Bytes& loop, const Bytes& before = {}) {
  Bytes all = before;
  all.insert(all.end(), loop.begin(), loop.end());
  all.insert(all.end(), 64, 0x90);
  return all;
}

int count_in(const Bytes& code) {
  int count = 0;
  for_each_spin_loop(code.data(), code.data() + code.size(), [&count](const SpinLoop&) { ++count; });
  return count;
}

struct Case {
  const char* what;
  Bytes loop;
};

TEST(SpinLoop, IsARowOfInstructionsThatChangesNothing) {
  const Case cases[] = {
      {"mov (%rdi),%eax; test %eax,%eax; je", {0x8b, 0x07, 0x85, 0xc0, 0x74, 0xfa}},
      {"mov (%rcx),%rax; cmp %rax,%rdx; je", {0x48, 0x8b, 0x01, 0x48, 0x39, 0xc2, 0x74, 0xf8}},
      {"cmpl $0,16(%rip); jne", {0x83, 0x3d, 0x10, 0, 0, 0, 0, 0x75, 0xf7}},
      {"cmp %rax,(%rdi); jne", {0x48, 0x39, 0x07, 0x75, 0xfb}},
      {"movzbl (%rdi),%eax; test %al,%al; je", {0x0f, 0xb6, 0x07, 0x84, 0xc0, 0x74, 0xf9}},
      {"mov (%rdi),%al; test $1,%al; je", {0x8a, 0x07, 0xa8, 0x01, 0x74, 0xfa}},
      {"pause; mov (%rdi),%eax; test; je", {0xf3, 0x90, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xf8}},
      {"mfence; cmpl $0,(%rdi); je", {0x0f, 0xae, 0xf0, 0x83, 0x3f, 0x00, 0x74, 0xf8}},
      {"lock orq $0,(%rsp); cmpl $0,(%rdi); je",
       {0xf0, 0x48, 0x83, 0x0c, 0x24, 0x00, 0x83, 0x3f, 0x00, 0x74, 0xf5}},
      {"eight nop; mov (%rdx),%rax; test %rax,%rax; jne",
       {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x48, 0x8b, 0x02, 0x48, 0x85, 0xc0, 0x75, 0xf0}},
      {"mov -8(%rbp),%rax; mov (%rax),%eax; test; je", {0x48, 0x8b, 0x45, 0xf8, 0x8b, 0x00, 0x85, 0xc0, 0x74, 0xf6}},
      {"mov (%rdi),%eax; and $3,%eax; cmp $2,%eax; jne",
       {0x8b, 0x07, 0x83, 0xe0, 0x03, 0x83, 0xf8, 0x02, 0x75, 0xf6}},
      {"two ends: mov (%rdi),%eax; test; jne out; cmpl $0,(%rsi); je",
       {0x8b, 0x07, 0x85, 0xc0, 0x75, 0x10, 0x83, 0x3e, 0x00, 0x74, 0xf5}},
      {"the end in the middle: mov 16(%rip),%eax; cmp -4(%rbp),%eax; je out; jmp",
       {0x8b, 0x05, 0x10, 0, 0, 0, 0x3b, 0x45, 0xfc, 0x74, 0x02, 0xeb, 0xf3}},
      {"a lock: xor %eax,%eax; movb $0,16(%rsp); lock cmpxchg %dl,16(%rip); jne",
       {0x31, 0xc0, 0xc6, 0x44, 0x24, 0x10, 0x00, 0xf0, 0x0f, 0xb0, 0x15, 0x10, 0, 0, 0, 0x75, 0xef}},
      {"a lock: mov %ecx,%eax; lock cmpxchg %edx,(%rdi); jne", {0x89, 0xc8, 0xf0, 0x0f, 0xb1, 0x17, 0x75, 0xf8}},
      {"a lock: mov %edx,%eax; xchg %al,(%rdi); test %al,%al; jne", {0x89, 0xd0, 0x86, 0x07, 0x84, 0xc0, 0x75, 0xf8}},
      {"of a thread's data: mov %fs:(%rdi),%eax; test; je", {0x64, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xf9}},
  };
  for (const Case& it : cases) EXPECT_EQ(count_in(around(it.loop)), 1) << it.what;
}

TEST(SpinLoop, IsNoneThatComputes) {
  const Case cases[] = {
      {"a list: mov 8(%rax),%rax; test %rax,%rax; jne", {0x48, 0x8b, 0x40, 0x08, 0x48, 0x85, 0xc0, 0x75, 0xf7}},
      {"a string: inc %rdi; cmpb $0,(%rdi); jne", {0x48, 0xff, 0xc7, 0x80, 0x3f, 0x00, 0x75, 0xf8}},
      {"a counter: add $1,%eax; cmp (%rdi),%eax; jne", {0x83, 0xc0, 0x01, 0x3b, 0x07, 0x75, 0xf9}},
      {"a store: mov (%rdi),%eax; mov %eax,(%rsi); test; je", {0x8b, 0x07, 0x89, 0x06, 0x85, 0xc0, 0x74, 0xf8}},
      {"an exchange: mov (%rdi),%eax; lock cmpxchg; je",
       {0x8b, 0x07, 0xf0, 0x0f, 0xb1, 0x0f, 0x85, 0xc0, 0x74, 0xf6}},
      {"a count: mov %edx,%eax; lock cmpxchg; mov %eax,%edx; jne",
       {0x89, 0xd0, 0xf0, 0x0f, 0xb1, 0x0f, 0x89, 0xc2, 0x75, 0xf6}},
      {"an exchange that takes: xor %eax,%eax; lock cmpxchg %dl,(%rdi); je", {0x31, 0xc0, 0xf0, 0x0f, 0xb0, 0x17, 0x74, 0xf8}},
      {"what was found before: lock cmpxchg %edx,(%rdi); jne", {0xf0, 0x0f, 0xb1, 0x17, 0x75, 0xfa}},
      {"a count: mov (%rdi),%edx; lea 1(%rdx),%ecx; mov %edx,%eax; lock cmpxchg %ecx,(%rdi); jne",
       {0x8b, 0x17, 0x8d, 0x4a, 0x01, 0x89, 0xd0, 0xf0, 0x0f, 0xb1, 0x0f, 0x75, 0xf3}},
      {"a swap: mov (%rsi),%eax; xchg %eax,(%rdi); test %eax,%eax; jne", {0x8b, 0x06, 0x87, 0x07, 0x85, 0xc0, 0x75, 0xf8}},
      {"with a hint: mov %ecx,%eax; xrelease lock cmpxchg %edx,(%rdi); jne",
       {0x89, 0xc8, 0xf3, 0xf0, 0x0f, 0xb1, 0x17, 0x75, 0xf7}},
      {"an addition: mov %edx,%eax; lock xadd %eax,(%rdi); test %eax,%eax; jne",
       {0x89, 0xd0, 0xf0, 0x0f, 0xc1, 0x07, 0x85, 0xc0, 0x75, 0xf6}},
      {"half a register: xor %al,%al; lock cmpxchg %edx,(%rdi); jne", {0x30, 0xc0, 0xf0, 0x0f, 0xb1, 0x17, 0x75, 0xf8}},
      {"a constant elsewhere: movl $0,(%rsi); cmpl $0,(%rdi); je",
       {0xc7, 0x06, 0, 0, 0, 0, 0x83, 0x3f, 0x00, 0x74, 0xf5}},
      {"a call: call; test %eax,%eax; je", {0xe8, 0, 0, 0, 0, 0x85, 0xc0, 0x74, 0xf7}},
      {"no load: cmp %eax,%ecx; test %eax,%eax; je", {0x39, 0xc1, 0x85, 0xc0, 0x74, 0xfa}},
      {"a lock that writes: lock orl $1,(%rsp); cmpl $0,(%rdi); je",
       {0xf0, 0x83, 0x0c, 0x24, 0x01, 0x83, 0x3f, 0x00, 0x74, 0xf6}},
      {"flags of the round before: jne out; mov (%rdi),%eax; cmp %eax,%ecx; je",
       {0x75, 0x10, 0x8b, 0x07, 0x39, 0xc1, 0x74, 0xf8}},
      {"the stack: mov (%rdi),%rsp; cmpl $0,(%rdi); je", {0x48, 0x8b, 0x27, 0x83, 0x3f, 0x00, 0x74, 0xf8}},
      {"a system call: syscall; cmpl $0,(%rdi); je", {0x0f, 0x05, 0x83, 0x3f, 0x00, 0x74, 0xf9}},
      {"a time: rdtsc; cmp (%rdi),%eax; jb", {0x0f, 0x31, 0x3b, 0x07, 0x72, 0xfa}},
      {"half a register: mov (%rdi),%al; cmp %esi,%eax; lea 1(%rax),%eax; jb",
       {0x8a, 0x07, 0x39, 0xf0, 0x8d, 0x40, 0x01, 0x72, 0xf7}},
      {"its second byte: mov (%rdi),%al; cmp %ah,%dl; mov %al,%ah; jne",
       {0x8a, 0x07, 0x38, 0xe2, 0x88, 0xc4, 0x75, 0xf8}},
      {"16 bits: mov (%rdi),%ax; cmp %edx,%eax; jne", {0x66, 0x8b, 0x07, 0x39, 0xd0, 0x75, 0xf9}},
      {"until a time: cmp (%rdi),%ecx; je out; tpause %eax; jae", {0x3b, 0x0f, 0x74, 0x10, 0x66, 0x0f, 0xae, 0xf0, 0x73, 0xf6}},
      {"one without an end: mov (%rdi),%eax; test %eax,%eax; jmp", {0x8b, 0x07, 0x85, 0xc0, 0xeb, 0xfa}},
      {"a jump inside: mov (%rdi),%eax; test; je 0f; nop; 0: test; je",
       {0x8b, 0x07, 0x85, 0xc0, 0x74, 0x01, 0x90, 0x85, 0xc0, 0x74, 0xf5}},
  };
  for (const Case& it : cases) EXPECT_EQ(count_in(around(it.loop)), 0) << it.what;
}

// ---- loops that run ----

extern "C" {
long weft_test_rounds = 0;
int* weft_test_flag = nullptr;
void weft_test_round();
// What is waited for happens in the third call.
[[gnu::used]] void weft_test_count() {
  if (++weft_test_rounds == 3) __atomic_store_n(weft_test_flag, 1, __ATOMIC_RELEASE);
}
}
// As the runtime's function, it keeps the registers that a function may change, and a loop could use.
asm(R"(
  .text
  .type weft_test_round, @function
weft_test_round:
  push %rax
  push %rcx
  push %rdx
  push %rsi
  push %rdi
  push %r8
  push %r9
  push %r10
  push %r11
  push %rbp
  mov %rsp, %rbp
  and $-16, %rsp
  call weft_test_count
  mov %rbp, %rsp
  pop %rbp
  pop %r11
  pop %r10
  pop %r9
  pop %r8
  pop %rdi
  pop %rsi
  pop %rdx
  pop %rcx
  pop %rax
  ret
  .size weft_test_round, .-weft_test_round
)");

// A page of code whose first loop is changed. The function of two arguments returns in %eax.
class Patched {
 public:
  static constexpr size_t kSize = 8192;

  explicit Patched(const Bytes& code) {
    memory_ = static_cast<unsigned char*>(
        mmap(nullptr, kSize, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::copy(code.begin(), code.end(), memory_);
    AllCode all;
    all.parts[all.count++] = {memory_, memory_ + code.size() + 64};
    unsigned char* copies = memory_ + kSize / 2;
    const auto entry = reinterpret_cast<uintptr_t>(&weft_test_round);
    constexpr unsigned char kJump[] = {0xff, 0x25, 2, 0, 0, 0};
    std::copy(std::begin(kJump), std::end(kJump), copies);
    __builtin_memcpy(copies + 8, &entry, sizeof entry);
    for_each_spin_loop(all.parts[0].begin, all.parts[0].end, [&](const SpinLoop& loop) {
      ptrdiff_t may_search = Patched::kSize;
      const Code function{memory_, memory_ + code.size()};
      const SpinPatch patch(loop, function_around(loop, function), all, may_search);
      if (!patch.is_possible() || is_changed) return;
      is_changed = true;
      patch.write_copy(copies + 16, copies);
      SpinPatch::write_jump(memory_ + (patch.place() - memory_), copies + 16);
    });
  }
  ~Patched() { munmap(memory_, kSize); }
  Patched(const Patched&) = delete;
  Patched& operator=(const Patched&) = delete;

  long call(int* flag, long second) const {
    weft_test_rounds = 0;
    weft_test_flag = flag;
    return reinterpret_cast<long (*)(int*, long)>(memory_)(flag, second);
  }

  int* data(size_t at) const { return reinterpret_cast<int*>(memory_ + at); }

  bool is_changed = false;

 private:
  unsigned char* memory_;
};

TEST(SpinPatch, WaitsAsBefore) {
  const Case cases[] = {
      // mov %rsi,-8(%rsp), beyond the stack's end; the loop; mov -8(%rsp),%rax; ret
      {"three short instructions", {0x8b, 0x07, 0x85, 0xc0, 0x74, 0xfa}},
      {"a comparison and a jump", {0x8b, 0x0f, 0x83, 0xf9, 0x00, 0x74, 0xf9}},
      {"a comparison with memory", {0x83, 0x3f, 0x00, 0x74, 0xfb}},
      {"a pause", {0xf3, 0x90, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xf8}},
      {"a long load", {0x8b, 0x87, 0, 0, 0, 0, 0x85, 0xc0, 0x74, 0xf6}},
      {"eight nop", {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xf2}},
      {"the end in the middle", {0x8b, 0x07, 0x85, 0xc0, 0x75, 0x02, 0xeb, 0xf8}},
      {"two ends", {0x83, 0x3f, 0x02, 0x74, 0x05, 0x83, 0x3f, 0x00, 0x74, 0xf6}},
  };
  for (const Case& it : cases) {
    Bytes code = {0x48, 0x89, 0x74, 0x24, 0xf8};
    code.insert(code.end(), it.loop.begin(), it.loop.end());
    const Bytes end = {0x48, 0x8b, 0x44, 0x24, 0xf8, 0xc3};
    code.insert(code.end(), end.begin(), end.end());
    const Patched patched(code);
    ASSERT_TRUE(patched.is_changed) << it.what;
    int flag = 0;
    EXPECT_EQ(patched.call(&flag, 4711), 4711) << it.what;
    EXPECT_EQ(weft_test_rounds, 3) << it.what;
    // Where nothing is to wait for, nobody is called, or once before the first look.
    EXPECT_EQ(patched.call(&flag, 4712), 4712) << it.what;
    EXPECT_LE(weft_test_rounds, 1) << it.what;
  }
}

TEST(SpinPatch, WaitsForALock) {
  // Its word is 1 where it is free, %esi is what it becomes; ret behind it.
  const Case cases[] = {
      {"xor %eax,%eax; lea 1(%rax),%eax; lock cmpxchg %esi,(%rdi); jne",
       {0x31, 0xc0, 0x8d, 0x40, 0x01, 0xf0, 0x0f, 0xb1, 0x37, 0x75, 0xf5, 0xc3}},
      {"mov $1,%eax; lock cmpxchg %esi,(%rdi); jne",
       {0xb8, 0x01, 0, 0, 0, 0xf0, 0x0f, 0xb1, 0x37, 0x75, 0xf5, 0xc3}},
      {"mov %esi,%eax; xchg %eax,(%rdi); cmp $1,%eax; jne",
       {0x89, 0xf0, 0x87, 0x07, 0x83, 0xf8, 0x01, 0x75, 0xf7, 0xc3}},
  };
  for (const Case& it : cases) {
    const Patched patched(it.loop);
    ASSERT_TRUE(patched.is_changed) << it.what;
    for (const int free : {0, 1}) {
      int word = free;
      EXPECT_EQ(patched.call(&word, 7), 1) << it.what;
      EXPECT_EQ(word, 7) << it.what;
      EXPECT_EQ(weft_test_rounds, free == 0 ? 3 : 0) << it.what;
    }
  }
}

// The address is relative to the instruction, which moves.
TEST(SpinPatch, FindsDataBesideTheCode) {
  // cmpl $0,0x40(%rip); je; mov $42,%eax; ret
  constexpr size_t kFlag = 7 + 0x40;
  Bytes code = {0x83, 0x3d, 0x40, 0, 0, 0, 0, 0x74, 0xf7, 0xb8, 42, 0, 0, 0, 0xc3};
  code.resize(kFlag, 0x90);
  code.resize(kFlag + 4, 0);
  const Patched patched(code);
  ASSERT_TRUE(patched.is_changed);
  EXPECT_EQ(patched.call(patched.data(kFlag), 0), 42);
  EXPECT_EQ(weft_test_rounds, 3);
}

// Two ways lead into the loop: at its beginning, and at the test.
TEST(SpinPatch, LeavesLoopsThatAreEnteredInTheMiddle) {
  //   jmp 1f; 0: mov (%rdi),%eax; 1: test %eax,%eax; je 0b; ret
  const Patched near({0xeb, 0x02, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xfa, 0xc3});
  EXPECT_FALSE(near.is_changed);
  const Patched far({0xe9, 0x02, 0, 0, 0, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xfa, 0xc3});
  EXPECT_FALSE(far.is_changed);
  const Patched conditional({0x0f, 0x84, 0x02, 0, 0, 0, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xfa, 0xc3});
  EXPECT_FALSE(conditional.is_changed);
  // As gcc does when it saves bytes: test %esi,%esi; jmp 1f; 0: mov (%rdi),%eax; test %eax,%eax; 1: js 0b; ret
  const Patched shared({0x85, 0xf6, 0xeb, 0x05, 0x48, 0x8b, 0x07, 0x85, 0xc0, 0x78, 0xf9, 0xc3});
  EXPECT_FALSE(shared.is_changed);
  // A jump by a table may lead to the comparison: jmp *%rax; 0: pause; cmp %esi,(%rdi); jne 0b; ret
  const Patched table({0xff, 0xe0, 0xf3, 0x90, 0x39, 0x37, 0x75, 0xfa, 0xc3});
  EXPECT_FALSE(table.is_changed);
}

TEST(SpinPatch, LeavesLoopsThatAreTooShort) { EXPECT_FALSE(Patched({0x39, 0x07, 0x74, 0xfc, 0xc3}).is_changed); }

TEST(SpinPatch, TellsInstructionsFromTheirParts) {
  // movabs $0x..., %rax, whose constant looks like a loop
  const Bytes code = around({0x48, 0xb8, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xfa, 0x90, 0x90});
  EXPECT_EQ(count_in(code), 1);
  for_each_spin_loop(code.data(), code.data() + code.size(), [&code](const SpinLoop& loop) {
    EXPECT_FALSE(function_around(loop, {code.data(), code.data() + code.size()}).is_known);
    EXPECT_TRUE(function_around(loop, {code.data() + 2, code.data() + code.size()}).is_known);
    EXPECT_FALSE(function_around(loop, {code.data() + 2, code.data() + 5}).is_known);
  });
}

// Of this program itself: its headers say where the table is.
TEST(FunctionTable, FindsTheFunctionByAnyOfItsAddresses) {
  struct Found {
    const unsigned char* table = nullptr;
    size_t size = 0;
  } found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_GNU_EH_FRAME) continue;
          *static_cast<Found*>(data) = {
              reinterpret_cast<const unsigned char*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
              info->dlpi_phdr[i].p_memsz};
        }
        return 1;
      },
      &found);
  ASSERT_NE(found.table, nullptr);
  const FunctionTable functions(found.table, found.size);
  const auto* count = reinterpret_cast<const unsigned char*>(&weft_test_count);
  const FunctionRange range = functions.of(count);
  EXPECT_EQ(range.begin, count);
  EXPECT_GT(range.end, count);
  EXPECT_EQ(functions.of(range.end - 1).begin, count);
  // Assembler without a description of its own is in no function.
  EXPECT_EQ(functions.of(reinterpret_cast<const unsigned char*>(&weft_test_round)).begin, nullptr);
  EXPECT_EQ(functions.of(nullptr).begin, nullptr);
  EXPECT_EQ(FunctionTable(found.table, 16).of(count).begin, nullptr);
  EXPECT_EQ(FunctionTable(nullptr, 0).of(count).begin, nullptr);
}

}  // namespace
}  // namespace weft::audit
