// SPDX-License-Identifier: Apache-2.0
// A process that has left a core file: the kernel's, or gcore's. Its program and libraries must be where they were.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mapped_file.h"
#include "threads/inspector.h"

namespace weft::tools {

class CoreFile : public Inspector {
 public:
  // Null: *fault says why, and what to do.
  static std::unique_ptr<CoreFile> open(const std::string& path, std::string* fault);
  ~CoreFile() override;

  std::string subject() const override;
  std::string program() const override { return program_; }
  pid_t process() const override { return process_; }
  bool is_live() const override { return false; }
  std::vector<char> read_some(uint64_t address, size_t size) override;
  bool read(uint64_t address, void* data, size_t size) override;
  std::string maps_file() const override;
  std::vector<pid_t> threads() override;
  SystemThread thread(pid_t number) override;
  // A core file has no names of threads.
  std::string name_of_thread(pid_t /*number*/) override { return {}; }
  bool answers() const override { return true; }

  // The signal that has ended the process, and the thread whose own doing it was; 0: none is known.
  int signal() const { return signal_; }
  // Whether that thread's stack was full: its stack pointer has left it. `initial`: it was the initial thread's.
  bool overflowed(bool* initial) const;
  pid_t signalled() const { return signal_ != 0 && !was_sent_ && !order_.empty() ? order_.front() : 0; }

 private:
  struct Segment {
    uint64_t address = 0;
    uint64_t size = 0;     // in the file: what was not written down is not there
    uint64_t offset = 0;
    uint64_t mapped = 0;
    uint32_t flags = 0;
  };
  struct MappedPart {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t offset = 0;  // in its file
    std::string path;
  };

  explicit CoreFile(const std::string& path) : file_(path), path_(path) {}
  // Empty: all is well.
  std::string read_headers();
  void read_notes(uint64_t offset, uint64_t size);
  void take_note(uint32_t type, const std::string& owner, uint64_t offset, uint64_t size);
  void take_mapped_files(uint64_t offset, uint64_t size);
  // Where the records of weft are said to be. False: nowhere.
  bool find_inspected();
  std::string why_no_records() const;
  void write_maps();

  const MappedFile file_;
  const std::string path_;
  std::vector<Segment> segments_;
  std::vector<MappedPart> mapped_;
  std::map<pid_t, SystemThread> threads_;
  std::vector<pid_t> order_;  // the one that got the signal first
  std::string program_;
  pid_t process_ = 0;
  int signal_ = 0;
  bool was_sent_ = false;  // the signal, by kill
  uint64_t name_of_program_ = 0;  // the highest thing on the initial thread's stack
  bool is_cut_off_ = false;
  bool lacks_data_ = false;  // of libraries
  int maps_ = -1;  // a file in memory
};

}  // namespace weft::tools
