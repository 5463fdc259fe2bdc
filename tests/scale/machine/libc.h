// SPDX-License-Identifier: Apache-2.0
// libc's own functions, whose places libc.cpp takes.
#pragma once

#include <pthread.h>

namespace weft::machine::libc {

int real_pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*), void* argument);
long real_syscall(long number, const void* word, long operation, long value, const void* limit);

// The kernel writes nothing more into the thread-local data of the calling OS thread.
void leave_rseq();

}  // namespace weft::machine::libc
