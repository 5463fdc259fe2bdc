// SPDX-License-Identifier: Apache-2.0
#include "configuration.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "refusal.h"

namespace weft::driver {

namespace {

std::string trimmed(const std::string& text) {
  constexpr const char* kBlank = " \t\r";
  const size_t begin = text.find_first_not_of(kBlank);
  return begin == std::string::npos ? std::string() : text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

void append(Words& flags, const std::string& text) {
  for (std::string& word : split_words(text)) flags.push_back(std::move(word));
}

bool is_compiler(const std::string& key) {
  for (const Language language : {Language::c, Language::cxx, Language::fortran}) {
    if (key == names_of(language).key) return true;
  }
  return false;
}

// False if there is no such key.
bool apply(Configuration& configuration, const std::string& key, const std::string& value, const std::string& from,
           Language language) {
  if (key == names_of(language).key) {
    configuration.compiler = value;
    configuration.compiler_from = from;
  } else if (key == "lower") {
    configuration.lowering = lowering_of(value, from + ": lower");
  } else if (key == "libraries") {
    configuration.libraries = value;
  } else if (key == "compile-flags") {
    append(configuration.compile_flags, value);
  } else if (key == "link-flags") {
    append(configuration.link_flags, value);
  } else {
    return is_compiler(key);
  }
  return true;
}

void read_file(Configuration& configuration, const std::filesystem::path& path, Language language) {
  std::ifstream file(path);
  if (!file) {
    if (errno == ENOENT) return;
    throw Refusal{kUsage, path.string() + ": " + std::strerror(errno)};
  }
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    line = trimmed(line);
    if (line.empty() || line[0] == '#') continue;
    const std::string from = path.string() + ":" + std::to_string(number);
    const size_t equals = line.find('=');
    const std::string value = equals != std::string::npos ? trimmed(line.substr(equals + 1)) : std::string();
    if (value.empty()) throw Refusal{kUsage, from + ": NAME = VALUE is wanted"};
    const std::string key = trimmed(line.substr(0, equals));
    if (!apply(configuration, key, value, from, language)) {
      throw Refusal{kUsage, from + ": no such name: " + key +
                                "; there are cc, cxx, fc, lower, libraries, compile-flags and link-flags"};
    }
  }
}

// Null when unset or empty.
const char* variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? nullptr : text;
}

}  // namespace

Configuration read_configuration(const std::filesystem::path& folder, Language language) {
  Configuration configuration;
  read_file(configuration, folder / "weftcc.cfg", language);
  const char* name = names_of(language).variable;
  if (const char* compiler = variable(name); compiler != nullptr) {
    configuration.compiler = compiler;
    configuration.compiler_from = name;
  }
  if (const char* text = variable("WEFTCC_LOWER"); text != nullptr) {
    configuration.lowering = lowering_of(text, std::string("WEFTCC_LOWER=") + text);
  }
  if (const char* flags = variable("WEFTCC_COMPILE_FLAGS_APPEND"); flags != nullptr) {
    append(configuration.compile_flags, flags);
  }
  if (const char* flags = variable("WEFTCC_LINK_FLAGS_APPEND"); flags != nullptr)
    append(configuration.link_flags, flags);
  return configuration;
}

}  // namespace weft::driver
