// SPDX-License-Identifier: Apache-2.0
// The functions of weft/mpi.h and weft/TAMPI.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "mpi/library/inside.h"
#include "mpi/library/mpi.h"

namespace weft::mpi {

int iwaitall(int count, MPI_Request* requests, MPI_Status* statuses) noexcept;
int iwait(MPI_Request* request, MPI_Status* status) noexcept;
// The same for a call after which the program goes on at `caller`.
int iwaitall_from(const void* caller, int count, MPI_Request* requests, MPI_Status* statuses) noexcept;
int iwait_from(const void* caller, MPI_Request* request, MPI_Status* status) noexcept;

int detach_event(MPI_Request* request, uintptr_t event) noexcept;
int detach_event_all(int count, MPI_Request* requests, MPI_Status* statuses, uintptr_t event) noexcept;

int tampi_init(int required, int* provided) noexcept;
int tampi_finalize() noexcept;
int tampi_property_get(int property, int* value) noexcept;
int tampi_property_set(int property, int value) noexcept;
int tampi_enabled(int* flag) noexcept;

// TAMPI_Ix(A...) made of MPI_Ix(A..., MPI_Request*): its request is an event of the calling task.
template <auto start>
struct WithoutRequest;

template <class... S, int (*start)(S...)>
struct WithoutRequest<start> {
  template <class Places>
  struct Shape;
  template <size_t... i>
  struct Shape<std::index_sequence<i...>> {
    static int call(std::tuple_element_t<i, std::tuple<S...>>... passed) noexcept {
      return start_from(__builtin_return_address(0), passed..., MPI_STATUS_IGNORE);
    }
    static int call_with_status(std::tuple_element_t<i, std::tuple<S...>>... passed, MPI_Status* status) noexcept {
      return start_from(__builtin_return_address(0), passed..., status);
    }

   private:
    static int start_from(const void* caller, std::tuple_element_t<i, std::tuple<S...>>... passed,
                          MPI_Status* status) noexcept {
      MPI_Request request = MPI_REQUEST_NULL;
      int code;
      {
        const Inside inside;
        code = start(passed..., &request);
      }
      return code == MPI_SUCCESS ? iwait_from(caller, &request, status) : code;
    }
  };
  using Of = Shape<std::make_index_sequence<sizeof...(S) - 1>>;
};

}  // namespace weft::mpi
