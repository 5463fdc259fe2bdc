// SPDX-License-Identifier: Apache-2.0
// `weft trace`: the program as a child, so that somebody is there to say what became of its trace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "child.h"
#include "run.h"

namespace weft::tools {

// The file that a program is to write its trace into, as it was before the program.
class TraceFile {
 public:
  // %p in the name stands for the process's number, %r for its rank. Warns as weft's command `command`, to which
  // `option` gave the name, where the file could not be written.
  TraceFile(const std::string& command, const std::string& option, const std::string& name);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  bool good() const { return good_; }
  // Says what became of it where it is not the whole trace. `name`: of the program. False: there is no trace, or not
  // all of it could be written, which is a failure of the command.
  bool say_what_is_missing(const Ending& ending, const Program& program, const std::string& name) const;

 private:
  // What tells one state of a file from another; of none it is 0.
  struct Seen {
    explicit Seen(const std::string& file);
    bool operator==(const Seen& other) const { return inode == other.inode && changed == other.changed; }

    uint64_t inode = 0;
    int64_t changed = 0;
    bool is_plain = true;
  };

  const std::string wanted_;
  const Seen before_;
  const std::filesystem::file_time_type began_;
  bool good_ = true;
  std::string waiting_;  // the file that says so to the program (observe/format/trace_files.h); empty: there is none
};

// The exit code.
int make_trace(const RunOptions& options);

}  // namespace weft::tools
