// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report/page.hpp"

#include "html_report/assets.hpp"
#include "html_report/figures.hpp"
#include "html_report/tables.hpp"
#include "html_report/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace flashpad::html_report {

namespace {

// {{name}} in the template, each once; what is put in is not looked at again.
std::string fill(std::string_view text, std::map<std::string_view, std::string> const& values) {
  std::string filled;
  while (true) {
    std::size_t const begin = text.find("{{");
    filled += text.substr(0, begin);
    if (begin == std::string_view::npos) return filled;
    std::size_t const end = text.find("}}", begin);
    filled += values.at(text.substr(begin + 2, end - begin - 2));
    text.remove_prefix(end + 2);
  }
}

std::string symbol(Style style) {
  return fmt::format(
      R"(<svg class="symbol" viewBox="-6 -6 12 12" aria-hidden="true"><use href="#mark{}" class="mark c{}"/></svg>)",
      style.shape, style.colour);
}

std::string legend(Figure const& figure) {
  if (figure.legend.empty()) return "";
  std::string html = "<ul class=\"legend\">";
  for (auto const& [label, style] : figure.legend)
    html += fmt::format(
        R"(<li><button type="button" class="contender" data-contender="{}" aria-pressed="false">{}{}</button></li>)",
        escape(label), symbol(style), escape(label));
  return html + "</ul>";
}

// On the page a mark's row is in the table, and page.js shows it: what marks say alone would double its size.
std::string without_titles(std::string_view body) {
  constexpr std::string_view end = "</title>";
  std::string text;
  while (true) {
    std::size_t const begin = body.find("<title>");
    text += body.substr(0, begin);
    if (begin == std::string_view::npos) return text;
    body.remove_prefix(body.find(end, begin) + end.size());
  }
}

std::string drawing(Figure const& figure, Panel const& panel) {
  return fmt::format(
      R"(<div class="panel"><h4>{0}</h4><svg class="plot" role="img" aria-label="{1}: {0}. The numbers are in the tables." viewBox="0 0 {2:.0f} {3:.0f}">{4}</svg></div>)",
      escape(panel.title), escape(figure.title), panel.width, panel.height, without_titles(panel.body));
}

// Many small drawings are as tiring as none: the first ones, and the rest on demand.
std::string drawings(Figure const& figure) {
  constexpr std::size_t at_first = 12;
  std::string html = "<div class=\"grid\">";
  for (std::size_t p = 0; p < figure.panels.size(); ++p) {
    if (p == at_first)
      html += fmt::format("</div><details class=\"more\"><summary>{} more</summary><div class=\"grid\">",
                          figure.panels.size() - at_first);
    html += drawing(figure, figure.panels[p]);
  }
  return html + (figure.panels.size() > at_first ? "</div></details>" : "</div>");
}

std::string figure_html(Figure const& figure) {
  return fmt::format(R"(<figure id="figure-{}" class="panels{}">{}{}<figcaption>{}</figcaption></figure>)",
                     figure.id, figure.panels.size() == 1 ? " alone" : "", legend(figure),
                     figure.panels.empty() ? "" : drawings(figure), escape(figure.caption));
}

bool has_trials(std::vector<results::ResultFile> const& files) {
  for (results::ResultFile const& file : files) {
    if (!file.searches.empty()) return true;
  }
  return false;
}

// The figures of one section, as tabs of it.
std::string tabs(std::string const& section, std::vector<Figure const*> const& figures) {
  std::string heads;
  std::string sheets;
  for (Figure const* figure : figures) {
    heads += fmt::format(R"(<input type="radio" name="{0}" id="tab-{1}"{3}><label for="tab-{1}">{2}</label>)",
                         escape(section), figure->id, escape(figure->title), heads.empty() ? " checked" : "");
    sheets +=
        fmt::format(R"(<div class="sheet"><h3>{}</h3>{}</div>)", escape(figure->title), figure_html(*figure));
  }
  return fmt::format(R"(<div class="tabs" role="group" aria-label="What is drawn">{}{}</div>)", heads,
                     sheets);
}

std::string sections(std::vector<Figure> const& figures) {
  std::vector<std::pair<std::string, std::vector<Figure const*>>> sections;
  for (Figure const& figure : figures) {
    if (figure.panels.empty() && figure.optional) continue;
    std::string const& title = figure.section.empty() ? figure.title : figure.section;
    if (sections.empty() || sections.back().first != title) sections.push_back({title, {}});
    sections.back().second.push_back(&figure);
  }
  std::string html;
  for (auto const& [title, members] : sections)
    html +=
        fmt::format("<section><h2>{}</h2>{}</section>\n", escape(title),
                    members.front()->section.empty() ? figure_html(*members.front()) : tabs(title, members));
  return html;
}

std::string verdict_html(Verdict const& verdict) {
  std::string html = fmt::format("<section class=\"verdict\"><p class=\"machine\">{}</p><h1>{}</h1>",
                                 escape(verdict.machine), escape(verdict.headline));
  if (!verdict.highlights.empty()) {
    html += "<dl class=\"highlights\">";
    for (Highlight const& one : verdict.highlights)
      html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escape(one.meaning), escape(one.number));
    html += "</dl>";
  }
  html += "<p class=\"reasons\">";
  for (std::string const& reason : verdict.reasons) html += escape(reason) + ' ';
  return html + "</p></section>\n";
}

