// SPDX-License-Identifier: Apache-2.0
// Linked with each kind of hash table (loaded_object_test.cpp).
#include <cstdlib>

extern "C" {
int weft_test_variable = 7;
int weft_test_function() { return std::abs(weft_test_variable); }
void weft_test_elsewhere() { std::abort(); }
}
