// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment/overrides.hpp"

#include "experiment/diagnostics.hpp"

#include <fmt/format.h>

#include <memory>

namespace flashpad::yaml {

namespace {

struct Override {
  Location at;
  std::string path;
  Node value;
};

std::vector<std::string> split(std::string const& path) {
  std::vector<std::string> keys;
  std::size_t begin = 0;
  for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', begin)) {
    keys.push_back(path.substr(begin, dot - begin));
    begin = dot + 1;
  }
  keys.push_back(path.substr(begin));
  return keys;
}

Override parse(std::string const& argument) {
  Location const at{std::make_shared<std::string const>("--set " + printable(argument)), 0, 0};
  std::size_t const equals = argument.find('=');
  if (equals == std::string::npos)
    fail(at, "", "no '='; allowed: path=value, such as problem.seq=[512, 1024]");
  Override result{at, argument.substr(0, equals), parse_document(argument.substr(equals + 1), at)};
  std::vector<std::string> const keys = split(result.path);
  for (std::string const& key : keys) {
    if (!key.empty() && keys.size() <= max_depth) continue;
    fail(at, "",
         fmt::format("found the path '{}'; allowed: up to {} keys joined by dots, such as problem.seq",
                     printable(result.path), max_depth));
  }
  if (result.value.kind == Node::Kind::nothing) fail(at, printable(result.path), "no value after '='");
  return result;
}

void apply(Node& document, Override const& change) {
  Node* parent = &document;
  std::string path;
  std::vector<std::string> const keys = split(change.path);
  for (std::string const& key : keys) {
    if (!parent->is_map()) {
      fail(change.at, path,
           fmt::format("is {} at {}, without keys; allowed: to set it as a whole", describe(*parent),
                       to_string(parent->at)));
    }
    path = child_path(path, key);
    Node* value = parent->find(key);
    if (value == nullptr) {
      Node empty;
      empty.kind = Node::Kind::map;
      empty.at = change.at;
      parent->keys.push_back({key, change.at});
      parent->values.push_back(std::move(empty));
      value = &parent->values.back();
    }
    parent = value;
  }
  *parent = change.value;
}

}  // namespace

void apply_overrides(Node& document, std::vector<std::string> const& overrides) {
  std::vector<std::string> earlier;
  for (std::string const& argument : overrides) {
    Override const change = parse(argument);
    for (std::string const& path : earlier) {
      if (path == change.path || path.starts_with(change.path + ".")) {
        fail(change.at, printable(change.path),
             fmt::format("undoes an earlier --set {}; allowed: each key once", printable(path)));
      }
    }
    apply(document, change);
    earlier.push_back(change.path);
  }
}

}  // namespace flashpad::yaml
