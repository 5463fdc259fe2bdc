// SPDX-License-Identifier: Apache-2.0
#include "report/model.h"

namespace weft::tools::report {

const char* word_of(Loss loss) {
  switch (loss) {
    case Loss::serial: return "serial";
    case Loss::imbalance: return "imbalance";
    case Loss::synchronisation: return "synchronisation";
    case Loss::overhead: return "overhead";
    case Loss::few_threads: return "few_threads";
    case Loss::transfer: return "transfer";
    case Loss::blocked: return "blocked";
  }
  return "?";
}

const char* word_of(SiteKind kind) {
  switch (kind) {
    case SiteKind::program: return "program";
    case SiteKind::serial: return "serial";
    case SiteKind::region: return "region";
    case SiteKind::loop: return "loop";
    case SiteKind::sections: return "sections";
    case SiteKind::single: return "single";
    case SiteKind::masked: return "masked";
    case SiteKind::taskloop: return "taskloop";
    case SiteKind::task: return "task";
    case SiteKind::barrier: return "barrier";
    case SiteKind::critical: return "critical";
    case SiteKind::lock: return "lock";
    case SiteKind::ordered: return "ordered";
    case SiteKind::call: return "call";
  }
  return "?";
}

}  // namespace weft::tools::report
