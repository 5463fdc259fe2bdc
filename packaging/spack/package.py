# SPDX-License-Identifier: Apache-2.0
"""weft for Spack. packaging/README.md says how to try it."""

from spack.package import *


class Weft(CMakePackage):
    """One pool of threads for all parallel libraries of a process: a drop-in OpenMP runtime."""

    # A release adds its archive here, a url and the checksum. Until then `spack dev-build` takes the sources around it.
    license("Apache-2.0")

    version("0.1.0")

    variant("tsan", default=False, description="Also the runtime for programs built with -fsanitize=thread")
    variant(
        "chart_js",
        default="none",
        values=str,
        description="Path of a minified Chart.js 3.9, which Spack has no package for; none: where CMake finds it",
    )

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.9:", type="build")
    # Linked into the runtime, which is a shared library.
    depends_on("boost@1.74: +context +pic", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("xxhash", type="build")
    depends_on("elfutils")

    generator("ninja")
    conflicts("platform=darwin", msg="weft needs Linux")
    conflicts("platform=windows", msg="weft needs Linux")

    def cmake_args(self):
        arguments = [self.define("WEFT_TESTS", False), self.define_from_variant("WEFT_TSAN_RUNTIME", "tsan")]
        chart_js = self.spec.variants["chart_js"].value
        if chart_js != "none":
            arguments.append(self.define("WEFT_CHART_JS", chart_js))
        return arguments

    @run_after("install")
    def install_tsan(self):
        if self.spec.satisfies("+tsan"):
            cmake("--install", self.builder.build_directory, "--component", "tsan")
