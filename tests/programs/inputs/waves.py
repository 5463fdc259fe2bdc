"""A transform, a product and eigenvalues by JAX, whose threads are its own."""

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
field = jax.random.normal(jax.random.PRNGKey(5), (300, 300))
print(
    f"{jnp.abs(jnp.fft.fft2(field)).sum():.6f} {(field @ field).sum():.6f} {jnp.linalg.eigvalsh(field + field.T)[-1]:.9f}"
)
