// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#define KOKKOS_VERSION 40099
