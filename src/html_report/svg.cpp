// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/svg.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace flashpad::html_report {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

constexpr bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069: they would turn the text after them around.
bool turns_direction(std::string_view rest) {
  if (rest.size() < 3 || !rest.starts_with("\xE2")) return false;
  auto const second = static_cast<unsigned char>(rest[1]);
  auto const third = static_cast<unsigned char>(rest[2]);
  return (second == 0x80 && (third == 0x8E || third == 0x8F || (third >= 0xAA && third <= 0xAE))) ||
         (second == 0x81 && third >= 0xA6 && third <= 0xA9);
}

std::string_view name_of(Anchor anchor) {
  return anchor == Anchor::middle ? "middle" : anchor == Anchor::end ? "end" : "start";
}

std::string row_and_title(std::size_t row, std::string_view title) {
  std::string text;
  if (row != no_row) text += fmt::format(" data-row=\"{}\"", row);
  text += title.empty() ? "/>" : fmt::format("><title>{}</title></use>", escape(title));
  return text;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (turns_direction(text.substr(i))) {
      safe += replacement;
      i += 2;
      continue;
    }
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      case '\t':
      case '\n':
      case '\r': safe += ' '; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
          safe += replacement;
        } else {
          safe += c;
        }
    }
  }
  return safe;
}

std::string shorten(std::string_view text, std::size_t most) {
  std::size_t length = 0;
  for (char const c : text) length += continues(c) ? 0 : 1;
  if (length <= most) return std::string(text);
  std::size_t const head = (most - 1) / 2;
  std::size_t const tail = length - (most - 1 - head);
  std::string kept;
  std::size_t at = 0;
  for (char const c : text) {
    at += continues(c) ? 0 : 1;
    if (at == head + 1 && !continues(c)) kept += "\xE2\x80\xA6";
    if (at <= head || at > tail) kept += c;
  }
  return kept;
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  fmt::format_to(std::back_inserter(m_body),
                 R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>)", x1, y1, x2, y2,
                 classes);
}

void Svg::rectangle(double x, double y, double width, double height, std::string_view classes,
                    std::size_t row, std::string_view title) {
  fmt::format_to(std::back_inserter(m_body),
                 R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" class="{}")", x, y, width,
                 height, classes);
  if (row != no_row) m_body += fmt::format(" data-row=\"{}\"", row);
  m_body += title.empty() ? "/>" : fmt::format("><title>{}</title></rect>", escape(title));
}

void Svg::path(std::string_view data, std::string_view classes) {
  m_body += fmt::format(R"(<path d="{}" class="{}"/>)", data, classes);
}

void Svg::text(double x, double y, std::string_view text, std::string_view classes, Anchor anchor) {
  fmt::format_to(std::back_inserter(m_body),
                 R"(<text x="{:.1f}" y="{:.1f}" class="{}" text-anchor="{}">{}</text>)", x, y, classes,
                 name_of(anchor), escape(text));
}

void Svg::upright_text(double x, double y, std::string_view text, std::string_view classes) {
  fmt::format_to(
      std::back_inserter(m_body),
      R"svg(<text transform="translate({:.1f} {:.1f}) rotate(-90)" class="{}" text-anchor="middle">{}</text>)svg",
      x, y, classes, escape(text));
}

void Svg::slanted_text(double x, double y, double degrees, double above, std::string_view text,
                       std::string_view classes) {
  m_body += fmt::format(
      R"svg(<text transform="translate({:.1f} {:.1f}) rotate({:.1f})" y="{:.1f}" class="{}" text-anchor="middle">{}</text>)svg",
      x, y, degrees, above, classes, escape(text));
}

void Svg::mark(double x, double y, Style style, std::string_view classes, std::size_t row,
               std::string_view title) {
  fmt::format_to(std::back_inserter(m_body),
                 R"(<use href="#mark{}" x="{:.1f}" y="{:.1f}" class="mark c{}{}{}"{})", style.shape, x, y,
                 style.colour, classes.empty() ? "" : " ", classes, row_and_title(row, title));
}

void Svg::open_series(std::string_view contender, Style style) {
  m_body += fmt::format(R"(<g class="series c{}" data-contender="{}">)", style.colour, escape(contender));
}

void Svg::close_series() { m_body += "</g>"; }

std::string shape_definitions() {
  // About equal areas: disc, square, triangle, diamond, triangle on its tip, plus. Last, a cross for what
  // failed.
  constexpr std::array<std::string_view, Style::shapes + 1> shapes = {
      "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
      "M-3.5-3.5h7v7h-7z",
      "M0-4.8L4.6 3.4h-9.2z",
      "M0-5L5 0 0 5-5 0z",
      "M0 4.8L4.6-3.4h-9.2z",
      "M-1.6-4.6h3.2v3h3v3.2h-3v3h-3.2v-3h-3v-3.2h3z",
      "M-4.6-3.2l1.4-1.4L0-1.4 3.2-4.6 4.6-3.2 1.4 0 4.6 3.2 3.2 4.6 0 1.4-3.2 4.6-4.6 3.2-1.4 0z"};
  std::string text = "<defs>";
  for (std::size_t s = 0; s < shapes.size(); ++s)
    text += fmt::format(R"(<path id="mark{}" d="{}"/>)", s, shapes[s]);
  return text + "</defs>";
}

}  // namespace flashpad::html_report
