// SPDX-License-Identifier: Apache-2.0
// What `weft top` shows on a terminal, and what keys change of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "colour.h"
#include "keys.h"
#include "top/program_tree.h"

namespace weft::tools {

struct ScreenSize {
  size_t lines = 24;
  size_t columns = 80;
};

// What a look has found.
struct Look {
  const ProgramRows& rows;
  int cpus = 0;  // of the machine
  int yama = 0;  // kernel.yama.ptrace_scope
  const std::vector<std::string>& below;  // what stands below the list
};

class View {
 public:
  View(bool tree, std::string filter) : tree_(tree), filter_(std::move(filter)) {}

  // No more than the size, and as many columns, beside colours.
  std::vector<std::string> lines(const Look& look, ScreenSize size, const Colour& paint);

  void press(const Key& key);
  bool has_ended() const { return ended_; }

 private:
  enum class Mode { table, filter, signal, help };

  void press_in_table(const Key& key);
  void press_in_filter(const Key& key);
  void press_in_signal(const Key& key);
  void ask_for_signal();
  void move_selection(int64_t by);
  std::vector<std::string> list_lines(const Look& look, const std::vector<ListedProcess>& listed, ScreenSize size,
                                      const Colour& paint);
  std::string last_line() const;

  Mode mode_ = Mode::table;
  TableOrder order_ = TableOrder::cpu;
  bool tree_;
  bool ended_ = false;
  std::string filter_;
  std::string typed_;    // a signal
  bool is_proposed_ = false;  // nobody has typed it yet
  std::string message_;  // until the next key

  // Of the list that was shown last.
  struct Shown {
    int pid = 0;
    uint64_t start = 0;
    std::string command;
  };
  std::vector<Shown> shown_;
  Shown selected_;  // no number: none is
  Shown target_;    // of the signal that is asked for
  size_t first_ = 0;  // on the screen
  size_t page_ = 1;
};

}  // namespace weft::tools
