# SPDX-License-Identifier: Apache-2.0
# Debian's cross compilers for arm64, with arm64 libraries beside the amd64 ones (scripts/setup-aarch64), and qemu for
# what is to run.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc-12)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)

set(WEFT_TEST_GCC aarch64-linux-gnu-gcc-12)
set(WEFT_TEST_GXX aarch64-linux-gnu-g++-12)
set(WEFT_TEST_GFORTRAN aarch64-linux-gnu-gfortran-12)
