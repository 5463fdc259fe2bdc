// SPDX-License-Identifier: Apache-2.0
// Which regions push explicit tasks, learned by their outlined functions. Members of a team without a persistent team
// that have done their part leave for other work, and cannot be called back: the tasks of a region need the identities
// that have served it. Where tasks are to be expected they gather at the end, as in a barrier, and help.
#pragma once

namespace weft::openmp {

bool pushes_tasks(const void* function) noexcept;

// What its last region has done.
void note_tasks(const void* function, bool pushed) noexcept;

}  // namespace weft::openmp
