// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/attention.hpp>

#include "kokkos_ext/streams.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

/// What a flashpad_plan points to: a plan on some backend.
struct flashpad_plan {
  flashpad_plan() { ++alive; }
  flashpad_plan(flashpad_plan const&) = delete;
  flashpad_plan& operator=(flashpad_plan const&) = delete;
  virtual ~flashpad_plan() { --alive; }
  virtual void run(void* stream, flashpad::detail::Arguments const& arguments) = 0;

  flashpad::Shape shape;
  flashpad::DType dtype = flashpad::DType::fp32;
  flashpad::Choice choice;
  std::string kernel;  ///< name of choice.kernel, ended by a zero

  static inline std::atomic<int> alive = 0;  ///< Kokkos cannot end before they do
};

namespace flashpad::c_interface {

template <class Exec>
class PlanOn final : public flashpad_plan {
 public:
  PlanOn(Shape const& sizes, DType type, Options const& options) : m_plan(Exec(), sizes, type, options) {
    shape = sizes;
    dtype = type;
    choice = m_plan.choice();
    kernel = name(choice.kernel);
  }

  void run(void* stream, detail::Arguments const& arguments) override {
    // An instance takes memory of its own: it is kept for the calls to come.
    if (!m_exec || stream != m_stream) m_exec.emplace(kokkos_ext::instance_on<Exec>(stream));
    m_stream = stream;
    m_plan.run(*m_exec, arguments);
    if constexpr (kokkos_ext::is_host<Exec>) m_exec->fence();
  }

 private:
  void* m_stream = nullptr;
  std::optional<Exec> m_exec;
  Plan<Exec> m_plan;
};

/// Makes the plan on the execution space. One instantiation a backend.
template <class Exec>
std::unique_ptr<flashpad_plan> make_plan(Shape const& shape, DType dtype, Options const& options) {
  return std::make_unique<PlanOn<Exec>>(shape, dtype, options);
}

}  // namespace flashpad::c_interface
