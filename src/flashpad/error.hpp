// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <flashpad/macros.hpp>

#include <stdexcept>
#include <string>

namespace flashpad {

/// The one exception type that the library throws. `what()` is a single line: the argument at fault,
/// the value found, and what is allowed.
class FLASHPAD_EXPORT Error : public std::runtime_error {
 public:
  explicit Error(std::string const& message);
  ~Error() override;
};

/// A request that needs more memory than there is: as Error, with the bytes that it would have taken.
class FLASHPAD_EXPORT OutOfMemory : public Error {
 public:
  OutOfMemory(std::string const& message, double bytes_needed);
  ~OutOfMemory() override;
  [[nodiscard]] double bytes_needed() const noexcept { return m_bytes_needed; }

 private:
  double m_bytes_needed;
};

}  // namespace flashpad
