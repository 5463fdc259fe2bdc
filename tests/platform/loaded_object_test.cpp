// SPDX-License-Identifier: Apache-2.0
#include "platform/loaded_object.h"

#include <set>
#include <string>

#include <dlfcn.h>

#include <gtest/gtest.h>

namespace weft::platform {
namespace {

class LoadedObjectTest : public testing::TestWithParam<const char*> {};

TEST_P(LoadedObjectTest, SymbolsOfALibrary) {
  void* library = dlopen(GetParam(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  link_map* map = nullptr;
  ASSERT_EQ(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
  const LoadedObject object(map->l_addr, map->l_ld);
  EXPECT_EQ(object.find("weft_test_variable"), dlsym(library, "weft_test_variable"));
  EXPECT_EQ(object.find("weft_test_function"), dlsym(library, "weft_test_function"));
  EXPECT_EQ(object.find("abort"), nullptr);
  EXPECT_EQ(object.find("weft_test"), nullptr);
  std::set<std::string> defined;
  object.for_each_defined([&](const char* name, void* address, size_t) {
    EXPECT_EQ(address, dlsym(library, name)) << name;
    defined.insert(name);
    return false;
  });
  EXPECT_TRUE(defined.contains("weft_test_elsewhere"));
  EXPECT_FALSE(defined.contains("abort"));
  int visited = 0;
  object.for_each_defined([&](const char*, void*, size_t) { return ++visited == 2; });
  EXPECT_EQ(visited, 2);
  EXPECT_TRUE(object.needs("abort"));
  EXPECT_FALSE(object.needs("weft_test_function"));
  EXPECT_FALSE(object.needs("weft_test_nowhere"));
  dlclose(library);
}

INSTANTIATE_TEST_SUITE_P(HashTables, LoadedObjectTest, testing::Values(WEFT_TEST_LIBRARIES));

TEST(LoadedObjectOfNothing, HasNothing) {
  const LoadedObject object(0, nullptr);
  EXPECT_EQ(object.find("abort"), nullptr);
  EXPECT_FALSE(object.needs("abort"));
  object.for_each_defined([](const char*, void*, size_t) {
    ADD_FAILURE();
    return true;
  });
}

}  // namespace
}  // namespace weft::platform
