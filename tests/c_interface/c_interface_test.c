/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C interface, from C, on a host backend: a right call against the definition in double, and what is
 * refused. */
#include <flashpad/flashpad.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 2, HEADS = 4, KV_HEADS = 2, SEQ_Q = 19, SEQ_K = 23, HEAD_DIM = 24, VALUE_DIM = 16 };

static int failures = 0;

#define CHECK(condition)                                                                       \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      fprintf(stderr, "line %d: %s; message: %s\n", __LINE__, #condition, flashpad_message()); \
      ++failures;                                                                              \
    }                                                                                          \
  } while (0)

static float next_random(void) {
  static unsigned state = 12345;
  state = state * 1664525u + 1013904223u;
  return (float)(state >> 8) / 8388608.0f - 1.0f;
}

/* Strides of (b, h, n, c) for tensors laid out b, n, h, c. */
static flashpad_tensor tensor(float* data, int64_t heads, int64_t rows, int64_t columns) {
  flashpad_tensor const t = {data, {rows * heads * columns, columns, heads * columns, 1}};
  return t;
}

static float* filled(size_t count) {
  float* data = malloc(count * sizeof(float));
  if (data == NULL) abort();
  for (size_t i = 0; i < count; ++i) data[i] = next_random();
  return data;
}

static float const* row_of(flashpad_tensor const* t, int64_t b, int64_t h, int64_t n) {
  return (float const*)t->data + b * t->stride[0] + h * t->stride[1] + n * t->stride[2];
}

