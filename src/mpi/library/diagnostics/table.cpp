// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/diagnostics/table.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include <unistd.h>

#include "mpi/library/diagnostics/describe.h"
#include "mpi/library/diagnostics/in_place.h"
#include "mpi/library/diagnostics/names.h"
#include "mpi/library/helper/helper.h"
#include "mpi/library/pending/pending_wait.h"
#include "platform/code_name.h"
#include "platform/cycles.h"

namespace weft::mpi {

namespace {

bool alike(const Description& one, const Description& other) noexcept {
  return one.name == other.name && one.peer == other.peer && one.tag == other.tag &&
         one.communicator == other.communicator && one.count == other.count && one.type == other.type &&
         one.requests == other.requests;
}

// Text that is written in one piece, so that the tables of several ranks stay apart; what does not fit is left out.
class Page {
 public:
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    const int more = std::vsnprintf(text_ + length_, sizeof text_ - length_, format, arguments);
    va_end(arguments);
    if (more > 0) length_ = std::min(length_ + static_cast<size_t>(more), sizeof text_ - 1);
  }
  void write() const noexcept {
    for (size_t written = 0; written < length_;) {
      const ssize_t more = ::write(STDERR_FILENO, text_ + written, length_ - written);
      if (more <= 0) return;
      written += static_cast<size_t>(more);
    }
  }

 private:
  char text_[32768];
  size_t length_ = 0;
};

using Cell = char[64];

void say_rank(Cell& cell, int rank, int any) noexcept {
  if (rank == Description::kNone) {
    std::snprintf(cell, sizeof cell, "-");
  } else if (rank == any) {
    std::snprintf(cell, sizeof cell, "any");
  } else {
    std::snprintf(cell, sizeof cell, "%d", rank);
  }
}

}  // namespace

std::optional<int> visit_waits(void (*visit)(const Call&, int64_t, void*), void* argument) noexcept {
  visit_pending_waits(visit, argument);
  visit_jobs(visit, argument);
  return visit_waits_in_place(visit, argument);
}

void Table::collect() noexcept {
  const auto in_place = visit_waits(
      [](const Call& call, int64_t began, void* table) { static_cast<Table*>(table)->add(call, began); }, this);
  whole_ = in_place.has_value();
}

// A free row; or, where all are taken, the row of the youngest call, if `began` is older than that; or null.
Table::Row* Table::room_for(int64_t began) noexcept {
  if (count_ < kMostRows) return &rows_[static_cast<size_t>(count_++)];
  Row* youngest =
      std::max_element(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.began < b.began; });
  return youngest->began > began ? youngest : nullptr;
}

void Table::add(const Call& call, int64_t began) noexcept {
  ++calls_;
  Description what;
  call.describe(call.arguments, what);
  Row* const end = rows_.data() + count_;
  Row* row = std::find_if(rows_.data(), end,
                          [&](const Row& known) { return known.caller == call.caller && alike(known.what, what); });
  if (row != end) {
    ++row->calls;
    row->began = std::min(row->began, began);
    return;
  }
  row = room_for(began);
  if (row == nullptr) return;
  row->what = what;
  row->caller = call.caller;
  row->began = began;
  row->calls = 1;
  row->bytes = bytes_of(what);
  name_communicator(what.communicator, row->communicator, sizeof row->communicator);
}

void Table::write(const char* title) noexcept {
  static Page page;  // there is one thread that writes
  page = Page();
  page.add("weft: mpi: %s\n", title);
  if (count_ > 0) {
    page.add("%9s  %-24s %7s %11s %12s  %-20s %6s  %s\n", "AGE", "CALL", "PEER", "TAG", "BYTES", "COMMUNICATOR",
             "CALLS", "AT");
  }
  std::sort(rows_.begin(), rows_.begin() + count_, [](const Row& a, const Row& b) { return a.began < b.began; });
  const int64_t now = platform::now_ns();
  int shown = 0;
  for (int i = 0; i < count_; ++i) {
    const Row& row = rows_[static_cast<size_t>(i)];
    Cell call;
    Cell peer;
    Cell tag;
    Cell bytes = "-";
    char at[256] = "-";
    if (row.what.requests >= 0) {
      std::snprintf(call, sizeof call, "%s, %d request%s", row.what.name, row.what.requests,
                    row.what.requests == 1 ? "" : "s");
    } else {
      std::snprintf(call, sizeof call, "%s", row.what.name);
    }
    say_rank(peer, row.what.peer, MPI_ANY_SOURCE);
    say_rank(tag, row.what.tag, MPI_ANY_TAG);
    if (row.bytes >= 0) std::snprintf(bytes, sizeof bytes, "%lld", row.bytes);
    if (row.caller != nullptr) platform::name_code(row.caller, at, sizeof at);
    page.add("%7.1f s  %-24s %7s %11s %12s  %-20s %6d  %s\n", static_cast<double>(now - row.began) * 1e-9, call, peer,
             tag, bytes, row.communicator[0] != '\0' ? row.communicator : "-", row.calls, at);
    shown += row.calls;
  }
  if (calls_ > shown) page.add("%11sand %d more\n", "", calls_ - shown);
  page.write();
}

}  // namespace weft::mpi
