# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


class Flashpad(CMakePackage, CudaPackage, ROCmPackage):
    """Exact attention for Kokkos programs: a C++ library, and a driver that runs, verifies and times it."""

    license("Apache-2.0 WITH LLVM-exception")

    # Built from a clone: `spack develop --path CLONE flashpad@main`, as the project's spack.yaml does.
    version("main")

    variant("openmp", default=True, description="Use a Kokkos with the OpenMP backend")
    variant("shared", default=True, description="Build a shared library")
    variant("driver", default=True, description="Build the driver, bin/flashpad")
    variant("tests", default=False, when="+driver", description="Build the test suite")

    generator("ninja")
    depends_on("cxx", type="build")
    depends_on("c", type="build", when="+tests")  # the C interface is tested in C
    depends_on("cmake@3.22:", type="build")

    depends_on("openblas")
    depends_on("fmt@8:", when="+driver")
    depends_on("yaml-cpp@0.6.3:", when="+driver")
    depends_on("nlohmann-json@3.9:")
    depends_on("cli11@2:", when="+driver")
    depends_on("benchmark@1.6:", when="+driver")
    depends_on("googletest@1.11:+gmock", when="+tests")
    depends_on("py-jsonschema", type="build", when="+tests")
    depends_on("py-pyyaml", type="build", when="+tests")

    # Kokkos Kernels fixes the version of Kokkos, and its BLAS computes the products of the naive kernel.
    depends_on("kokkos@3.4.01:5+serial+pic")
    depends_on("kokkos-kernels+blas")
    for option in ("openmp", "shared"):
        depends_on(f"kokkos+{option}", when=f"+{option}")
        depends_on(f"kokkos-kernels+{option}", when=f"+{option}")
    # A static Kokkos must not be linked into a shared library.
    depends_on("kokkos~shared", when="~shared")
    depends_on("kokkos-kernels~shared", when="~shared")

    # Both libraries are compiled for one architecture, and for the same.
    conflicts("cuda_arch=none", when="+cuda", msg="name one with cuda_arch=")
    conflicts("amdgpu_target=none", when="+rocm", msg="name one with amdgpu_target=")
    conflicts("+cuda", when="+rocm", msg="Kokkos has either CUDA or HIP")
    for arch in CudaPackage.cuda_arch_values:
        cuda = f"+cuda cuda_arch={arch}"
        depends_on(f"kokkos {cuda}", when=cuda)
        depends_on(f"kokkos-kernels {cuda}", when=cuda)
    # Kokkos Kernels takes HIP from its Kokkos and has no variant of its own for it.
    for arch in ROCmPackage.amdgpu_targets:
        rocm = f"+rocm amdgpu_target={arch}"
        depends_on(f"kokkos {rocm}", when=rocm)
        depends_on(f"hipblas {rocm}", when=rocm)  # its batched products are naive-vendor's
    # Its compiler is Kokkos' nvcc_wrapper, which the recipe of Kokkos asks for where the host's compiler is not Clang.
    depends_on("kokkos+wrapper", when="+cuda")
    conflicts("%clang", when="+cuda", msg="nvcc_wrapper and nvcc take g++ here")
    # The build systems above add direct dependencies on cuda, which has cuBLAS, and hip.
    depends_on("cuda@12:", when="+cuda")
    # Lambdas in device code are an option before Kokkos 5, and always on from there.
    depends_on("kokkos+cuda_lambda", when="+cuda ^kokkos@:4")

    def cmake_args(self):
        backends = ["serial"]
        for variant_name, backend in (("openmp", "openmp"), ("cuda", "cuda"), ("rocm", "hip")):
            if self.spec.satisfies(f"+{variant_name}"):
                backends.append(backend)
        args = [
            self.define("FLASHPAD_REQUIRE_BACKEND", backends),
            self.define("BUILD_TESTING", self.spec.satisfies("+tests")),
            self.define_from_variant("FLASHPAD_DRIVER", "driver"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("Kokkos_ROOT", self.spec["kokkos"].prefix),
            self.define("KokkosKernels_ROOT", self.spec["kokkos-kernels"].prefix),
        ]
        if self.spec.satisfies("+rocm"):
            args.append(self.define("CMAKE_CXX_COMPILER", self.spec["hip"].hipcc))
        elif self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx))
        return args

    @run_after("install", when="+driver")
    def keep_an_input(self):
        cache_extra_test_sources(self, "inputs/flash.yaml")

    # Not under @when: `spack test` does not see methods that are.
    def test_run(self):
        """the installed driver runs an experiment, and verifies each row"""
        if self.spec.satisfies("~driver"):
            raise SkipTest("built without the driver")
        driver = which(self.prefix.bin.flashpad, required=True)
        with working_dir(self.test_suite.current_test_cache_dir):
            output = driver("run", "inputs/flash.yaml", output=str.split, error=str.split)
        assert " ok" in output, output
