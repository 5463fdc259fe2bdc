// SPDX-License-Identifier: Apache-2.0
// weft_pages FOLDER: writes the manual pages and the completions there, as they lie below PREFIX/share.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "command_line.h"
#include "pages/command_model.h"
#include "pages/completions.h"
#include "pages/man_page.h"

namespace {

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file);
  out << text;
  out.close();
  if (out.good()) return;
  std::fprintf(stderr, "weft_pages: cannot write %s\n", file.c_str());
  std::exit(EXIT_FAILURE);
}

}  // namespace

int main(int count, char** arguments) {
  using namespace weft::tools;
  if (count != 2) {
    std::fprintf(stderr, "usage: weft_pages FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  const CommandLine line;
  const CommandModel root = model_of(line.app, "weft");
  each_command(root, [&](const CommandModel& command) {
    write(folder / "man/man1" / (command.dashed() + ".1"), man_page(command, root));
  });
  write(folder / "bash-completion/completions/weft", bash_completion(root));
  write(folder / "zsh/site-functions/_weft", zsh_completion(root));
  write(folder / "fish/vendor_completions.d/weft.fish", fish_completion(root));
}
