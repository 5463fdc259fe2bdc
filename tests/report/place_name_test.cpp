// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "symbols/symbols.h"

namespace weft::tools {
namespace {

std::string name_in(const std::string& function) {
  return name_of({"/usr/lib/libsolver.so.1.2", function, "", 0, 0x10});
}

TEST(PlaceName, OfALineIsThatOfTheFile) { EXPECT_EQ(name_of({"/bin/a", "f", "/home/user/dir/a.c", 7, 0}), "a.c:7"); }

TEST(PlaceName, WithoutAnythingIsAnOffset) { EXPECT_EQ(name_in(""), "libsolver+0x10"); }

TEST(PlaceName, OfAFunctionHasNoTypes) {
  const struct {
    const char* function;
    const char* name;
  } cases[] = {
      {"solve", "solve"},
      {"solve._omp_fn.0", "solve"},
      {"solve(double*, int)", "solve"},
      {"ns::solve(double (*)(int))", "ns::solve"},
      {"void Tree::derive<Vec4d, false, 4>(Node*, Node*, double&)", "Tree::derive"},
      {"std::map<int, std::pair<a, b> >::size() const", "std::map::size"},
      {"double* ns::first<std::vector<int> >(std::vector<int>)", "ns::first"},
      {"ns::(anonymous namespace)::hidden(int)", "ns::hidden"},
      {"(anonymous namespace)::hidden(int)", "hidden"},
      {"Matrix::operator()(int, int)", "Matrix::operator()"},
      {"bool operator< <int>(A<int> const&, B const&)", "operator< <int>"},
      {"ns::Flag::operator bool() const", "ns::Flag::operator bool"},
      {"my_operator_apply(int)", "my_operator_apply"},
      {"run()::{lambda(int)#1}::operator()(int) const", "run"},
      {"decltype (tt) work<int>(int)", "work"},
      {"decltype ((fp)(fp0)) ns::call<void (*)(int)>(int)", "ns::call"},
      {"__solver_MOD_step", "__solver_MOD_step"},
      {"<", "<"},
      {".text", ".text"},
  };
  for (const auto& each : cases) EXPECT_EQ(name_in(each.function), std::string(each.name) + " (libsolver)");
}

}  // namespace
}  // namespace weft::tools
