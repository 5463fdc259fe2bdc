// SPDX-License-Identifier: Apache-2.0
// What OpenBLAS says of its configuration, while other threads ask too.
#include <gtest/gtest.h>

#include <array>

#include "interpose/openblas.h"

namespace {

using weft::interpose::most_numbers;

int g_call = 0;

// As another thread's call rewrites the text.
const char* disturbed() {
  constexpr std::array kTexts{"OpenBLAS 0.3.31 DYNAMIC_ARCH", "OpenBLAS 0.3.31 DYNAMIC_ARCH SkylakeX MAX_THREADS=6",
                              "OpenBLAS 0.3.31 DYNAMIC_ARCH SkylakeX MAX_THREADS=64", "OpenBLAS 0.3.31 DYNAMIC_ARCH",
                              "OpenBLAS 0.3.31 DYNAMIC_ARCH SkylakeX MAX_THREADS=64",
                              "OpenBLAS 0.3.31 DYNAMIC_ARCH SkylakeX MAX_THREADS=64"};
  return kTexts.at(static_cast<size_t>(g_call++));
}

TEST(ConfigurationTest, IsReadUntilItIsWhole) {
  g_call = 0;
  EXPECT_EQ(most_numbers(disturbed), 64);
}

TEST(ConfigurationTest, OfOneThread) {
  EXPECT_EQ(most_numbers([] { return "OpenBLAS 0.3.31 NO_AFFINITY SkylakeX SINGLE_THREADED"; }), 0);
  EXPECT_EQ(most_numbers(nullptr), 0);
}

}  // namespace
