// SPDX-License-Identifier: Apache-2.0
// The shape of a lowered region: weak functions, a record, the standard fork behind, the body's loop over ranges. By the
// standard interface members run the same body: the region's code is there once.
static int values[64];

// CHECK: @weft_loop = internal global {{.*}} { i32 1, i32 4, i32 0, i32 0, ptr @{{[0-9]+}}, i64 2147483647, [4 x i64] zeroinitializer }, align 64
// CHECK-LABEL: define {{.*}}@plain(
// CHECK: icmp ne ptr @weft_parallel_for, null
// CHECK: br i1 %{{.*}}, label %weft.offer, label %[[FORK:.*]], !prof
// CHECK: weft.offer:
// CHECK: call i32 @weft_parallel_for(ptr @weft_loop, ptr @plain.omp_outlined.ranges, ptr %weft.captures, i64 %{{.*}}, i64 0)
// CHECK: br i1 %{{.*}}, label %[[AFTER:.*]], label %[[FORK]], !prof
// CHECK: [[FORK]]:
// CHECK: call void (ptr, i32, ptr, ...) @__kmpc_fork_call({{.*}}, i32 1, ptr @plain.omp_outlined, ptr %weft.captures)
// REPORT: "function":"plain"{{.*}}"lowering":"range","reason":""
void plain(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) values[i]++;
}

// CHECK-LABEL: define internal void @plain.omp_outlined.ranges(ptr noalias nonnull %range, ptr readonly
// CHECK-NOT: __kmpc
// CHECK: weft.next:
// CHECK: [[NEXT:%.*]] = load ptr, ptr
// CHECK: call i32 [[NEXT]](ptr %range)
// CHECK: br i1 %{{.*}}, label %weft.range, label %[[END:.*]]
// CHECK: br label %weft.next
// CHECK: [[END]]:
// CHECK-NOT: __kmpc
// CHECK: ret void
// CHECK-LABEL: define internal void @plain.omp_outlined(ptr %0, ptr %1, ptr %2)
// CHECK-NEXT: entry:
// CHECK-NEXT: call void @weft.run_member.1(ptr %0, ptr {{.*}}, ptr @plain.omp_outlined.ranges, ptr %2, ptr @weft.next_static.1, i32 34)
// CHECK-NEXT: ret void
// CHECK-LABEL: define linkonce_odr hidden i32 @weft.next_static.1(
// CHECK: call void @__kmpc_for_static_init_8u(
// CHECK-LABEL: define linkonce_odr hidden void @weft.run_member.1(
// CHECK: declare extern_weak i32 @weft_parallel_for(ptr, ptr, ptr, i64, i64)
