// SPDX-License-Identifier: Apache-2.0
// Loops that weftcc runs in ranges, one that it announces since its region has an effect of its own, and a nest: a line for
// each number of iterations that is asked for.
#include <stdio.h>
#include <stdlib.h>
double a[100000]; 
static void loops(int n){ double s=0; int last=-1; long cnt=0;
#pragma omp parallel for
 for(int i=0;i<n;i++) a[i]=i*2.0;
#pragma omp parallel for reduction(+:s) schedule(dynamic,3)
 for(int i=n-1;i>=0;i--) s+=a[i];
#pragma omp parallel for lastprivate(last) schedule(static,4)
 for(int i=0;i<n;i++) last=i;
#pragma omp parallel for collapse(2) reduction(+:cnt)
 for(int i=0;i<n/10;i++) for(int j=i;j<10+i;j++) cnt+=j-i;
 int hole=0;
#pragma omp parallel num_threads(2)
 {
#pragma omp for nowait
 for(int i=0;i<n;i++) a[i]+=1;
#pragma omp atomic
 hole++;
 }
#pragma omp parallel for
 for(int i=0;i<8;i++){
#pragma omp parallel for
   for(int j=0;j<n/8;j++) a[i*(n/8)+j]+=1;
 }
 double t=0; for(int i=0;i<n;i++) t+=a[i];
 printf("%.0f %d %ld hole %d %.0f\n",s,last,cnt,hole,t); }
int main(int argc,char**argv){ if(argc==1) loops(1000); for(int i=1;i<argc;i++) loops(atoi(argv[i])); return 0; }
