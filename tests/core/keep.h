// SPDX-License-Identifier: Apache-2.0
// What threads of the core may still look at a moment later is never freed by a test; a leak checker finds it here.
#pragma once

#include <vector>

namespace weft::core {

template <class T>
T* keep(T* object) {
  static auto* const kept = new std::vector<T*>;
  kept->push_back(object);
  return object;
}

}  // namespace weft::core
