// SPDX-License-Identifier: Apache-2.0
// Which waits of a library are said to be seen: those of which every function's are.
#include "interpose/wait_loops.h"

#include <fstream>
#include <initializer_list>
#include <string>

#include <dlfcn.h>

#include <gtest/gtest.h>

#include "platform/loaded_object.h"

#if defined(__x86_64__)

extern "C" {
long weft_test_waits = 0;
long* weft_test_awaited = nullptr;
void weft_test_wait();
}
// Keeps all registers. What is waited for happens at the third call.
asm(R"(
  .text
  .type weft_test_wait, @function
weft_test_wait:
  push %rax
  pushf
  incq weft_test_waits(%rip)
  cmpq $3, weft_test_waits(%rip)
  jne 1f
  mov weft_test_awaited(%rip), %rax
  movq $1, (%rax)
1:
  popf
  pop %rax
  ret
  .size weft_test_wait, .-weft_test_wait
)");

namespace weft::interpose {
namespace {

constexpr uint32_t kBoth = kArraysSeen | kListsSeen;

class WaitLoopsTest : public testing::Test {
 protected:
  ~WaitLoopsTest() override {
    if (library_ != nullptr) dlclose(library_);
    WaitLoops::give_back(page_);
  }

  // Which waits of that build are seen.
  uint32_t seen_of(const char* build) {
    library_ = dlopen((std::string(WEFT_TEST_FOLDER "/libwait_loops_") + build + ".so").c_str(), RTLD_NOW);
    if (library_ == nullptr) ADD_FAILURE() << dlerror();
    link_map* map = nullptr;
    dlinfo(library_, RTLD_DI_LINKMAP, &map);
    const platform::Segments segments = segments_of(map->l_addr);
    WaitLoops loops(segments);
    platform::LoadedObject(map->l_addr, map->l_ld).for_each_defined([&](const char* name, void* function, size_t size) {
      loops.add(known(name), function, size);
      return false;
    });
    const uint32_t seen = loops.call(reinterpret_cast<const void*>(weft_test_wait));
    page_ = loops.page();
    return seen;
  }

  // Waits in each function for what happens only while it calls.
  void expect_calls(std::initializer_list<const char*> functions) {
    for (const char* name : functions) {
      long awaited = 0;
      weft_test_waits = 0;
      weft_test_awaited = &awaited;
      reinterpret_cast<void (*)(const long*)>(dlsym(library_, name))(&awaited);
      EXPECT_GE(weft_test_waits, 3) << name;
    }
  }

 private:
  static platform::Segments segments_of(uintptr_t base) {
    struct Wanted {
      uintptr_t base;
      platform::Segments found;
    } wanted{base, {}};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* argument) {
          auto* wanted = static_cast<Wanted*>(argument);
          if (info->dlpi_addr == wanted->base) wanted->found = platform::Segments(*info);
          return 0;
        },
        &wanted);
    return wanted.found;
  }

  void* library_ = nullptr;
  void* page_ = nullptr;
};

constexpr auto kProducts = {"sbgemm_thread_tn", "dgemm_thread_nn", "zherk_thread_LC", "cgemm3m_thread_nt"};
constexpr auto kFactorizations = {"dgetrf_parallel", "zgetrf_parallel"};

TEST_F(WaitLoopsTest, OfAllFunctions) {
  for (const char* build : {"behind", "before"}) {
    SCOPED_TRACE(build);
    ASSERT_EQ(seen_of(build), kBoth);
    expect_calls(kProducts);
    expect_calls(kFactorizations);
  }
}

// What may be done with each part of a library's file.
std::string protections(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  std::string found;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) found += line.substr(line.find(' '), 5);
  }
  return found;
}

TEST_F(WaitLoopsTest, NothingBesideTheCodeIsReadOrChanged) {
  for (const char* build : {"margins", "holes"}) {
    SCOPED_TRACE(build);
    ASSERT_EQ(seen_of(build), kBoth);
    expect_calls(kProducts);
    expect_calls(kFactorizations);
    // Changed code has no other protection than the rest, so that the parts are as many as when it was mapped.
    const std::string all = protections(std::string("libwait_loops_") + build);
    EXPECT_EQ(all.find("w-x"), std::string::npos) << all;
    EXPECT_EQ(all.find("r-x", all.find("r-x") + 1), std::string::npos) << all;
    EXPECT_NE(all.find("rw-"), std::string::npos) << all;
  }
}

// What all of them have together is as much as if each had its own.
TEST_F(WaitLoopsTest, OneProductHasNone) { EXPECT_EQ(seen_of("product_without"), kListsSeen); }
TEST_F(WaitLoopsTest, OneProductHasTooFew) { EXPECT_EQ(seen_of("product_with_two"), kListsSeen); }
TEST_F(WaitLoopsTest, AllButOneProductHaveNone) { EXPECT_EQ(seen_of("product_with_all"), kListsSeen); }
TEST_F(WaitLoopsTest, OneFactorizationHasThoseOfTwo) { EXPECT_EQ(seen_of("driver_with_all"), kArraysSeen); }
TEST_F(WaitLoopsTest, FactorizationsWithSixAndFour) { EXPECT_EQ(seen_of("driver_with_four"), kArraysSeen); }

// As gcc 15 compiles them.
TEST_F(WaitLoopsTest, AllFactorizationsHaveFour) {
  ASSERT_EQ(seen_of("drivers_with_four"), kBoth);
  expect_calls(kFactorizations);
}

// Some compiler might load before the loop, and enter it behind its load.
TEST_F(WaitLoopsTest, FactorizationsEnterTheirLoopsAtTheTest) {
  ASSERT_EQ(seen_of("at_the_test"), kBoth);
  expect_calls(kFactorizations);
}

// 0.3.34 has a lock behind the products, in which threads wait as in these, but in another loop.
TEST_F(WaitLoopsTest, NopsOfOthersBehindFunctionsWhoseLoopsStandBefore) {
  ASSERT_EQ(seen_of("stranger_behind_before"), kBoth);
  expect_calls(kProducts);
}
TEST_F(WaitLoopsTest, NopsOfOthersWhereLoopsOfAFunctionStand) {
  EXPECT_EQ(seen_of("stranger_behind_behind"), kListsSeen);
}
TEST_F(WaitLoopsTest, AFactorizationWaitsInAnotherLoopToo) { EXPECT_EQ(seen_of("stranger_driver"), kArraysSeen); }

}  // namespace
}  // namespace weft::interpose

#endif
