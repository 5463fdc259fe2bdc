// SPDX-License-Identifier: Apache-2.0
// What files of /proc may say.
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "proc_file.h"
#include "process_stat.h"
#include "top/mapped_runtime.h"
#include "top/send_signal.h"

namespace weft::tools {
namespace {

using namespace std::string_literals;

TEST(ProcTextsTest, CommandLines) {
  EXPECT_EQ(command_line_in("/usr/bin/python3\0train.py\0--x\0"s), "python3 train.py --x");
  EXPECT_EQ(command_line_in("worker\0\0\0"s), "worker");
  EXPECT_EQ(command_line_in("sshd: root@pts/0"s), "sshd: root@pts/0");
  EXPECT_EQ(command_line_in("program\0/a/file\0"s), "program /a/file");
  EXPECT_EQ(command_line_in("/folder/\0x"s), "/folder/ x");
  EXPECT_EQ(command_line_in(""), "");
  EXPECT_EQ(command_line_in("\0\0"s), "");
  EXPECT_LE(command_line_in(std::string(100'000, 'x')).size(), 1000U);
}

TEST(ProcTextsTest, StatOfAnyName) {
  ProcessStat stat;
  const std::string rest = " S 12 0 0 0 0 4194304 0 0 0 0 100 200 0 0 20 0 5 0 777 0";
  ASSERT_TRUE(parse_stat("42 (a) R 1 (b)" + rest, stat));
  EXPECT_EQ(stat.name, "a) R 1 (b");
  EXPECT_EQ(stat.parent, 12);
  EXPECT_EQ(stat.threads, 5);
  EXPECT_EQ(stat.start, 777U);
  for (const char* broken : {"", "42", "42 (a", "42 (a) ", "42 (a) S 1 2", "42 (a) S x y z", ") ("}) {
    EXPECT_FALSE(parse_stat(broken, stat)) << broken;
  }
  EXPECT_TRUE(read_process_stat(getpid(), stat));
  EXPECT_EQ(stat.parent, getppid());
}

TEST(ProcTextsTest, Mappings) {
  const std::string maps =
      "1000-2000 r-xp 0 08:01 5 /opt/weft/lib/weft/libgomp.so.1\n"
      "3000-4000 rw-p 0 08:01 5 /opt/weft/lib/weft/libgomp.so.1\n"
      "5000-6000 rw-p 0 08:01 6 /usr/lib/libgomp.so.1\n"
      "7000-8000 rw-p 0 08:01 7 /usr/lib/libc.so.6\n"
      "9000-a000 rw-p 0 08:01 5 /opt/weft/lib/weft/libgomp.so.1 (deleted)";
  const MappedRuntime found = runtime_in(maps);
  ASSERT_TRUE(found.is_there);
  ASSERT_EQ(found.data.size(), 2U);
  EXPECT_EQ(found.data[0].begin, 0x3000U);
  EXPECT_EQ(found.data[1].end, 0xa000U);
  EXPECT_FALSE(runtime_in("5000-6000 rw-p 0 08:01 6 /usr/lib/libgomp.so.1\n").is_there);
  EXPECT_TRUE(runtime_in("x-y rw-p /weft/libgomp.so").data.empty());
  EXPECT_FALSE(runtime_in("").is_there);
}

TEST(ProcTextsTest, Signals) {
  EXPECT_EQ(signal_named("TERM"), 15);
  EXPECT_EQ(signal_named("sigusr1"), 10);
  EXPECT_EQ(signal_named("9"), 9);
  for (const char* none : {"", "0", "-9", "1000", "9x", "SIG", "nonsense"}) EXPECT_EQ(signal_named(none), 0) << none;
  EXPECT_EQ(name_of_signal(15), "SIGTERM");
  EXPECT_EQ(name_of_signal(40), "signal 40");
  EXPECT_NE(send_signal(getpid(), 1, 9), "");
  EXPECT_NE(send_signal(0, 1, 9), "");
}

}  // namespace
}  // namespace weft::tools
