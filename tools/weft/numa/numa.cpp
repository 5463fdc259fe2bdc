// SPDX-License-Identifier: Apache-2.0
#include "numa/numa.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <unistd.h>

#include "base/message.h"
#include "child.h"
#include "executable.h"
#include "exit_codes.h"
#include "library.h"
#include "numa/kernel.h"
#include "numa/kernel_listener.h"
#include "numa/report.h"
#include "numa/running.h"
#include "numa/watched.h"
#include "platform/cpu_set.h"
#include "platform/file_name.h"
#include "program.h"
#include "record_folder.h"
#include "report_file.h"

namespace weft::tools {

namespace {

namespace fs = std::filesystem;
using numa::Evidence;
using numa::Kernel;
using numa::Means;
using numa::Report;

// "512K" in bytes; 0: something else.
uint64_t parse_size(const std::string& text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, number);
  if (fault != std::errc() || end - rest > 1) return 0;
  int shift = 0;
  if (rest != end) {
    const size_t unit =
        std::string_view("KMG").find(static_cast<char>(std::toupper(static_cast<unsigned char>(*rest))));
    if (unit == std::string_view::npos) return 0;
    shift = 10 * static_cast<int>(unit + 1);
  }
  return number > UINT64_MAX >> shift ? 0 : number << shift;
}

struct ReportFiles {
  explicit ReportFiles(const NumaOptions& options)
      : text("numa", "-o", options.output),
        json("numa", "--json", options.json),
        picture("numa", "--svg", options.picture) {}
  bool good() const { return text.good() && json.good() && picture.good(); }
  ReportFile text;
  ReportFile json;
  ReportFile picture;
};

// All forms that were asked for; `text` is where the one for people goes without -o.
bool write_reports(const NumaOptions& options, ReportFiles& files, const std::vector<Report>& reports,
                   std::FILE* text) {
  // A reader that has gone is an error like others: the folder of the records must not stay.
  std::signal(SIGPIPE, SIG_IGN);
  bool good = true;
  std::string words;
  for (const Report& report : reports) words += numa::to_text(report);
  if (!options.output.empty()) {
    good = files.text.write(words);
  } else if (options.json != "-") {
    good = std::fwrite(words.data(), 1, words.size(), text) == words.size();
    if (std::fflush(text) != 0) good = false;
    if (!good && text == stderr) return false;  // there is nobody to tell
  }
  if (!options.json.empty()) good = files.json.write(numa::to_json(reports)) && good;
  if (!options.picture.empty()) good = files.picture.write(numa::to_picture(reports)) && good;
  return good;
}

bool write_settings(const fs::path& folder, const weft::numa::Settings& settings) {
  std::ofstream out(folder / weft::numa::kSettingsFile, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&settings), sizeof settings);
  out.close();
  if (out) return true;
  base::warn("numa: %s: %s", folder.c_str(), std::strerror(errno));
  return false;
}

void preload(const std::string& library) {
  const char* before = std::getenv("LD_PRELOAD");
  const std::string all = before != nullptr && *before != '\0' ? library + ":" + before : library;
  setenv("LD_PRELOAD", all.c_str(), 1);
}

// The memory maps of a process as symbols want them: in a file.
std::vector<Report> analyse_all(const Kernel& kernel, const std::vector<Evidence>& all, const fs::path& folder) {
  std::vector<Report> reports;
  for (const Evidence& evidence : all) {
    const fs::path maps = folder / "maps";
    std::ofstream(maps) << evidence.maps;
    const auto symbols = read_symbols(maps);
    reports.push_back(numa::analyse(kernel, evidence, symbols.get()));
  }
  return reports;
}