/* One row of causal attention by the definition; returns the largest error of O and of LSE. */
static double row_error(flashpad_tensor const* q, flashpad_tensor const* k, flashpad_tensor const* v,
                        flashpad_tensor const* o, flashpad_tensor const* lse, int64_t b, int64_t h,
                        int64_t i) {
  double weights[SEQ_K];
  double sum = 0;
  double worst;
  int64_t const group = h / (HEADS / KV_HEADS);
  int64_t const seen = i + SEQ_K - SEQ_Q + 1;
  for (int64_t j = 0; j < seen; ++j) {
    double score = 0;
    for (int64_t c = 0; c < HEAD_DIM; ++c) score += (double)row_of(q, b, h, i)[c] * row_of(k, b, group, j)[c];
    weights[j] = exp(score / sqrt((double)HEAD_DIM));
    sum += weights[j];
  }
  worst = fabs(row_of(lse, b, h, i)[0] - log(sum));
  for (int64_t c = 0; c < VALUE_DIM; ++c) {
    double value = 0;
    for (int64_t j = 0; j < seen; ++j) value += weights[j] / sum * row_of(v, b, group, j)[c];
    double const error = fabs(row_of(o, b, h, i)[c] - value);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

static char const* host_backend(void) {
  flashpad_shape const shape = {1, 1, 1, 1, 1, 16, 16};
  static char const* const names[] = {"openmp", "threads", "serial"};
  for (int i = 0; i < 3; ++i) {
    flashpad_plan* plan = NULL;
    int const status = flashpad_plan_create(&plan, names[i], &shape, FLASHPAD_FP32, NULL);
    flashpad_plan_destroy(plan);
    if (status == FLASHPAD_OK) return names[i];
  }
  return NULL;
}

static void is_right(char const* backend) {
  flashpad_shape const shape = {BATCH, HEADS, KV_HEADS, SEQ_Q, SEQ_K, HEAD_DIM, VALUE_DIM};
  flashpad_tensor const q = tensor(filled(BATCH * HEADS * SEQ_Q * HEAD_DIM), HEADS, SEQ_Q, HEAD_DIM);
  flashpad_tensor const k = tensor(filled(BATCH * KV_HEADS * SEQ_K * HEAD_DIM), KV_HEADS, SEQ_K, HEAD_DIM);
  flashpad_tensor const v = tensor(filled(BATCH * KV_HEADS * SEQ_K * VALUE_DIM), KV_HEADS, SEQ_K, VALUE_DIM);
  flashpad_tensor const o = tensor(filled(BATCH * HEADS * SEQ_Q * VALUE_DIM), HEADS, SEQ_Q, VALUE_DIM);
  flashpad_tensor const lse = tensor(filled(BATCH * HEADS * SEQ_Q), HEADS, SEQ_Q, 1);
  static char const* const kernels[] = {"auto", "naive", "fused"};
  for (int kernel = 0; kernel < 3; ++kernel) {
    flashpad_options options;
    flashpad_plan* plan = NULL;
    double worst = 0;
    flashpad_default_options(&options);
    options.mask_right = 0;
    options.kernel = kernels[kernel];
    CHECK(flashpad_plan_create(&plan, backend, &shape, FLASHPAD_FP32, &options) == FLASHPAD_OK);
    if (plan == NULL) return;
    CHECK(flashpad_plan_run(plan, NULL, &q, &k, &v, &o, &lse) == FLASHPAD_OK);
    for (int64_t b = 0; b < BATCH; ++b)
      for (int64_t h = 0; h < HEADS; ++h)
        for (int64_t i = 0; i < SEQ_Q; ++i) {
          double const error = row_error(&q, &k, &v, &o, &lse, b, h, i);
          if (!(error <= worst)) worst = error;
        }
    CHECK(worst < 2e-6);
    CHECK(strcmp(flashpad_plan_kernel(plan), kernel == 1 ? "naive" : "fused") == 0);
    CHECK((strlen(flashpad_plan_why(plan)) > 0) == (kernel == 0));
    CHECK((strlen(flashpad_plan_engine(plan)) > 0) == (kernel != 1));
    CHECK((flashpad_plan_workspace_bytes(plan) > 0) == (kernel == 1));

    /* A call that is refused: no tensor, another last stride, a stream. */
    flashpad_tensor bad = q;
    bad.stride[3] = 2;
    CHECK(flashpad_plan_run(plan, NULL, &q, &k, NULL, &o, &lse) == FLASHPAD_INVALID);
    CHECK(strstr(flashpad_message(), "v: ") != NULL);
    CHECK(flashpad_plan_run(plan, NULL, &bad, &k, &v, &o, NULL) == FLASHPAD_INVALID);
    CHECK(strstr(flashpad_message(), "last stride") != NULL);
    CHECK(flashpad_plan_run(plan, &options, &q, &k, &v, &o, NULL) == FLASHPAD_INVALID);
    CHECK(strstr(flashpad_message(), "stream: ") != NULL);
    CHECK(flashpad_plan_run(plan, NULL, &q, &k, &v, &o, NULL) == FLASHPAD_OK);
    CHECK(strlen(flashpad_message()) == 0);
    flashpad_plan_destroy(plan);
  }
  free(q.data), free(k.data), free(v.data), free(o.data), free(lse.data);
}

/* Creation is refused with that status and a line that holds the word, and no plan is left. */
static void is_refused(char const* backend, flashpad_shape const* shape, int dtype,
                       flashpad_options const* options, int status, char const* word) {
  flashpad_plan* plan = (flashpad_plan*)&failures;
  CHECK(flashpad_plan_create(&plan, backend, shape, dtype, options) == status);
  CHECK(strstr(flashpad_message(), word) != NULL);
  CHECK(strchr(flashpad_message(), '\n') == NULL);
  CHECK(plan == NULL);
}

static void refusals(char const* backend) {
  flashpad_shape const good = {1, 1, 1, 500, 500, 64, 64};
  flashpad_shape bad = good;
  flashpad_options options;
  bad.head_dim = 12;
  is_refused(backend, &bad, FLASHPAD_FP32, NULL, FLASHPAD_INVALID, "head_dim");
  is_refused(backend, NULL, FLASHPAD_FP32, NULL, FLASHPAD_INVALID, "shape: it is NULL");
  is_refused(backend, &good, 4, NULL, FLASHPAD_INVALID, "dtype: 4");
  is_refused("abacus", &good, FLASHPAD_FP32, NULL, FLASHPAD_INVALID, "available: ");
  flashpad_default_options(&options);
  options.kernel = "fussed";
  is_refused(backend, &good, FLASHPAD_FP32, &options, FLASHPAD_INVALID, "fussed");
  options.kernel = "stats";
  is_refused(backend, &good, FLASHPAD_FP32, &options, FLASHPAD_INVALID, "stats");
  options.kernel = "hopper";
  is_refused(backend, &good, FLASHPAD_FP16, &options, FLASHPAD_INVALID, "hopper is not available on");
  options.kernel = "naive";
  options.workspace_limit = 1000;
  is_refused(backend, &good, FLASHPAD_FP32, &options, FLASHPAD_OUT_OF_MEMORY, "workspace_limit");
  CHECK(flashpad_plan_create(NULL, backend, &good, FLASHPAD_FP32, NULL) == FLASHPAD_INVALID);
}

/* A tile that is asked for is taken; a cache that is no cache is not. */
static void tells_its_tile(char const* backend) {
  flashpad_shape const shape = {1, 2, 2, 300, 300, 64, 64};
  flashpad_options options;
  flashpad_plan* plan = NULL;
  int q = -1, k = -1;
  flashpad_default_options(&options);
  options.kernel = "fused";
  options.tile_q = 48;
  options.tile_k = 40;
  CHECK(flashpad_plan_create(&plan, backend, &shape, FLASHPAD_FP32, &options) == FLASHPAD_OK);
  flashpad_plan_tile(plan, &q, &k);
  CHECK(q == 48 && k == 40 && strcmp(flashpad_plan_tile_from(plan), "asked") == 0);
  flashpad_plan_destroy(plan);
  options.tile_q = options.tile_k = 0;
  flashpad_set_tuning_cache("no such file");
  CHECK(flashpad_plan_create(&plan, backend, &shape, FLASHPAD_FP32, &options) == FLASHPAD_OK);
  flashpad_plan_tile(plan, &q, &k);
  CHECK(q > 0 && k > 0 && strcmp(flashpad_plan_tile_from(plan), "table") == 0);
  flashpad_plan_destroy(plan);
  flashpad_set_tuning_cache(NULL);
  flashpad_plan_tile(NULL, &q, &k);
  CHECK(q == 0 && k == 0 && strlen(flashpad_plan_tile_from(NULL)) == 0);
}

/* A plan with a workspace outlives no Kokkos. */
static void ends_after_its_plans(char const* backend) {
  flashpad_shape const shape = {1, 1, 1, 1, 1000, 64, 64};
  flashpad_options options;
  flashpad_plan* plan = NULL;
  flashpad_default_options(&options);
  options.splits = 4;
  CHECK(flashpad_plan_create(&plan, backend, &shape, FLASHPAD_FP32, &options) == FLASHPAD_OK);
  CHECK(flashpad_plan_workspace_bytes(plan) > 0);
  CHECK(flashpad_finalize() == FLASHPAD_INVALID);
  CHECK(strstr(flashpad_message(), "plans: 1 ") != NULL);
  flashpad_plan_destroy(plan);
  CHECK(strlen(flashpad_plan_kernel(NULL)) == 0 && flashpad_plan_workspace_bytes(NULL) == 0);
}

int main(void) {
  flashpad_shape const shape = {1, 1, 1, 1, 1, 16, 16};
  char const* backend;
  is_refused(NULL, &shape, FLASHPAD_FP32, NULL, FLASHPAD_INVALID, "flashpad_initialize");
  CHECK(flashpad_initialize(-2) == FLASHPAD_INVALID);
  CHECK(flashpad_initialize(-1) == FLASHPAD_OK);
  CHECK(flashpad_initialize(0) == FLASHPAD_INVALID); /* too late */
  CHECK(flashpad_initialize(-1) == FLASHPAD_OK);
  backend = host_backend();
  CHECK(backend != NULL);
  if (backend != NULL) {
    is_right(backend);
    refusals(backend);
    tells_its_tile(backend);
    ends_after_its_plans(backend);
  }
  CHECK(flashpad_finalize() == FLASHPAD_OK);
  if (failures == 0) printf("the C interface is right\n");
  return failures == 0 ? 0 : 1;
}
