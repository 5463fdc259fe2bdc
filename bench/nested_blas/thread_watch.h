// SPDX-License-Identifier: Apache-2.0
// How many OS threads a process has at most while something runs. Looks every millisecond from a thread of its own,
// which it does not count; not to be used around what is timed.
#pragma once

typedef struct thread_watch thread_watch;

// Null when there can be no such thread.
thread_watch* watch_threads(void);
// Ends the watch and returns the most that was seen.
int end_watch(thread_watch* watch);
