// SPDX-License-Identifier: Apache-2.0
// KMP: atomic operations as calls. icc and ifort emit them, and flang and old versions of clang some; newer compilers
// write the instructions themselves. Names say type and operation: __kmpc_atomic_fixed4_add. With _rev the operands
// change places; with _cpt the value before or after is returned (`after`); a second type is that of the operand.
#include "openmp/api/atomic.h"
#include "openmp/kmp/kmp.h"
#include "openmp/lock/lock.h"

using namespace weft::openmp;
using namespace weft::openmp::atomic;
using namespace weft::openmp::kmp;

namespace {

__extension__ using Complex4 = _Complex float;
__extension__ using Complex8 = _Complex double;
__extension__ using Complex10 = _Complex long double;

}  // namespace

// ---- the table: what each type has ----

// Without and with capture.
#define WEFT_ATOMIC(type, Value, operation, Operation)                                            \
  WEFT_ABI(void, __kmpc_atomic_##type##_##operation)(Ident*, int32_t, Value* at, Value operand) { \
    update<Operation>(at, operand);                                                               \
  }                                                                                               \
  WEFT_CAPTURE(type, Value, operation##_cpt, Operation)
#define WEFT_CAPTURE(type, Value, operation, Operation)                                                           \
  WEFT_ABI(Value, __kmpc_atomic_##type##_##operation)(Ident*, int32_t, Value* at, Value operand, int32_t after) { \
    const Change<Value> change = update<Operation>(at, operand);                                                  \
    return after != 0 ? change.after : change.before;                                                             \
  }

// Operations whose operands may change places.
#define WEFT_ATOMIC_ORDERED(type, Value, operation, Operation)                                          \
  WEFT_ATOMIC(type, Value, operation, Operation);                                                       \
  WEFT_ABI(void, __kmpc_atomic_##type##_##operation##_rev)(Ident*, int32_t, Value* at, Value operand) { \
    update<Reversed<Operation>>(at, operand);                                                           \
  }                                                                                                     \
  WEFT_CAPTURE(type, Value, operation##_cpt_rev, Reversed<Operation>)

// The operand has another type.
#define WEFT_ATOMIC_MIXED(type, Value, operation, Operation, other, Other)                                  \
  WEFT_ABI(void, __kmpc_atomic_##type##_##operation##_##other)(Ident*, int32_t, Value* at, Other operand) { \
    update<Operation>(at, operand);                                                                         \
  }
#define WEFT_ATOMIC_ACCESS(type, Value)                                                       \
  WEFT_ABI(Value, __kmpc_atomic_##type##_rd)(Ident*, int32_t, Value* at) { return read(at); } \
  WEFT_ABI(void, __kmpc_atomic_##type##_wr)(Ident*, int32_t, Value* at, Value value) { exchange(at, value); }
#define WEFT_ATOMIC_SWAP(type, Value) \
  WEFT_ABI(Value, __kmpc_atomic_##type##_swp)(Ident*, int32_t, Value* at, Value value) { return exchange(at, value); }

#define WEFT_ATOMIC_INTEGER(type, Signed, Unsigned)          \
  WEFT_ATOMIC_ACCESS(type, Signed);                          \
  WEFT_ATOMIC_SWAP(type, Signed);                            \
  WEFT_ATOMIC(type, Signed, add, Add);                       \
  WEFT_ATOMIC_ORDERED(type, Signed, sub, Sub);               \
  WEFT_ATOMIC(type, Signed, mul, Mul);                       \
  WEFT_ATOMIC_ORDERED(type, Signed, div, Div);               \
  WEFT_ATOMIC_ORDERED(type##u, Unsigned, div, Div);          \
  WEFT_ATOMIC(type, Signed, andb, AndBits);                  \
  WEFT_ATOMIC(type, Signed, orb, OrBits);                    \
  WEFT_ATOMIC(type, Signed, xor, XorBits);                   \
  WEFT_ATOMIC(type, Signed, neqv, XorBits);                  \
  WEFT_ATOMIC(type, Signed, eqv, Equivalent);                \
  WEFT_ATOMIC(type, Signed, andl, AndLogical);               \
  WEFT_ATOMIC(type, Signed, orl, OrLogical);                 \
  WEFT_ATOMIC_ORDERED(type, Signed, shl, ShiftLeft);         \
  WEFT_ATOMIC_ORDERED(type, Signed, shr, ShiftRight);        \
  WEFT_ATOMIC_ORDERED(type##u, Unsigned, shr, ShiftRight);   \
  WEFT_ATOMIC(type, Signed, min, Least);                     \
  WEFT_ATOMIC(type, Signed, max, Greatest);                  \
  WEFT_ATOMIC_MIXED(type, Signed, mul, Mul, float8, double); \
  WEFT_ATOMIC_MIXED(type, Signed, div, Div, float8, double)
#define WEFT_ATOMIC_NUMBER(type, Value)       \
  WEFT_ATOMIC(type, Value, add, Add);         \
  WEFT_ATOMIC_ORDERED(type, Value, sub, Sub); \
  WEFT_ATOMIC(type, Value, mul, Mul);         \
  WEFT_ATOMIC_ORDERED(type, Value, div, Div)
#define WEFT_ATOMIC_REAL(type, Value)   \
  WEFT_ATOMIC_ACCESS(type, Value);      \
  WEFT_ATOMIC_SWAP(type, Value);        \
  WEFT_ATOMIC_NUMBER(type, Value);      \
  WEFT_ATOMIC(type, Value, min, Least); \
  WEFT_ATOMIC(type, Value, max, Greatest)
#define WEFT_ATOMIC_COMPLEX(type, Value) \
  WEFT_ATOMIC_ACCESS(type, Value);       \
  WEFT_ATOMIC_SWAP(type, Value);         \
  WEFT_ATOMIC_NUMBER(type, Value)
#define WEFT_ATOMIC_MIXED_NUMBER(type, Value, other, Other) \
  WEFT_ATOMIC_MIXED(type, Value, add, Add, other, Other);   \
  WEFT_ATOMIC_MIXED(type, Value, sub, Sub, other, Other);   \
  WEFT_ATOMIC_MIXED(type, Value, mul, Mul, other, Other);   \
  WEFT_ATOMIC_MIXED(type, Value, div, Div, other, Other)

WEFT_ATOMIC_INTEGER(fixed1, int8_t, uint8_t);
WEFT_ATOMIC_INTEGER(fixed2, int16_t, uint16_t);
WEFT_ATOMIC_INTEGER(fixed4, int32_t, uint32_t);
WEFT_ATOMIC_INTEGER(fixed8, int64_t, uint64_t);
WEFT_ATOMIC_REAL(float4, float);
WEFT_ATOMIC_REAL(float8, double);
WEFT_ATOMIC_REAL(float10, long double);
WEFT_ATOMIC_COMPLEX(cmplx8, Complex8);
WEFT_ATOMIC_COMPLEX(cmplx10, Complex10);
WEFT_ATOMIC_MIXED_NUMBER(float4, float, float8, double);
WEFT_ATOMIC_MIXED_NUMBER(cmplx4, Complex4, cmplx8, Complex8);

// ---- pairs of floats: what is captured comes back by address ----

#undef WEFT_CAPTURE
#define WEFT_CAPTURE(type, Value, operation, Operation)                                                     \
  WEFT_ABI(void, __kmpc_atomic_##type##_##operation)(Ident*, int32_t, Value* at, Value operand, Value* out, \
                                                     int32_t after) {                                       \
    const Change<Value> change = update<Operation>(at, operand);                                            \
    *out = after != 0 ? change.after : change.before;                                                       \
  }

WEFT_ATOMIC_ACCESS(cmplx4, Complex4);
WEFT_ATOMIC_NUMBER(cmplx4, Complex4);

WEFT_ABI(void, __kmpc_atomic_cmplx4_swp)(Ident*, int32_t, Complex4* at, Complex4 value, Complex4* out) {
  *out = exchange(at, value);
}

// ---- compare and swap ----

#define WEFT_ATOMIC_CAS(size, Value)                                                                             \
  WEFT_ABI(bool, __kmpc_atomic_bool_##size##_cas)(Ident*, int32_t, Value* at, Value expected, Value desired) {   \
    Value seen;                                                                                                  \
    return compare_and_swap(at, expected, desired, &seen);                                                       \
  }                                                                                                              \
  WEFT_ABI(Value, __kmpc_atomic_val_##size##_cas)(Ident*, int32_t, Value* at, Value expected, Value desired) {   \
    Value seen;                                                                                                  \
    compare_and_swap(at, expected, desired, &seen);                                                              \
    return seen;                                                                                                 \
  }                                                                                                              \
  WEFT_ABI(bool, __kmpc_atomic_bool_##size##_cas_cpt)(Ident*, int32_t, Value* at, Value expected, Value desired, \
                                                      Value* seen_otherwise) {                                   \
    Value seen;                                                                                                  \
    if (compare_and_swap(at, expected, desired, &seen)) return true;                                             \
    *seen_otherwise = seen;                                                                                      \
    return false;                                                                                                \
  }                                                                                                              \
  WEFT_ABI(Value, __kmpc_atomic_val_##size##_cas_cpt)(Ident*, int32_t, Value* at, Value expected, Value desired, \
                                                      Value* after) {                                            \
    Value seen;                                                                                                  \
    *after = compare_and_swap(at, expected, desired, &seen) ? desired : seen;                                    \
    return seen;                                                                                                 \
  }

WEFT_ATOMIC_CAS(1, int8_t);
WEFT_ATOMIC_CAS(2, int16_t);
WEFT_ATOMIC_CAS(4, int32_t);
WEFT_ATOMIC_CAS(8, int64_t);

// ---- operations that the program brings ----

namespace {

using CombineValues = void (*)(void* result, void* value, void* operand);

struct Bytes10 {
  char bytes[10];
};
struct Bytes16 {
  char bytes[16];
};
struct Bytes20 {
  char bytes[20];
};
struct Bytes32 {
  char bytes[32];
};

}  // namespace

#define WEFT_ATOMIC_ANY(size, Value)                                                                       \
  WEFT_ABI(void, __kmpc_atomic_##size)(Ident*, int32_t, Value* at, void* operand, CombineValues combine) { \
    change(at, [=](Value value) {                                                                          \
      Value result;                                                                                        \
      combine(&result, &value, operand);                                                                   \
      return result;                                                                                       \
    });                                                                                                    \
  }

WEFT_ATOMIC_ANY(1, uint8_t);
WEFT_ATOMIC_ANY(2, uint16_t);
WEFT_ATOMIC_ANY(4, uint32_t);
WEFT_ATOMIC_ANY(8, uint64_t);
WEFT_ATOMIC_ANY(10, Bytes10);
WEFT_ATOMIC_ANY(16, Bytes16);
WEFT_ATOMIC_ANY(20, Bytes20);
WEFT_ATOMIC_ANY(32, Bytes32);

// Any statement between the two.
WEFT_ABI(void, __kmpc_atomic_start)() { lock_shortly(g_atomic); }

WEFT_ABI(void, __kmpc_atomic_end)() { unlock(g_atomic); }
