// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include "report/compare/compare.h"

namespace weft::tools::report {

namespace {

std::vector<std::string> files_of(const std::string& list) {
  std::vector<std::string> files;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    files.push_back(list.substr(at, comma - at));
    if (files.back().empty()) throw std::runtime_error("\"" + list + "\": a name of a file is missing");
    at = comma + 1;
  }
  return files;
}

template <class Iterator>
std::vector<std::string> files_of(Iterator from, Iterator to) {
  std::vector<std::string> all;
  for (; from != to; ++from) {
    for (std::string& file : files_of(*from)) all.push_back(std::move(file));
  }
  return all;
}

}  // namespace

Sides sides_of(const std::vector<std::string>& words) {
  constexpr char kHow[] =
      "name one on each side, as in A.json B.json, or several, as in A1.json,A2.json B1.json,B2.json";
  auto between = std::find(words.begin(), words.end(), "--");
  const bool divided = between != words.end();
  if (!divided) {
    if (words.size() < 2) throw std::runtime_error(std::string("two reports are wanted: ") + kHow);
    if (words.size() > 2) {
      throw std::runtime_error(std::string("which of these reports belong together? ") + kHow);
    }
    between = words.begin() + 1;
  }
  Sides sides = {files_of(words.begin(), between), files_of(between + (divided ? 1 : 0), words.end())};
  if (sides.before.empty() || sides.after.empty()) throw std::runtime_error(std::string("one side is empty: ") + kHow);
  return sides;
}

}  // namespace weft::tools::report
