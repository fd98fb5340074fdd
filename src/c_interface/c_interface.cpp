// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <flashpad/flashpad.h>
#include <flashpad/tuning.hpp>

#include "c_interface/plan_handle.hpp"
#include "problem/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace flashpad::c_interface {

namespace {

thread_local std::string message;
bool started_kokkos = false;

/// Runs the body, and turns what it throws into a status and a message.
template <class Body>
int guarded(Body const& body) {
  message.clear();
  auto const failed = [](int status, std::exception const& error) {
    message = error.what();
    message.resize(std::min(message.size(), message.find('\n')));
    return status;
  };
  try {
    body();
    return FLASHPAD_OK;
  } catch (OutOfMemory const& error) {
    return failed(FLASHPAD_OUT_OF_MEMORY, error);
  } catch (Error const& error) {
    return failed(FLASHPAD_INVALID, error);
  } catch (std::exception const& error) {
    return failed(FLASHPAD_FAILED, error);
  } catch (...) {
    message = "an exception of an unknown type";
    return int{FLASHPAD_FAILED};
  }
}

void require(void const* pointer, char const* argument) {
  if (pointer == nullptr) throw Error(std::string(argument) + ": it is NULL; allowed: an address");
}

struct Backend {
  char const* name;
  std::unique_ptr<flashpad_plan> (*make)(Shape const&, DType, Options const&);
};

// Best first.
constexpr Backend backends[] = {
#ifdef KOKKOS_ENABLE_CUDA
    {"cuda", make_plan<Kokkos::Cuda>},
#endif
#ifdef KOKKOS_ENABLE_HIP
    {"hip", make_plan<kokkos_ext::HIP>},
#endif
#ifdef KOKKOS_ENABLE_OPENMP
    {"openmp", make_plan<Kokkos::OpenMP>},
#endif
#ifdef KOKKOS_ENABLE_THREADS
    {"threads", make_plan<Kokkos::Threads>},
#endif
#ifdef KOKKOS_ENABLE_SERIAL
    {"serial", make_plan<Kokkos::Serial>},
#endif
};

Backend const& find_backend(char const* name) {
  if (name == nullptr) return backends[0];
  std::vector<std::string> names;
  for (Backend const& backend : backends) {
    if (std::strcmp(name, backend.name) == 0) return backend;
    names.emplace_back(backend.name);
  }
  throw Error(detail::text(
      "backend: `", name,
      "` is not available: this Kokkos was built without it; available: ", detail::joined(names)));
}

DType dtype_from(int number) {
  switch (number) {
    case FLASHPAD_FP64: return DType::fp64;
    case FLASHPAD_FP32: return DType::fp32;
    case FLASHPAD_FP16: return DType::fp16;
    case FLASHPAD_BF16: return DType::bf16;
    default: break;
  }
  throw Error(detail::text("dtype: ", number, " is not a flashpad_dtype; allowed: 0 to 3"));
}

Options options_from(flashpad_options const* given) {
  Options options;
  if (given == nullptr) return options;
  options.mask = {given->mask_left, given->mask_right};
  if (!std::isnan(given->scale)) options.scale = given->scale;
  if (given->kernel != nullptr) options.kernel = kernel_from_name(given->kernel);
  if (options.kernel == Kernel::stats) throw Error("kernel: stats has no C interface; allowed: the others");
  if (given->engine != nullptr) options.engine = given->engine;
  options.tile = {given->tile_q, given->tile_k};
  options.splits = given->splits;
  options.workspace_limit = given->workspace_limit;
  return options;
}

detail::TensorRef reference(flashpad_tensor const* tensor, char const* argument, std::int64_t heads,
                            std::int64_t rows, std::int64_t columns, flashpad_plan const& plan) {
  require(tensor, argument);
  detail::TensorRef ref = {tensor->data, {plan.shape.batch, heads, rows, columns}, {}, plan.dtype, true};
  std::memcpy(ref.stride, tensor->stride, sizeof ref.stride);
  return ref;
}

}  // namespace

}  // namespace flashpad::c_interface

using namespace flashpad::c_interface;  // what follows is the C interface itself

