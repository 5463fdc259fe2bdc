// SPDX-License-Identifier: Apache-2.0
// What a region is to be, before it begins. Internal to openmp/region.
#pragma once

#include "openmp/record/root.h"
#include "openmp/record/thread_grant.h"
#include "openmp/region/region.h"
#include "openmp/settings/statistics.h"

namespace weft::openmp {

struct Opening {
  Invoke invoke;
  void** words;  // as of parallel()
  base::ProcBind bind;
  Prepare prepare;  // as of parallel_of_some(); null: all members take part
  Member* parent;   // the member that meets the region
  int size = 1;     // members
  ThreadGrant grant;  // for them, where threads are limited
  Root* root = nullptr;  // whose persistent members they are, in an outermost region

  // By the thread that meets the region.
  Opening(Invoke run, void** post_words, base::ProcBind policy, Prepare prepared) noexcept
      : invoke(run), words(post_words), bind(policy), prepare(prepared), parent(self()) {
    words[0] = reinterpret_cast<void*>(invoke);
    count_region(parent->team->level + 1);
  }
};

}  // namespace weft::openmp
