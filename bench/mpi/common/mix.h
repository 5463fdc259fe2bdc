// SPDX-License-Identifier: Apache-2.0
// Numbers that depend on where they stand: as first values, and as a hash that ranks can compute in parts and add up.
#pragma once

#include <stdint.h>
#include <string.h>

// The last step of the generator splitmix64.
static inline uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// From 0 to below 1. No two places are alike, so that a number that went to a wrong place shows.
static inline double first_value(uint64_t place) { return (double)(mix(place) >> 11) * 0x1p-53; }

// What the number at this place adds to the hash.
static inline uint64_t hash_of(uint64_t place, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return mix(bits ^ mix(place));
}
