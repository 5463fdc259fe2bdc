// SPDX-License-Identifier: Apache-2.0
// A thread whose first call of the runtime is a loop; iterators and a range-based loop.
#include <vector>
#include <cstdio>
int main(){ std::vector<int> v(1000,1); long s=0;
#pragma omp parallel for reduction(+:s)
for(auto it=v.begin();it<v.end();++it) s+=*it;
#pragma omp parallel for reduction(+:s)
for(auto&x:v) s+=x;
printf("%ld\n",s);}
