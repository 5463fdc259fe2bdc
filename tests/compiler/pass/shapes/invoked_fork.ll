; SPDX-License-Identifier: Apache-2.0
; A fork that may unwind: the region is announced only.
; REPORT: "function":"caller"{{.*}}"hint","reason":"exceptions may leave the region"
; CHECK-LABEL: define void @caller(
; CHECK: call void @weft_push_loop(ptr @weft_loop, i64 %{{.*}}, i64 0)
; CHECK: invoke void (ptr, i32, ptr, ...) @__kmpc_fork_call(
; CHECK-NOT: @weft_parallel_for
target triple = "x86_64-pc-linux-gnu"
%ident = type { i32, i32, i32, i32, ptr }
@text = private constant [23 x i8] c";unknown;unknown;0;0;;\00"
@where = private constant %ident { i32 0, i32 514, i32 0, i32 22, ptr @text }

declare i32 @__gxx_personality_v0(...)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @__kmpc_for_static_init_4(ptr, i32, i32, ptr, ptr, ptr, ptr, i32, i32)
declare void @__kmpc_for_static_fini(ptr, i32)

define void @caller(ptr %n) personality ptr @__gxx_personality_v0 {
  invoke void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @where, i32 1, ptr @region, ptr %n)
          to label %done unwind label %failed
done:
  ret void
failed:
  %reason = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %reason
}

define internal void @region(ptr noalias %number.slot, ptr noalias %bound.slot, ptr %n) {
  %lower = alloca i32
  %upper = alloca i32
  %stride = alloca i32
  %last = alloca i32
  %counter = alloca i32
  store i32 0, ptr %lower
  %count = load i32, ptr %n
  %end = sub i32 %count, 1
  store i32 %end, ptr %upper
  store i32 1, ptr %stride
  store i32 0, ptr %last
  %number = load i32, ptr %number.slot
  call void @__kmpc_for_static_init_4(ptr @where, i32 %number, i32 34, ptr %last, ptr %lower, ptr %upper, ptr %stride, i32 1, i32 1)
  %first = load i32, ptr %lower
  store i32 %first, ptr %counter
  br label %head
head:
  %i = load i32, ptr %counter
  %most = load i32, ptr %upper
  %more = icmp sle i32 %i, %most
  br i1 %more, label %body, label %end.of.loop
body:
  %next = add i32 %i, 1
  store i32 %next, ptr %counter
  br label %head
end.of.loop:
  call void @__kmpc_for_static_fini(ptr @where, i32 %number)
  ret void
}
