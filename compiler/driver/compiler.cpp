// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

#include "library.h"
#include "process.h"
#include "refusal.h"

namespace weft::driver {

namespace fs = std::filesystem;

namespace {

bool is_program(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

// Empty: there is none.
std::string search_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? name : std::string();
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable != nullptr ? variable : "/bin:/usr/bin");
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    std::string candidate = folder.empty() ? name : folder + "/" + name;
    if (is_program(candidate)) return candidate;
  }
  return {};
}

std::string way_out(Language language) {
  const LanguageNames& names = names_of(language);
  return std::string("install it (Debian: apt install ") + names.package + "), or name another: " + names.variable +
         "=COMPILER or --weft-cc=COMPILER";
}

Compiler default_compiler(Language language) {
  std::string tried;
  for (const char* name : names_of(language).compilers) {
    if (name == nullptr) break;
    if (std::string path = search_path(name); !path.empty()) return {std::move(path), {name}};
    tried += tried.empty() ? name : std::string(" or ") + name;
  }
  throw Refusal{kNotFound, "there is no " + tried + " in PATH; " + way_out(language)};
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// `other`: it says nothing.
Family family_by(const std::string& name) {
  if (has(name, "flang")) return Family::flang;
  if (has(name, "clang")) return Family::clang;
  if (has(name, "gcc") || has(name, "g++") || has(name, "gfortran")) return Family::gcc;
  return Family::other;
}

std::string with_no_links(const std::string& path) {
  std::error_code error;
  return fs::canonical(path, error).string();
}

// The compiler among the words: behind one that starts it, such as ccache.
std::string name_in(const Compiler& compiler) {
  for (const std::string& word : compiler.words) {
    if (family_by(base_name(word)) != Family::other) return word;
  }
  return compiler.words.front();
}

std::string version_text(const Compiler& compiler) {
  Words words = compiler.words;
  words.emplace_back("--version");
  return output_of(compiler.path, words);
}

// The number at `at`; 0: there is none.
int number_at(const std::string& text, size_t at) {
  int number = 0;
  for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0 && number < 1000; ++at) {
    number = number * 10 + (text[at] - '0');
  }
  return at == text.size() || std::isalnum(static_cast<unsigned char>(text[at])) == 0 ? number : 0;
}

int major_by(const std::string& path) {
  const std::string name = base_name(path);
  const size_t dash = name.rfind('-');
  if (dash != std::string::npos) {
    if (const int major = number_at(name, dash + 1); major > 0) return major;
  }
  const size_t folder = path.find("/llvm-");
  return folder != std::string::npos ? number_at(path, folder + 6) : 0;
}

}  // namespace

Compiler find_compiler(const std::string& wanted, const std::string& from, Language language) {
  if (wanted.empty()) return default_compiler(language);
  // A path may hold blanks.
  Words words = is_program(wanted) ? Words{wanted} : split_words(wanted);
  std::string path = words.empty() ? std::string() : search_path(words.front());
  if (path.empty()) throw Refusal{kNotFound, from + ": there is no compiler " + wanted + "; " + way_out(language)};
  if (with_no_links(path) == tools::own_path()) {
    throw Refusal{kUsage, from + ": " + wanted + " is this driver itself; name the compiler under it"};
  }
  return {std::move(path), std::move(words)};
}

Family family_of(const Compiler& compiler) {
  const Family named = family_by(base_name(name_in(compiler)));
  if (named != Family::other) return named;
  const Family real = family_by(base_name(with_no_links(compiler.path)));
  if (real != Family::other) return real;
  const std::string said = version_text(compiler);
  const Family told = family_by(said.substr(0, said.find('\n')));
  if (told != Family::other) return told;
  return has(said, "Free Software Foundation") ? Family::gcc : Family::other;
}

int llvm_major(const Compiler& compiler) {
  const std::string name = name_in(compiler);
  if (const int major = major_by(name); major > 0) return major;
  const std::string path = search_path(name);
  if (const int major = major_by(with_no_links(path.empty() ? compiler.path : path)); major > 0) return major;
  const std::string said = version_text(compiler);
  const size_t at = said.find("version ");
  return at != std::string::npos ? number_at(said, at + 8) : 0;
}

}  // namespace weft::driver
