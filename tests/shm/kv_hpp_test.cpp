// SPDX-License-Identifier: Apache-2.0
#include "weft/kv.hpp"

#include <set>

#include <unistd.h>

#include <gtest/gtest.h>

namespace weft::shm::test {

TEST(KvInCxxTest, AStoreIsAnObject) {
  const std::string name = "cxx-test-" + std::to_string(getpid());
  Kv store(name, WEFT_KV_LEAST_BYTES * 4);
  EXPECT_FALSE(store.get("one"));
  const uint64_t version = store.put("one", "1");
  EXPECT_EQ(store.get("one"), "1");
  EXPECT_EQ(store.find("one")->version, version);
  EXPECT_FALSE(store.put_if("one", "2", version + 1));
  EXPECT_TRUE(store.put_if("one", "2", version));
  store.put("long", std::string(5000, 'x'));
  EXPECT_EQ(store.get("long"), std::string(5000, 'x'));
  store.put(std::string(1000, 'k'), "");
  std::set<size_t> lengths;
  Kv moved = std::move(store);
  moved.for_each_key([&](std::string_view key) { lengths.insert(key.size()); });
  EXPECT_EQ(lengths, (std::set<size_t>{3, 4, 1000}));
  EXPECT_EQ(moved.stat().keys, 3u);
  moved.put("two", "2");
  EXPECT_FALSE(moved.erase_if("two", version));
  EXPECT_TRUE(moved.erase_if("two", moved.find("two")->version));
  EXPECT_FALSE(moved.erase_if("two", version));
  EXPECT_TRUE(moved.erase("one"));
  EXPECT_FALSE(moved.erase("one"));
  Kv::unlink(name);
  try {
    Kv::unlink(name);
    ADD_FAILURE() << "there is no such store";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOENT);
    EXPECT_NE(std::string(error.what()).find(name), std::string::npos);
  }
}

}  // namespace weft::shm::test