std::string line_of(results::Search const& search) {
  std::string text = fmt::format("{}, {}: {}", search.kernel, search.case_name, search.status);
  auto const timed = std::count_if(search.trials.begin(), search.trials.end(),
                                   [](results::Trial const& trial) { return trial.median_s.has_value(); });
  for (results::Trial const& trial : search.trials) {
    if (trial.winner)
      text += fmt::format(", {} is best of the {} timed, of {} configurations", trial.tile, timed,
                          search.trials.size());
  }
  if (search.speedup_vs_table)
    text += fmt::format(", {:.2f} times as fast as the table's tile", *search.speedup_vs_table);
  if (search.cost_s) text += fmt::format("; the search took {:.1f} s", *search.cost_s);
  if (!search.reason.empty()) text += "; " + search.reason;
  return fmt::format("<li>{}</li>", escape(text));
}

// What the searches found, where there are some.
std::string searches_html(std::vector<results::ResultFile> const& files) {
  std::size_t count = 0;
  double logarithms = 0;
  int compared = 0;
  std::string lines;
  std::string machine;
  for (results::ResultFile const& file : files) {
    for (results::Search const& search : file.searches) {
      ++count;
      lines += line_of(search);
      machine = search.machine;
      if (search.speedup_vs_table.value_or(0) > 0) {
        logarithms += std::log(*search.speedup_vs_table);
        ++compared;
      }
    }
  }
  if (count == 0) return "";
  std::string headline = fmt::format("Tuned tiles of {} search{}", count, count == 1 ? "" : "es");
  if (compared > 0)
    headline =
        fmt::format("Tuned tiles are {:.2f} times as fast as the table's", std::exp(logarithms / compared));
  return fmt::format(
      "<section class=\"verdict\"><p class=\"machine\">{}</p><h1>{}</h1><ul>{}</ul></section>\n",
      escape(machine), escape(headline), lines);
}

// Rows that gave no number are said first, not found last.
std::string missing(std::vector<Item> const& items) {
  std::string html;
  for (Item const& item : items) {
    if (item.data().status == Status::ok && item.data().verified != false) continue;
    html += fmt::format(R"(<li class="{0}"><b>{0}</b> {1}, {2}, N {3}: {4}</li>)", name(item.data().status),
                        escape(item.label), escape(item.title), item.data().shape.seq_k,
                        escape(item.data().reason.empty() ? "no reason on file" : item.data().reason));
  }
  return html.empty()
             ? ""
             : "<section><h2>Rows without a result</h2><ul class=\"missing\">" + html + "</ul></section>\n";
}

std::string rows_section(std::string const& table) {
  return "<section id=\"tables\"><h2>The rows</h2>" + table +
         "<p class=\"tools\"><button type=\"button\" id=\"save\">Save the shown rows as "
         "CSV</button></p></section>\n";
}

std::string title_of(std::vector<results::ResultFile> const& files) {
  std::set<std::string> names;
  for (results::ResultFile const& file : files) {
    auto const found = file.context.find("experiment");
    names.insert(found != file.context.end() && found->is_string() ? found->get<std::string>()
                                                                   : file.path.stem().string());
  }
  std::string title;
  for (std::string const& name : names) title += (title.empty() ? "" : ", ") + name;
  return shorten(title, 80);
}

std::string dates_of(std::vector<results::ResultFile> const& files) {
  std::set<std::string> days;
  for (results::ResultFile const& file : files) {
    auto const found = file.context.find("date");
    if (found != file.context.end() && found->is_string())
      days.insert(found->get<std::string>().substr(0, 10));
  }
  if (days.empty()) return "no date on file";
  return days.size() == 1 ? *days.begin() : *days.begin() + " to " + *days.rbegin();
}

}  // namespace

std::string page(std::vector<results::ResultFile> const& files) {
  std::vector<Item> const items = items_of(files);
  bool const tuned = has_trials(files);
  std::string verdict;
  if (!items.empty() || !tuned) {
    for (Verdict const& one : verdicts(items)) verdict += verdict_html(one);
    if (items.empty()) verdict += verdict_html({"", "Nothing was measured", {"The files hold no rows."}, {}});
  }
  std::string const trials = trials_table(files, items.size());
  return fill(assets::page_html,
              {{"title", escape(title_of(files))},
               {"date", escape(dates_of(files))},
               {"figure_css", std::string(assets::figure_css)},
               {"page_css", std::string(assets::page_css)},
               {"page_js", std::string(assets::page_js)},
               {"shapes", shape_definitions()},
               {"verdicts", verdict + searches_html(files)},
               {"menus", menus(items)},
               {"missing", missing(items)},
               {"sections", sections(figures_of(files, items))},
               {"rows", items.empty() ? "" : rows_section(rows_table(items))},
               {"trials",
                trials.empty()
                    ? ""
                    : fmt::format("<section><h2>Configurations that were tried</h2>{}</section>\n", trials)},
               {"contexts", contexts_table(files)}});
}

}  // namespace flashpad::html_report
