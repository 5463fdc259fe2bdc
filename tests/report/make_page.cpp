// SPDX-License-Identifier: Apache-2.0
// For the tests of the page: make_page TEMPLATE REPORT.json PAGE.html, as `weft report` makes it.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include "report/page/page.h"

namespace {

std::string text_of(const char* file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int count, char** names) {
  if (count != 4) return std::fprintf(stderr, "make_page TEMPLATE REPORT.json PAGE.html\n"), 2;
  try {
    std::ofstream(names[3], std::ios::binary) << weft::tools::report::page_of(text_of(names[1]), text_of(names[2]));
  } catch (const std::exception& problem) {
    return std::fprintf(stderr, "make_page: %s\n", problem.what()), 1;
  }
  return 0;
}
