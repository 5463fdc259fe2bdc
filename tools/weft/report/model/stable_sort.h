// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <list>
#include <utility>
#include <vector>

namespace weft::tools::report {

// As std::stable_sort(), which libstdc++ 12 builds on what C++17 has deprecated.
template <class Item, class Less>
void sort_stably(std::vector<Item>& items, Less less) {
  std::list<Item> sorted(std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
  sorted.sort(less);
  std::move(sorted.begin(), sorted.end(), items.begin());
}

}  // namespace weft::tools::report
