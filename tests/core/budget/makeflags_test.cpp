// SPDX-License-Identifier: Apache-2.0
// MAKEFLAGS as makes of several versions write it.
#include "core/budget/makeflags.h"

#include <string>

#include <gtest/gtest.h>

namespace {

using namespace weft::core;
using Kind = JobserverPlace::Kind;

void expect_pipe(const char* flags, int read_end, int write_end) {
  const JobserverPlace place = jobserver_place(flags);
  EXPECT_EQ(place.kind, Kind::pipe) << flags;
  EXPECT_EQ(place.read_end, read_end) << flags;
  EXPECT_EQ(place.write_end, write_end) << flags;
}

void expect_fifo(const char* flags, const char* path) {
  const JobserverPlace place = jobserver_place(flags);
  EXPECT_EQ(place.kind, Kind::fifo) << flags;
  EXPECT_STREQ(place.path.data(), path) << flags;
}

void expect(Kind kind, const char* flags) {
  EXPECT_EQ(jobserver_place(flags).kind, kind) << (flags != nullptr ? flags : "null");
}

TEST(MakeflagsTest, PipeOfEachVersion) {
  expect_pipe(" -j --jobserver-fds=3,4", 3, 4);                // make 4.1
  expect_pipe(" -j4 --jobserver-auth=3,4", 3, 4);              // make 4.3
  expect_pipe("kw -j16 --jobserver-auth=13,254 -- CC=gcc", 13, 254);
  expect_pipe("--jobserver-auth=0,1", 0, 1);
}

TEST(MakeflagsTest, FifoOfMake44) {
  expect_fifo(" -j4 --jobserver-auth=fifo:/tmp/GMfifo123", "/tmp/GMfifo123");
  expect_fifo(" -j4 --jobserver-auth=fifo:/tmp/with\\ blank/and\\\\slash -- A=b", "/tmp/with blank/and\\slash");
  const std::string longest(PATH_MAX, 'x');
  expect(Kind::none, ("--jobserver-auth=fifo:/" + longest).c_str());
}

TEST(MakeflagsTest, TheLastOneCounts) {
  expect_pipe("--jobserver-auth=3,4 --jobserver-auth=5,6", 5, 6);
  expect(Kind::withheld, "--jobserver-auth=3,4 --jobserver-auth=-2,-2");
  expect_fifo("--jobserver-fds=3,4 --jobserver-auth=fifo:/f", "/f");
}

TEST(MakeflagsTest, WhatMakeKeepsBack) {
  expect(Kind::withheld, " -j4 --jobserver-auth=-2,-2");
  expect(Kind::withheld, " -j4 --jobserver-auth=-3,4");
  expect(Kind::withheld, " -j4 --jobserver-fds=3,-1");
}

TEST(MakeflagsTest, VariablesAreNoOptions) {
  expect(Kind::none, " -- A=--jobserver-auth=3,4 --jobserver-auth=3,4");
  expect(Kind::none, "A=a\\ --jobserver-auth=3,4");
  expect_pipe(" --jobserver-auth=3,4 -- --jobserver-auth=5,6", 3, 4);
}

TEST(MakeflagsTest, WhatMakeDoesNotWrite) {
  for (const char* flags : {static_cast<const char*>(nullptr),
                            "",
                            "   ",
                            "-j",
                            "kj4",
                            "--jobserver-auth",
                            "--jobserver-auth=",
                            "--jobserver-auth=3",
                            "--jobserver-auth=3,",
                            "--jobserver-auth=,4",
                            "--jobserver-auth=3,4,5",
                            "--jobserver-auth=3,4x",
                            "--jobserver-auth=x,4",
                            "--jobserver-auth=-,4",
                            "--jobserver-auth=99999999999,4",
                            "--jobserver-auth=3;4",
                            "--jobserver-auth=fifo:",
                            "--jobserver-auth=FIFO:/x",
                            "--jobserver-authority=3,4",
                            "jobserver-auth=3,4",
                            "\\",
                            "a\\"}) {
    expect(Kind::none, flags);
  }
}

}  // namespace
