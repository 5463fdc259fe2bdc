// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <algorithm>
#include <iterator>

namespace weft::driver {

namespace {

template <size_t count>
bool is_one_of(std::string_view word, const std::string_view (&list)[count]) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

// Options whose value is the next word. It may look like anything.
constexpr std::string_view kWithValue[] = {"-o",
                                           "-x",
                                           "-I",
                                           "-D",
                                           "-U",
                                           "-L",
                                           "-l",
                                           "-F",
                                           "-J",
                                           "-T",
                                           "-u",
                                           "-z",
                                           "-e",
                                           "-A",
                                           "-G",
                                           "-MF",
                                           "-MT",
                                           "-MQ",
                                           "-include",
                                           "-imacros",
                                           "-isystem",
                                           "-iquote",
                                           "-idirafter",
                                           "-iprefix",
                                           "-iwithprefix",
                                           "-iwithprefixbefore",
                                           "-isysroot",
                                           "-imultilib",
                                           "-include-pch",
                                           "-Xlinker",
                                           "-Xclang",
                                           "-Xflang",
                                           "-Xpreprocessor",
                                           "-Xassembler",
                                           "-Xopenmp-target",
                                           "-mllvm",
                                           "-mmlir",
                                           "--param",
                                           "--sysroot",
                                           "--target",
                                           "-target",
                                           "-arch",
                                           "-wrapper",
                                           "-aux-info",
                                           "-dumpbase",
                                           "-dumpbase-ext",
                                           "-dumpdir",
                                           "-specs",
                                           "-rpath",
                                           "-B",
                                           "-ccc-gcc-name",
                                           "-gcc-toolchain",
                                           "-module-dir",
                                           "-fintrinsic-modules-path",
                                           "--config",
                                           "-framework",
                                           "-working-directory",
                                           "-serialize-diagnostics",
                                           "-undefined",
                                           "-install_name"};

// What a compiler compiles, by the end of the name. Assembler and LLVM's own code are no sources: nothing of OpenMP is
// left in the former, and the latter has been through the pass.
constexpr std::string_view kSources[] = {"c",    "i",   "cc",  "cp",  "cxx", "cpp", "c++", "CPP", "C",   "ii",
                                         "cppm", "m",   "mi",  "mm",  "M",   "mii", "cu",  "f",   "for", "ftn",
                                         "f77",  "f90", "f95", "f03", "f08", "f18", "F",   "FOR", "FTN", "fpp",
                                         "FPP",  "F77", "F90", "F95", "F03", "F08", "F18", "ff90"};

constexpr std::string_view kPreprocess[] = {
    "-E",        "-M",        "-MM",         "-fsyntax-only", "--preprocess", "--dependencies", "--user-dependencies",
    "-emit-ast", "--analyze", "--precompile"};
constexpr std::string_view kCompile[] = {"-c", "-S", "--compile", "--assemble", "-emit-llvm-bc"};
constexpr std::string_view kStatic[] = {"-static", "--static", "-static-pie", "-static-openmp"};

bool starts(std::string_view word, std::string_view with) { return word.substr(0, with.size()) == with; }

bool is_own(std::string_view word) {
  return starts(word, "--weft-") || word == "--showme" || starts(word, "--showme:");
}

// The machine of this build, as the names of targets begin.
#if defined(__x86_64__)
constexpr std::string_view kMachine = "x86_64";
#elif defined(__aarch64__)
constexpr std::string_view kMachine = "aarch64";
#endif

class Reader {
 public:
  // `words` with no response files in it.
  explicit Reader(const Words& words) : words_(words) {}

  CommandLine read() {
    for (at_ = 0; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (only_files_) {
        file(word);
      } else if (is_own(word)) {
        line_.own.push_back(word);
        continue;
      } else if (word.size() < 2 || word[0] != '-') {
        file(word);
      } else {
        option(word);
        continue;
      }
      line_.compiler.push_back(word);
    }
    return std::move(line_);
  }

