// SPDX-License-Identifier: Apache-2.0
#include "keys.h"

#include <cerrno>
#include <charconv>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

namespace weft::tools {

namespace {

volatile sig_atomic_t g_interrupted = 0;
volatile sig_atomic_t g_stopped = 0;
volatile sig_atomic_t g_resized = 0;

// How long the rest of what a key sends may take.
constexpr int kRestMs = 50;

Key of(Key::Kind kind) { return {.kind = kind}; }

Key function_key(int number) { return {.kind = Key::function, .number = number}; }

// "\x1b[5~": the number.
Key numbered_key(int number) {
  switch (number) {
    case 1:
    case 7: return of(Key::home);
    case 4:
    case 8: return of(Key::end);
    case 5: return of(Key::page_up);
    case 6: return of(Key::page_down);
    case 11:
    case 12:
    case 13:
    case 14:
    case 15: return function_key(number - 10);
    case 17:
    case 18:
    case 19:
    case 20:
    case 21: return function_key(number - 11);
    default: return of(Key::other);
  }
}

// What ends a sequence, of either kind.
Key lettered_key(char letter) {
  switch (letter) {
    case 'A': return of(Key::up);
    case 'B': return of(Key::down);
    case 'H': return of(Key::home);
    case 'F': return of(Key::end);
    case 'P':
    case 'Q':
    case 'R':
    case 'S': return function_key(letter - 'P' + 1);
    default: return of(Key::other);
  }
}

// Behind an escape.
Key take_sequence(std::string& sent) {
  if (sent.size() < 2) return of(Key::none);
  if (sent[1] == 'O') {
    if (sent.size() < 3) return of(Key::none);
    const Key key = lettered_key(sent[2]);
    sent.erase(0, 3);
    return key;
  }
  if (sent[1] != '[') {
    sent.erase(0, 1);
    return of(Key::escape);
  }
  // Numbers and the like, and what ends them. The console of Linux has "\x1b[[A" for the first keys for functions.
  size_t end = 2;
  while (end < sent.size() && sent[end] >= ' ' && sent[end] < '@') ++end;
  const bool is_console = end == 2 && sent.size() > 2 && sent[2] == '[';
  if (is_console) ++end;
  if (end >= sent.size()) {
    if (sent.size() > 32) sent.clear();
    return of(Key::none);
  }
  const char last = sent[end];
  int number = 0;
  std::from_chars(sent.data() + 2, sent.data() + end, number);
  sent.erase(0, end + 1);
  if (is_console) return last >= 'A' && last <= 'E' ? function_key(last - 'A' + 1) : of(Key::other);
  return last == '~' ? numbered_key(number) : lettered_key(last);
}

}  // namespace

Key take_key(std::string& sent) {
  if (sent.empty()) return of(Key::none);
  if (sent[0] == '\x1b') return take_sequence(sent);
  const char character = sent[0];
  sent.erase(0, 1);
  if (character == '\r' || character == '\n') return of(Key::enter);
  if (character == '\x7f' || character == '\b') return of(Key::erase);
  const bool is_control = static_cast<unsigned char>(character) < ' ';
  return is_control ? of(Key::other) : Key{.kind = Key::text, .character = character};
}

Keys::Keys() {
  // The program waits for keys alone, so each signal ends a wait.
  const auto note = [](int signal, void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    sigaction(signal, &action, nullptr);
  };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) note(signal, [](int) { g_interrupted = 1; });
  note(SIGWINCH, [](int) { g_resized = 1; });
  there_ = tcgetattr(STDIN_FILENO, &before_) == 0;
  if (there_) note(SIGTSTP, [](int) { g_stopped = 1; });
  begin();
}

Keys::~Keys() {
  if (there_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void Keys::begin() {
  if (!there_) return;
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

int Keys::wait(int milliseconds) {
  pollfd key{STDIN_FILENO, POLLIN, 0};
  if (poll(&key, there_ ? 1 : 0, milliseconds) <= 0) return 0;
  char more[64];
  const ssize_t count = ::read(STDIN_FILENO, more, sizeof more);
  if (count < 0 && errno == EINTR) return 0;
  if (count <= 0) return -1;
  sent_.append(more, static_cast<size_t>(count));
  return 1;
}

Key Keys::pressed(double seconds) {
  Key key = take_key(sent_);
  if (key.kind == Key::none && g_interrupted == 0 && g_stopped == 0) {
    if (wait(sent_.empty() ? static_cast<int>(seconds * 1000) : kRestMs) < 0) return of(Key::closed);
    key = take_key(sent_);
    while (key.kind == Key::none && !sent_.empty()) {
      const int more = wait(kRestMs);
      if (more < 0) return of(Key::closed);
      key = take_key(sent_);
      if (more > 0 || key.kind != Key::none) continue;
      // An escape alone; or what nobody understands.
      key = of(sent_ == "\x1b" ? Key::escape : Key::other);
      sent_.clear();
    }
  }
  if (g_interrupted != 0) return of(Key::closed);
  if (g_stopped != 0) return of(Key::stopped);
  if (key.kind != Key::none || g_resized == 0) return key;
  g_resized = 0;
  return of(Key::resized);
}

void Keys::stop() {
  g_stopped = 0;
  if (there_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  struct sigaction noted{};
  sigaction(SIGTSTP, &usual, &noted);
  raise(SIGTSTP);
  sigaction(SIGTSTP, &noted, nullptr);
  begin();
}

}  // namespace weft::tools