extern "C" {

char const* flashpad_message(void) { return message.c_str(); }

int flashpad_initialize(int device) {
  return guarded([&] {
    if (device < -1) {
      throw flashpad::Error(
          flashpad::detail::text("device: ", device, " is out of range; allowed: -1, or a GPU's number"));
    }
    if (Kokkos::is_initialized()) {
      if (device != -1)
        throw flashpad::Error(
            flashpad::detail::text("device: ", device, " comes too late, Kokkos runs; allowed: -1"));
      return;
    }
    if (device >= flashpad::kokkos_ext::device_count()) {
      throw flashpad::Error(flashpad::detail::text("device: ", device, " is not there, of ",
                                                   flashpad::kokkos_ext::device_count(),
                                                   " GPUs; allowed: -1, or a GPU's number"));
    }
    std::string program = "flashpad";
    std::string flag = flashpad::detail::text("--kokkos-device-id=", device);
    char* arguments[] = {program.data(), flag.data(), nullptr};
    int count = device == -1 ? 1 : 2;
    Kokkos::initialize(count, arguments);
    started_kokkos = true;
  });
}

int flashpad_finalize(void) {
  return guarded([] {
    bool const ends = started_kokkos && Kokkos::is_initialized();
    if (ends && flashpad_plan::alive > 0) {
      throw flashpad::Error(flashpad::detail::text("plans: ", flashpad_plan::alive.load(),
                                                   " are not destroyed; allowed: none when Kokkos ends"));
    }
    if (ends) Kokkos::finalize();
    started_kokkos = false;
  });
}

void flashpad_default_options(flashpad_options* options) {
  if (options == nullptr) return;
  *options = flashpad_options{-1, -1, std::numeric_limits<double>::quiet_NaN(), "auto", "", 0, 0, 0, 0};
}

int flashpad_plan_create(flashpad_plan** plan, char const* backend, flashpad_shape const* shape, int dtype,
                         flashpad_options const* options) {
  return guarded([&] {
    require(plan, "plan");
    *plan = nullptr;
    require(shape, "shape");
    flashpad::Shape const sizes = {shape->batch, shape->heads,    shape->kv_heads, shape->seq_q,
                                   shape->seq_k, shape->head_dim, shape->value_dim};
    if (!Kokkos::is_initialized())
      throw flashpad::Error("Kokkos: not initialised; call flashpad_initialize before flashpad_plan_create");
    *plan = find_backend(backend).make(sizes, dtype_from(dtype), options_from(options)).release();
  });
}

int flashpad_plan_run(flashpad_plan* plan, void* stream, flashpad_tensor const* q, flashpad_tensor const* k,
                      flashpad_tensor const* v, flashpad_tensor const* o, flashpad_tensor const* lse) {
  return guarded([&] {
    require(plan, "plan");
    flashpad::Shape const& s = plan->shape;
    flashpad::detail::Arguments arguments;
    arguments.q = reference(q, "q", s.heads, s.seq_q, s.head_dim, *plan);
    arguments.k = reference(k, "k", s.kv_heads, s.seq_k, s.head_dim, *plan);
    arguments.v = reference(v, "v", s.kv_heads, s.seq_k, s.value_dim, *plan);
    arguments.o = reference(o, "o", s.heads, s.seq_q, s.value_dim, *plan);
    if (lse != nullptr) {
      arguments.lse = reference(lse, "lse", s.heads, s.seq_q, 1, *plan);
      arguments.lse.stride[3] = 1;
      if (plan->dtype != flashpad::DType::fp64) arguments.lse.dtype = flashpad::DType::fp32;
    }
    plan->run(stream, arguments);
  });
}

char const* flashpad_plan_kernel(flashpad_plan const* plan) {
  return plan == nullptr ? "" : plan->kernel.c_str();
}
char const* flashpad_plan_engine(flashpad_plan const* plan) {
  return plan == nullptr ? "" : plan->choice.engine.c_str();
}
char const* flashpad_plan_why(flashpad_plan const* plan) {
  return plan == nullptr ? "" : plan->choice.why.c_str();
}
double flashpad_plan_workspace_bytes(flashpad_plan const* plan) {
  return plan == nullptr ? 0 : plan->choice.workspace_bytes;
}

void flashpad_plan_tile(flashpad_plan const* plan, int* q, int* k) {
  if (q != nullptr) *q = plan == nullptr ? 0 : plan->choice.tile.q;
  if (k != nullptr) *k = plan == nullptr ? 0 : plan->choice.tile.k;
}
char const* flashpad_plan_tile_from(flashpad_plan const* plan) {
  return plan == nullptr ? "" : plan->choice.tile_from.c_str();
}

void flashpad_set_tuning_cache(char const* file) {
  guarded([&] { flashpad::set_tuning_cache(file == nullptr ? "" : file); });
}

void flashpad_plan_destroy(flashpad_plan* plan) { delete plan; }

}  // extern "C"
