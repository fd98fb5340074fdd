// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#ifdef OTHER_KOKKOS_VERSION
#define KOKKOS_VERSION OTHER_KOKKOS_VERSION
#else
#define KOKKOS_VERSION 40099
#endif
