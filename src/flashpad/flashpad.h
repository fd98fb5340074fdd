/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef FLASHPAD_H
#define FLASHPAD_H

/*
 * The library for other languages: plain pointers, strides and a stream. A plan is made once for a shape and
 * run as often as wanted; see <flashpad/attention.hpp> for what the words mean.
 *
 * Every function that returns int returns a flashpad_status; where it is not FLASHPAD_OK, flashpad_message()
 * is one line that names the argument, its value and what is allowed, and nothing was enqueued. No exception
 * leaves a function.
 */

#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define FLASHPAD_C_EXPORT __attribute__((visibility("default")))
#else
#define FLASHPAD_C_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum flashpad_status {
  FLASHPAD_OK = 0,
  FLASHPAD_INVALID = 1,       /* an argument is not allowed, or not supported on this backend */
  FLASHPAD_OUT_OF_MEMORY = 2, /* the plan's workspace does not fit */
  FLASHPAD_FAILED = 3         /* anything else: Kokkos or the device failed */
};

enum flashpad_dtype { FLASHPAD_FP64 = 0, FLASHPAD_FP32 = 1, FLASHPAD_FP16 = 2, FLASHPAD_BF16 = 3 };

/* Q is (batch, heads, seq_q, head_dim), K (batch, kv_heads, seq_k, head_dim), V (batch, kv_heads, seq_k,
 * value_dim), O (batch, heads, seq_q, value_dim), LSE (batch, heads, seq_q). */
typedef struct flashpad_shape {
  int64_t batch, heads, kv_heads, seq_q, seq_k, head_dim, value_dim;
} flashpad_shape;

typedef struct flashpad_options {
  int64_t mask_left, mask_right; /* -1 lifts the limit on that side; {-1, 0} is causal, {-1, -1} no mask */
  double scale;                  /* factor on Q K^T; NaN is 1/sqrt(head_dim) */
  char const* kernel;            /* as in experiments: "auto", "fused", ... but not "stats" */
  char const* engine;            /* NULL or "" lets the library choose */
  int tile_q, tile_k;            /* 0 lets the library choose */
  int splits;                    /* 0 lets the library choose */
  double workspace_limit;        /* bytes; 0 is the library's default */
} flashpad_options;

/* Memory that the backend can address, and its strides in elements along (b, h, n, c); the last is 1. LSE has
 * no c: its last stride is not read. */
typedef struct flashpad_tensor {
  void* data;
  int64_t stride[4];
} flashpad_tensor;

typedef struct flashpad_plan flashpad_plan;

/* The last message of this thread; empty where there was none. It lasts until this thread's next call. */
FLASHPAD_C_EXPORT char const* flashpad_message(void);

/* Starts Kokkos on GPU `device` (-1: Kokkos' choice), unless the program has done so: then `device` has to be
 * -1. OMP_NUM_THREADS and the like are read here. */
FLASHPAD_C_EXPORT int flashpad_initialize(int device);

/* Ends Kokkos where flashpad_initialize started it. Refused (FLASHPAD_INVALID) while plans are left. */
FLASHPAD_C_EXPORT int flashpad_finalize(void);

/* Full attention with all choices left to the library. */
FLASHPAD_C_EXPORT void flashpad_default_options(flashpad_options* options);

/* `backend` is "cuda", "hip", "openmp", "threads" or "serial", or NULL for the best of this build; `options`
 * may be NULL. On success *plan is to be given to flashpad_plan_destroy. */
FLASHPAD_C_EXPORT int flashpad_plan_create(flashpad_plan** plan, char const* backend,
                                           flashpad_shape const* shape, int dtype,
                                           flashpad_options const* options);

/* Enqueues one call. `stream` is a cudaStream_t or hipStream_t of the device, NULL its default stream; it has
 * to outlive the plan. A host backend takes NULL, and has done the work on return. `lse` may be NULL; it is
 * float, or double for FLASHPAD_FP64. One plan takes one call at a time; calls on different streams wait for
 * each other where the plan has a workspace. */
FLASHPAD_C_EXPORT int flashpad_plan_run(flashpad_plan* plan, void* stream, flashpad_tensor const* q,
                                        flashpad_tensor const* k, flashpad_tensor const* v,
                                        flashpad_tensor const* o, flashpad_tensor const* lse);

/* What the plan chose; the strings live as long as the plan. Empty, and 0, for NULL. */
FLASHPAD_C_EXPORT char const* flashpad_plan_kernel(flashpad_plan const* plan);
FLASHPAD_C_EXPORT char const* flashpad_plan_engine(flashpad_plan const* plan);
FLASHPAD_C_EXPORT char const* flashpad_plan_why(flashpad_plan const* plan);
FLASHPAD_C_EXPORT double flashpad_plan_workspace_bytes(flashpad_plan const* plan);

/* The plan's tile, 0 x 0 where the kernel has none, and where it is from: "asked", "cache" or "table". */
FLASHPAD_C_EXPORT void flashpad_plan_tile(flashpad_plan const* plan, int* q, int* k);
FLASHPAD_C_EXPORT char const* flashpad_plan_tile_from(flashpad_plan const* plan);

/* The tuning cache that plans made from now on read where the options leave the tile to the library; "" or
 * NULL turns it off. Until then it is FLASHPAD_TUNING_CACHE, or the user's own: see <flashpad/tuning.hpp>. */
FLASHPAD_C_EXPORT void flashpad_set_tuning_cache(char const* file);

/* Waits for work that still uses the plan's workspace. NULL is allowed. */
FLASHPAD_C_EXPORT void flashpad_plan_destroy(flashpad_plan* plan);

#ifdef __cplusplus
}
#endif

#endif