 private:
  void option(const std::string& word) {
    line_.compiler.push_back(word);
    meaning(word);
    if (!is_one_of(word, kWithValue) || at_ + 1 == words_.size()) return;
    const std::string& value = words_[++at_];
    line_.compiler.push_back(value);
    if (word == "-o") line_.output = value;
    if (word == "-x") language_ = value;
    if (word == "-target" || word == "--target") target(word + " " + value, value);
    if (word == "-l") line_.inputs = true;
  }

  void meaning(const std::string& word) {
    if (const std::string_view usual = usual_spelling(word); !usual.empty()) return openmp(usual);
    if (word == "--") {
      only_files_ = true;
    } else if (is_one_of(word, kPreprocess)) {
      line_.goal = Goal::preprocess;
    } else if (is_one_of(word, kCompile)) {
      line_.goal = std::min(line_.goal, Goal::compile);
    } else if (word == "-r") {
      line_.goal = std::min(line_.goal, Goal::partial_link);
    } else if (word == "-shared" || word == "--shared") {
      line_.shared = true;
    } else if (is_one_of(word, kStatic)) {
      line_.static_runtime = true;
    } else if (word == "-m32" || word == "-mx32") {
      line_.foreign = word;
    } else if (starts(word, "--target=")) {
      target(word, word.substr(9));
    } else if (starts(word, "-fsanitize=")) {
      line_.thread_sanitizer = line_.thread_sanitizer || word.find("thread") != std::string::npos;
    } else if (starts(word, "-x") && word.size() > 2) {
      language_ = word.substr(2);
    } else if (starts(word, "-o") && word.size() > 2) {
      line_.output = word.substr(2);
    } else if (starts(word, "-l")) {
      line_.inputs = true;
    }
  }

  void openmp(std::string_view usual) {
    line_.openmp = usual != "-fno-openmp";
    const size_t equals = usual.find('=');
    if (equals != std::string_view::npos) line_.openmp_runtime = usual.substr(equals + 1);
  }

  void target(const std::string& words, const std::string& name) {
    line_.foreign = starts(name, kMachine) ? std::string() : words;
  }

  void file(const std::string& name) {
    line_.inputs = true;
    if (is_source(name)) line_.sources.push_back(name);
  }

  bool is_source(const std::string& name) const {
    if (!language_.empty() && language_ != "none") {
      return !starts(language_, "assembler") && language_ != "ir" && language_.find("header") == std::string::npos;
    }
    const size_t dot = name.rfind('.');
    return dot != std::string::npos && is_one_of(std::string_view(name).substr(dot + 1), kSources);
  }

  const Words& words_;
  size_t at_ = 0;
  bool only_files_ = false;  // behind "--"
  std::string language_;     // of -x
  CommandLine line_;
};

}  // namespace

std::string_view usual_spelling(std::string_view word) {
  if (word == "-fopenmp" || starts(word, "-fopenmp=") || word == "-fno-openmp") return word;
  if (word == "--openmp") return "-fopenmp";
  if (word == "-qopenmp" || word == "-mp" || starts(word, "-mp=") || starts(word, "-qopenmp=")) return "-fopenmp";
  if (word == "-qno-openmp" || word == "-nomp") return "-fno-openmp";
  return {};
}

CommandLine read_command_line(const Words& words) {
  const Words expanded = expand_response_files(words);
  CommandLine line = Reader(expanded).read();
  // Response files stay on the line unless there is something in them that the compiler must not see.
  if (expanded != words) {
    const CommandLine visible = Reader(words).read();
    const bool respelled = std::any_of(line.compiler.begin(), line.compiler.end(), [](const std::string& word) {
      const std::string_view usual = usual_spelling(word);
      return !usual.empty() && usual != word;
    });
    if (visible.own.size() == line.own.size() && !respelled) line.compiler = visible.compiler;
  }
  return line;
}

}  // namespace weft::driver
