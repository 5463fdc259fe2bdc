// SPDX-License-Identifier: Apache-2.0
#include "top/view.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/wording/numbers.h"

namespace weft::tools {
namespace {

using Lines = std::vector<std::string>;

class ViewTest : public testing::Test {
 protected:
  ViewTest() {
    for (int i = 0; i < 40; ++i) {
      ProgramRow row;
      row.pid = 1000 + i;
      row.name = row.command = "program " + std::to_string(i);
      row.allowed = 2;
      rows_.programs.push_back(row);
    }
    rows_.programs[3].command = "evil \x1b[31m\nname";
  }

  Lines lines(size_t height = 24, size_t width = 80, bool colour = false) {
    const Lines all = view_.lines({rows_, 2, 0, below_}, {height, width}, Colour(colour));
    EXPECT_LE(all.size(), height);
    for (const std::string& line : all) {
      EXPECT_EQ(line.find('\n'), std::string::npos) << line;
      if (colour) continue;
      EXPECT_LE(report::columns(line), width) << line;
      EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
    }
    return all;
  }
  std::string screen(size_t height = 24, size_t width = 80) {
    std::string text;
    for (const std::string& line : lines(height, width)) text += line + "\n";
    return text;
  }
  void press(Key::Kind kind, int count = 1) {
    for (int i = 0; i < count; ++i) view_.press({.kind = kind});
  }
  void type(const std::string& text) {
    for (const char character : text) view_.press({.kind = Key::text, .character = character});
  }
  // The line that is selected; empty: none.
  std::string selected() {
    for (const std::string& line : lines()) {
      if (line.starts_with('>')) return line;
    }
    return {};
  }

  ProgramRows rows_;
  Lines below_;
  View view_{false, ""};
};

TEST_F(ViewTest, FitsEverySize) {
  below_ = Lines(10, std::string(200, 'x'));
  for (size_t height = 1; height < 60; height += 3) {
    for (size_t width = 1; width < 200; width += 7) {
      lines(height, width);
      press(Key::end);
      press(Key::home);
    }
  }
}

TEST_F(ViewTest, ColoursAreBesideTheText) {
  rows_.programs[0].cpus = 1;
  const Lines all = lines(24, 80, true);
  EXPECT_NE(all[2].find("\x1b[32m"), std::string::npos) << all[2];
}

TEST_F(ViewTest, NamesOfOthersCannotChangeTheTerminal) { EXPECT_NE(screen(60).find("evil ?[31m?name"), std::string::npos); }

TEST_F(ViewTest, TheSelectedProcessStaysOnTheScreen) {
  EXPECT_EQ(selected(), "");
  press(Key::down);
  EXPECT_NE(selected().find(" 1000 "), std::string::npos);
  press(Key::down, 30);
  EXPECT_NE(selected().find(" 1030 "), std::string::npos);
  press(Key::end);
  EXPECT_NE(selected().find(" 1039 "), std::string::npos);
  press(Key::page_up);
  EXPECT_NE(selected(), "");
  press(Key::home);
  EXPECT_NE(selected().find(" 1000 "), std::string::npos);
  press(Key::escape);
  EXPECT_EQ(selected(), "");
}

TEST_F(ViewTest, TheSelectionFollowsTheProcessAndGoesWithIt) {
  press(Key::none);
  lines();
  press(Key::down, 2);
  rows_.programs[1].cpus = 2;
  EXPECT_NE(selected().find(" 1001 "), std::string::npos);
  // Another process with this number.
  rows_.programs[1].start = 5;
  EXPECT_EQ(selected(), "");
}

TEST_F(ViewTest, AFilterIsTyped) {
  type("/");
  type("gram 3");
  EXPECT_NE(screen().find("filter: gram 3_"), std::string::npos);
  EXPECT_EQ(screen().find("program 4"), std::string::npos);
  EXPECT_NE(screen().find("program 30"), std::string::npos);
  press(Key::erase, 2);
  press(Key::enter);
  EXPECT_NE(screen().find("filter: gram (Esc ends it)"), std::string::npos);
  type("/");
  type("q");
  EXPECT_FALSE(view_.has_ended());
  EXPECT_NE(screen().find("no process fits"), std::string::npos);
  press(Key::escape);
  EXPECT_NE(screen().find("program 4"), std::string::npos);
}

TEST_F(ViewTest, ASignalNeedsASelectedProcessAndAName) {
  type("k");
  EXPECT_NE(screen().find("select a process first"), std::string::npos);
  press(Key::down);
  type("k");
  EXPECT_NE(screen().find("signal to 1000: TERM_"), std::string::npos);
  type("nonsense");
  press(Key::enter);
  EXPECT_NE(screen().find("nonsense: there is no such signal"), std::string::npos);
}

TEST_F(ViewTest, ASignalGoesToNobodyElse) {
  // There are no processes that were started then.
  for (ProgramRow& row : rows_.programs) row.start = 1;
  lines();
  press(Key::down);
  type("k");
  // The question stays whom it was about.
  rows_.programs.clear();
  EXPECT_NE(screen().find("signal to 1000: TERM_"), std::string::npos);
  press(Key::enter);
  EXPECT_NE(screen().find("SIGTERM is not sent to 1000"), std::string::npos);
}

TEST_F(ViewTest, HelpFitsAndGoes) {
  type("?");
  EXPECT_NE(screen().find("Any key goes back."), std::string::npos);
  type("q");
  EXPECT_FALSE(view_.has_ended());
  type("q");
  EXPECT_TRUE(view_.has_ended());
}

TEST_F(ViewTest, SaysOnceWhyNothingIsKnown) {
  for (ProgramRow& row : rows_.programs) row.record = RecordState::forbidden;
  const Lines all = view_.lines({rows_, 2, 1, below_}, {24, 80}, Colour(false));
  int found = 0;
  for (const std::string& line : all) found += line.find("ptrace_scope is 1") != std::string::npos ? 1 : 0;
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace weft::tools
