// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The JSON Schema for editors says what the reader does. check_schema.py runs the same files through the
// schema.
#include "support.hpp"
#include "test_paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace flashpad::test {
namespace {

std::string read_project_file(std::string const& file) {
  std::ifstream stream(std::string(FLASHPAD_SOURCE_DIR) + "/" + file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> split(std::string const& text, std::string const& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(separator); end != std::string::npos; end = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + separator.size();
  }
  parts.push_back(text.substr(begin));
  return parts;
}

TEST(Schema, TheReaderTakesTheGoodFiles) {
  std::vector<std::string> const documents =
      split(read_project_file("tests/experiment/schema/good.yaml"), "---\n");
  EXPECT_GE(documents.size(), 9u);
  for (std::string const& document : documents) EXPECT_EQ(error_of(document), "accepted") << document;
}

TEST(Schema, TheReaderRefusesTheBadFiles) {
  std::vector<std::string> const documents =
      split(read_project_file("tests/experiment/schema/bad.yaml"), "---\n");
  EXPECT_GE(documents.size(), 45u);
  for (std::string const& document : documents) EXPECT_NE(error_of(document), "accepted") << document;
}

/// The keys that the reader lists as allowed where it meets one that it does not know.
std::vector<std::string> keys_of_reader(std::string const& text) {
  std::vector<std::string> keys = split(split(error_of(text), "allowed: ").back(), ", ");
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<std::string> keys_of_schema(nlohmann::json const& object) {
  std::vector<std::string> keys;
  for (auto const& [key, value] : object.at("properties").items()) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST(Schema, KnowsTheKeysOfTheReader) {
  nlohmann::json const schema = nlohmann::json::parse(read_project_file("docs/experiment.schema.json"));
  nlohmann::json const& root = schema.at("properties");
  nlohmann::json const& problem = root.at("problem");
  EXPECT_EQ(keys_of_schema(schema), keys_of_reader("xxxxxxxxxx: 1\n"));
  EXPECT_EQ(keys_of_schema(problem), keys_of_reader("problem: {xxxxxxxxxx: 1}\n"));
  EXPECT_EQ(keys_of_schema(problem.at("properties").at("tensors")),
            keys_of_reader("problem: {tensors: {xxxxxxxxxx: 1}}\n"));
  EXPECT_EQ(keys_of_schema(root.at("timing")), keys_of_reader(smallest + "timing: {xxxxxxxxxx: 1}\n"));
  EXPECT_EQ(keys_of_schema(root.at("tune")), keys_of_reader(smallest + "tune: {xxxxxxxxxx: 1}\n"));
  EXPECT_EQ(keys_of_schema(root.at("tune").at("properties").at("observe")),
            keys_of_reader(smallest + "tune: {observe: {xxxxxxxxxx: 1}}\n"));
  EXPECT_EQ(keys_of_schema(root.at("output")), keys_of_reader(smallest + "output: {xxxxxxxxxx: 1}\n"));
  EXPECT_EQ(keys_of_schema(root.at("tile").at("anyOf").at(1)),
            keys_of_reader(smallest + "tile: {xxxxxxxxxx: 1}\n"));
}

TEST(Schema, HasTheLimitsOfTheLibrary) {
  nlohmann::json const schema = nlohmann::json::parse(read_project_file("docs/experiment.schema.json"));
  nlohmann::json const& definitions = schema.at("definitions");
  EXPECT_EQ(definitions.at("rows").at("anyOf").at(1).at("maximum"), max_tile);
  EXPECT_EQ(definitions.at("parts").at("anyOf").at(1).at("maximum"), max_splits);
  EXPECT_EQ(definitions.at("team").at("anyOf").at(1).at("maximum"), max_team);
  EXPECT_EQ(definitions.at("stages").at("anyOf").at(1).at("maximum"), max_stages);
}

TEST(Schema, EveryKeyIsDocumented) {
  nlohmann::json const schema = nlohmann::json::parse(read_project_file("docs/experiment.schema.json"));
  std::string const text = read_project_file("docs/experiments.md");
  std::vector<std::string> keys = keys_of_schema(schema);
  for (char const* section : {"problem", "timing", "tune", "output"}) {
    for (std::string const& key : keys_of_schema(schema.at("properties").at(section))) keys.push_back(key);
  }
  for (std::string const& key : keys) EXPECT_THAT(text, testing::HasSubstr("`" + key + "`"));
}

}  // namespace
}  // namespace flashpad::test
