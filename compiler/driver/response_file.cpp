// SPDX-License-Identifier: Apache-2.0
#include "response_file.h"

#include <cctype>
#include <cstdio>
#include <memory>

namespace weft::driver {

namespace {

// Deeper than any build nests them; a file that names itself ends here.
constexpr int kMostNested = 32;

bool read_file(const char* name, std::string& text) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(name, "re"), std::fclose);
  if (file == nullptr) return false;
  char part[4096];
  size_t size = 0;
  while ((size = std::fread(part, 1, sizeof part, file.get())) > 0) text.append(part, size);
  return std::ferror(file.get()) == 0;
}

void expand_into(Words& expanded, const Words& words, int nested) {
  for (const std::string& word : words) {
    std::string text;
    if (nested < kMostNested && word.size() > 1 && word[0] == '@' && read_file(word.c_str() + 1, text)) {
      expand_into(expanded, split_words(text), nested + 1);
    } else {
      expanded.push_back(word);
    }
  }
}

}  // namespace

Words split_words(const std::string& text) {
  Words words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size() && quote != '\'') {
      word += text[++i];
      in_word = true;
    } else if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

Words expand_response_files(const Words& words) {
  Words expanded;
  expand_into(expanded, words, 0);
  return expanded;
}

}  // namespace weft::driver
