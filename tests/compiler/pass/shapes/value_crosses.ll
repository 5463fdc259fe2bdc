; SPDX-License-Identifier: Apache-2.0
; A value of the loop that is used behind it: the loop cannot run again with its state kept.
; REPORT: "function":"caller"{{.*}}"hint","reason":"a value of the loop is used after it"
; CHECK-NOT: call i32 @weft_parallel_for
target triple = "x86_64-pc-linux-gnu"
%ident = type { i32, i32, i32, i32, ptr }
@text = private constant [23 x i8] c";unknown;unknown;0;0;;\00"
@where = private constant %ident { i32 0, i32 514, i32 0, i32 22, ptr @text }

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @__kmpc_for_static_init_4(ptr, i32, i32, ptr, ptr, ptr, ptr, i32, i32)
declare void @__kmpc_for_static_fini(ptr, i32)

define void @caller(ptr %n) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @where, i32 1, ptr @region, ptr %n)
  ret void
}

define internal void @region(ptr noalias %number.slot, ptr noalias %bound.slot, ptr %n) {
  %lower = alloca i32
  %upper = alloca i32
  %stride = alloca i32
  %last = alloca i32
  store i32 0, ptr %lower
  %count = load i32, ptr %n
  %end = sub i32 %count, 1
  store i32 %end, ptr %upper
  store i32 1, ptr %stride
  store i32 0, ptr %last
  %number = load i32, ptr %number.slot
  call void @__kmpc_for_static_init_4(ptr @where, i32 %number, i32 34, ptr %last, ptr %lower, ptr %upper, ptr %stride, i32 1, i32 1)
  %first = load i32, ptr %lower
  %most = load i32, ptr %upper
  br label %head
head:
  %i = phi i32 [ %first, %0 ], [ %next, %body ]
  %more = icmp sle i32 %i, %most
  br i1 %more, label %body, label %end.of.loop
body:
  %next = add i32 %i, 1
  br label %head
end.of.loop:
  call void @__kmpc_for_static_fini(ptr @where, i32 %number)
  %done = icmp eq i32 %i, 0
  ret void
}
