// SPDX-License-Identifier: Apache-2.0
// JSON into a file, piece by piece.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace weft::observe {

class Json {
 public:
  explicit Json(std::FILE* file) : file_(file) {}

  void key(const char* name) {
    comma();
    std::fprintf(file_, "\"%s\":", name);
    first_ = true;
  }
  void open(char bracket) {
    comma();
    std::fputc(bracket, file_);
    first_ = true;
  }
  void close(char bracket) {
    std::fputc(bracket, file_);
    first_ = false;
  }
  void value(double number) {
    comma();
    std::fprintf(file_, "%.10g", number);
  }
  void value(uint64_t number) {
    comma();
    std::fprintf(file_, "%llu", static_cast<unsigned long long>(number));
  }
  void value(int number) {
    comma();
    std::fprintf(file_, "%d", number);
  }
  // Bytes that are no UTF-8 are kept as characters of their number.
  void value(const std::string& text) {
    comma();
    std::fputc('"', file_);
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\') {
        std::fprintf(file_, "\\u%04x", byte);
      } else {
        std::fputc(c, file_);
      }
    }
    std::fputc('"', file_);
  }
  template <class Value>
  void field(const char* name, const Value& what) {
    key(name);
    value(what);
  }

 private:
  void comma() {
    if (!first_) std::fputc(',', file_);
    first_ = false;
  }

  std::FILE* file_;
  bool first_ = true;
};

}  // namespace weft::observe
