"""Hartree-Fock and MP2 of a small molecule by pyscf, whose integrals and tensors have OpenMP of their own."""

from pyscf import gto, mp, scf

molecule = gto.M(atom="O 0 0 -0.0656; H 0 -0.757 0.5205; H 0 0.757 0.5205", basis="cc-pvdz", verbose=0)
field = scf.RHF(molecule).run(conv_tol=1e-10)
print(f"{field.e_tot:.9f} {mp.MP2(field).run().e_corr:.9f}")
