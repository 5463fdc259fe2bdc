// SPDX-License-Identifier: Apache-2.0
#include "keys.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

namespace weft::tools {

namespace {

volatile sig_atomic_t g_interrupted = 0;

}  // namespace

Keys::Keys() {
  struct sigaction end{};
  end.sa_handler = [](int) { g_interrupted = 1; };
  sigaction(SIGINT, &end, nullptr);
  sigaction(SIGTERM, &end, nullptr);
  there_ = tcgetattr(STDIN_FILENO, &before_) == 0;
  if (!there_) return;
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

Keys::~Keys() {
  if (there_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

char Keys::pressed(double seconds) const {
  pollfd key{STDIN_FILENO, POLLIN, 0};
  if (poll(&key, there_ ? 1 : 0, static_cast<int>(seconds * 1000)) <= 0) return g_interrupted != 0 ? kEnd : '\0';
  // Keys for functions send several characters, the first of which is escape.
  char pressed[16] = {};
  const ssize_t count = ::read(STDIN_FILENO, pressed, sizeof pressed);
  if (count <= 0) return kEnd;
  return pressed[0] == '\x1b' ? '\0' : pressed[0];
}

}  // namespace weft::tools
