// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace flashpad::html_report {

/// Text as it may stand in HTML or SVG, in an element or in a quoted attribute. Control characters, and those
/// that turn the direction of what follows, become U+FFFD.
std::string escape(std::string_view text);

/// The text in at most `most` characters, with an ellipsis in the middle where it was longer.
std::string shorten(std::string_view text, std::size_t most);

enum class Anchor { start, middle, end };

/// How a contender is drawn: one of `colours` colours and one of `shapes` shapes, both classes of figure.css.
struct Style {
  static constexpr int colours = 8;
  static constexpr int shapes = 6;
  int colour = 0;
  int shape = 0;
};

/// No row of the report is behind a mark.
inline constexpr std::size_t no_row = static_cast<std::size_t>(-1);

/// Collects elements; colours, fonts and strokes are classes of figure.css. Coordinates are in pixels of the
/// drawing.
class Svg {
 public:
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  void rectangle(double x, double y, double width, double height, std::string_view classes,
                 std::size_t row = no_row, std::string_view title = {});
  void path(std::string_view data, std::string_view classes);
  void text(double x, double y, std::string_view text, std::string_view classes,
            Anchor anchor = Anchor::start);
  /// Text that reads upwards.
  void upright_text(double x, double y, std::string_view text, std::string_view classes);
  /// Text turned by `degrees` around a point, `above` pixels from it across its direction.
  void slanted_text(double x, double y, double degrees, double above, std::string_view text,
                    std::string_view classes);
  void mark(double x, double y, Style style, std::string_view classes, std::size_t row = no_row,
            std::string_view title = {});
  /// All that belongs to one contender, whose name it carries.
  void open_series(std::string_view contender, Style style);
  void close_series();

  [[nodiscard]] std::string const& body() const { return m_body; }

 private:
  std::string m_body;
};

/// The shapes of the marks, once a document.
std::string shape_definitions();

}  // namespace flashpad::html_report
