// SPDX-License-Identifier: Apache-2.0
// Settings that a program brings with it: weftcc links an object into it that defines this symbol. A setting of the
// environment goes first.
#pragma once

extern "C" {

// NAME=VALUE and so on, each ended by a zero byte; an empty one is the last. Its address is null where the program has
// none. The program's symbol is found since linkers export what a shared library refers to.
[[gnu::weak, gnu::visibility("default")]] extern const char weft_defaults[];
}
