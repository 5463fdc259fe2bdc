// SPDX-License-Identifier: Apache-2.0
#include "keys.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace weft::tools {
namespace {

Key only_key(std::string sent) {
  const Key key = take_key(sent);
  EXPECT_EQ(sent, "");
  return key;
}

TEST(KeysTest, TextComesAsItIs) {
  std::string sent = "q/";
  EXPECT_TRUE(take_key(sent).is('q'));
  EXPECT_TRUE(take_key(sent).is('/'));
  EXPECT_EQ(take_key(sent).kind, Key::none);
}

TEST(KeysTest, SequencesOfAllKindsOfTerminals) {
  for (const char* up : {"\x1b[A", "\x1bOA", "\x1b[1;5A"}) EXPECT_EQ(only_key(up).kind, Key::up) << up + 1;
  for (const char* home : {"\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"}) EXPECT_EQ(only_key(home).kind, Key::home);
  EXPECT_EQ(only_key("\x1b[6~").kind, Key::page_down);
  for (const char* first : {"\x1bOP", "\x1b[11~", "\x1b[[A"}) EXPECT_EQ(only_key(first).number, 1) << first + 1;
  EXPECT_EQ(only_key("\x1b[15~").number, 5);
  EXPECT_EQ(only_key("\x1b[[E").number, 5);
  EXPECT_EQ(only_key("\x1b[20~").number, 9);
  EXPECT_EQ(only_key("\x1b[21~").number, 10);
}

TEST(KeysTest, WhatIsNotWholeIsNotTaken) {
  for (const char* part : {"", "\x1b", "\x1b[", "\x1b[1", "\x1b[1;", "\x1bO", "\x1b[["}) {
    std::string sent = part;
    EXPECT_EQ(take_key(sent).kind, Key::none);
    EXPECT_EQ(sent, part);
  }
}

TEST(KeysTest, AnEscapeBeforeAnotherKeyIsOneItself) {
  std::string sent = "\x1bq";
  EXPECT_EQ(take_key(sent).kind, Key::escape);
  EXPECT_TRUE(take_key(sent).is('q'));
}

TEST(KeysTest, AnyBytesEnd) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string sent;
    for (int i = 0; i < 40; ++i) sent += "\x1b[O~;19Aq\x00\xff"[random() % 11];
    size_t left = sent.size() + 1;
    while (left > sent.size() && take_key(sent).kind != Key::none) left = sent.size() + 1;
    EXPECT_LE(sent.size(), 40U);
  }
}

}  // namespace
}  // namespace weft::tools
