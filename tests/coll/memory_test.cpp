// SPDX-License-Identifier: Apache-2.0
#include "coll/group/memory.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "platform/numa.h"

namespace {

using weft::coll::Mapping;
using weft::coll::MemoryFile;

TEST(Memory, OfANameIsTheSameUntilTheNameHasGone) {
  const size_t bytes = 4 * weft::coll::page_bytes();
  char name[48];
  MemoryFile made, opened, late;
  ASSERT_TRUE(made.make_named(bytes, name, sizeof name));
  ASSERT_TRUE(opened.open_named(name));
  MemoryFile::remove_name(name);
  EXPECT_FALSE(late.open_named(name));
  Mapping here, there;
  ASSERT_TRUE(here.map(made, bytes));
  ASSERT_TRUE(there.map(opened, bytes));
  here.data()[bytes - 1] = 7;
  EXPECT_EQ(there.data()[bytes - 1], 7);
}

TEST(Memory, LiesOnTheNodeThatIsWanted) {
  const size_t page = weft::coll::page_bytes(), bytes = 100 * page;
  MemoryFile file;
  ASSERT_TRUE(file.make_nameless(2 * bytes));
  Mapping mapping;
  ASSERT_TRUE(mapping.map(file, 2 * bytes));
  const int node = weft::platform::current_node();
  ASSERT_TRUE(weft::coll::take_pages(file, mapping, bytes, bytes, node));
  for (size_t at = 0; at < 2 * bytes; at += page) {
    void* address = mapping.data() + at;
    int found = 0;
    if (weft::platform::query_pages(0, 1, &address, &found) != 0) GTEST_SKIP() << "the kernel does not say";
    // Of the part that is another rank's, nothing is touched.
    EXPECT_EQ(found, at < bytes ? -ENOENT : node);
  }
}

}  // namespace
