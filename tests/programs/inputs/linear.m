% Linear algebra as Octave calls it: libblas.so.3 and liblapack.so.3 in front of OpenBLAS.
n = 300;
rand("twister", 5);
A = rand(n) - 0.5;
S = A + A';
P = A * A' + n * eye(n);
rounds = 1;
for round = 1:rounds
  e = sort(abs(eig(A)));
  s = svd(A);
  [q, r] = qr(A);
  c = chol(P);
  B = A * P;
  w = eig(S);
  x = P \ A(:, 1);
end
printf("%.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", sum(e), sum(s), sum(abs(diag(r))), sum(diag(c)), norm(B, "fro"), sum(abs(w)), norm(x));