bool is_number(const std::string& word) {
  return word.size() < 10 && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The program as it will be started, or the exit code of this command where it cannot be.
int find_program(const NumaOptions& options, const RunOptions& run, Program& program) {
  if (options.on_weft) return prepare(run, program);
  program = examine_program(options.command.front());
  if (!program.complaint.empty()) base::warn("%s", program.complaint.c_str());
  return program.path.empty() ? program.exit_code : 0;
}

int look_at_program(const NumaOptions& options, const RunOptions& run, ReportFiles& files,
                    const weft::numa::Settings& settings) {
  Program program;
  if (const int fault = find_program(options, run, program); fault != 0) {
    if (program.path.empty() && options.command.size() > 1 && is_number(options.command.front())) {
      base::warn("numa: for a process that runs, give its number alone; for several, call weft numa for each one");
    }
    return fault;
  }
  const fs::path plain = find_libraries().numa;
  const std::string library = options.protect ? plain.parent_path() / "libweft-numa-protect.so" : plain;
  if (access(library.c_str(), R_OK) != 0 || library.find_first_of(": \t\n") != std::string::npos) {
    base::warn("numa: %s: cannot be preloaded; install weft again, in a folder without colons and spaces in its path",
               library.c_str());
    return kUsage;
  }
  if (const std::string why = options.protect ? way_past_libc(program.path) : std::string(); !why.empty()) {
    base::warn(
        "numa: --protect: %s %s: its system calls would fail on a page that is protected. Leave --protect out: who "
        "touches "
        "memory first is seen without it",
        program.path.c_str(), why.c_str());
    return kUsage;
  }
  const RecordFolder folder("numa");
  if (folder.path().empty() || !write_settings(folder.path(), settings)) return kFailed;
  setenv("WEFT_NUMA_RECORD", folder.path().c_str(), 1);
  if (program.takes_libraries) preload(library);
  const auto kernel = numa::running_kernel();
  std::string words;
  for (const std::string& word : options.command) words += (words.empty() ? "" : " ") + word;
  numa::Watched watched(*kernel, folder.path(), words);
  const Means means = options.touch == "off" ? Means::none : options.protect ? Means::protection : Means::kernel;
  std::optional<numa::KernelListener> listener;
  if (means == Means::kernel) listener.emplace(*kernel, options.touch != "first");
  const Ending ending = run_child("numa", program.path, options.command, [&] { watched.look(); });
  std::vector<Evidence> all = watched.finish();
  for (Evidence& evidence : all) evidence.means = means;
  if (listener) listener->report_touches(all);
  if (watched.without_room() > 0) {
    base::warn("numa: %s: no room for what was found out in %d process%s; free some there, or in TMPDIR",
               folder.path().c_str(), watched.without_room(), watched.without_room() == 1 ? "" : "es");
  }
  if (all.empty()) {
    base::warn("numa: %s has left nothing to report: was the collector kept out of it?", program.path.c_str());
    return ending.exit_code != 0 ? ending.exit_code : kFailed;
  }
  const bool written = write_reports(options, files, analyse_all(*kernel, all, folder.path()), stderr);
  return ending.exit_code != 0 || written ? ending.exit_code : kFailed;
}

int look_at_process(const NumaOptions& options, ReportFiles& files, const weft::numa::Settings& settings) {
  const std::string& name = options.command.front();
  const auto kernel = numa::running_kernel();
  std::vector<Evidence> one(1);
  std::string why;
  const RecordFolder folder("numa");
  if (folder.path().empty()) return kFailed;
  if (!numa::look_at_running(*kernel, std::atoi(name.c_str()), settings.least_size, one.front(), why)) {
    base::warn("numa: process %s: %s", name.c_str(), why.c_str());
    return kFailed;
  }
  return write_reports(options, files, analyse_all(*kernel, one, folder.path()), stdout) ? 0 : kFailed;
}

bool is_process(const NumaOptions& options) {
  return !options.is_program && options.command.size() == 1 && is_number(options.command.front());
}

}  // namespace

int show_numa(NumaOptions options, const RunOptions& run) {
  weft::numa::Settings settings;
  settings.least_size = parse_size(options.least_size);
  constexpr uint64_t kLeast = 64 << 10;
  if (settings.least_size < kLeast) {
    base::warn("--min-size %s: a size from 64K on is wanted, such as 256K, 4M or 1G", options.least_size.c_str());
    return kUsage;
  }
  for (std::string* name : {&options.output, &options.json, &options.picture}) {
    *name = platform::with_numbers(*name, getpid());
  }
  if (!are_apart("numa", {{"-o", options.output}, {"--json", options.json}, {"--svg", options.picture}})) return kUsage;
  if (options.on_weft && is_process(options)) {
    base::warn(
        "numa: options of weft run say how a program is started, and the process %s runs already; leave them out",
        options.command.front().c_str());
    return kUsage;
  }
  if (options.protect && is_process(options)) {
    base::warn(
        "numa: --protect: the process %s runs already; its pages are protected only where weft numa --protect has "
        "started it",
        options.command.front().c_str());
    return kUsage;
  }
  if (options.protect && options.touch == "off") {
    base::warn("numa: --protect: pages are protected to see who touches them: leave out --touch off");
    return kUsage;
  }
  settings.touching = !options.protect           ? weft::numa::Touching::off
                      : options.touch == "first" ? weft::numa::Touching::first
                                                 : weft::numa::Touching::sample;
  const platform::CpuSet cpus = platform::thread_cpus();
  std::memcpy(settings.cpus, cpus.data(), sizeof settings.cpus);
  settings.command = getpid();
  ReportFiles files(options);
  if (!files.good()) return kFailed;
  return is_process(options) ? look_at_process(options, files, settings)
                             : look_at_program(options, run, files, settings);
}

}  // namespace weft::tools
