// SPDX-License-Identifier: Apache-2.0
// Where a thread of the machine stands while others run.
#pragma once

#include <cstddef>

#include <boost/context/detail/fcontext.hpp>

namespace weft::machine {

class Fibre {
 public:
  // On the stack that ends at `top` it begins with `kStart`, which does not return.
  template <void (*kStart)()>
  void begin(void* top, size_t bytes) {
    context_ = boost::context::detail::make_fcontext(top, bytes, enter<kStart>);
  }

  // The caller stands on `from`, and comes back when somebody goes there.
  static void go(Fibre& from, Fibre& to) { arrive(boost::context::detail::jump_fcontext(to.context_, &from)); }

 private:
  static void arrive(boost::context::detail::transfer_t transfer) {
    static_cast<Fibre*>(transfer.data)->context_ = transfer.fctx;
  }
  template <void (*kStart)()>
  static void enter(boost::context::detail::transfer_t transfer) {
    arrive(transfer);
    kStart();
  }

  boost::context::detail::fcontext_t context_ = nullptr;
};

}  // namespace weft::machine
