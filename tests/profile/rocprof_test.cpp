// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/rocprof.hpp"

#include "profile/profiler.hpp"
#include "support.hpp"

#include <gmock/gmock.h>

#include <fmt/format.h>

namespace flashpad::profile {
namespace {

using ::testing::HasSubstr;

// Written by hand to the columns that rocprofv3's documentation shows; none of these came from a GPU.
std::string const columns =
    R"("Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name",)"
    R"("Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name",)"
    R"("Counter_Value","Start_Timestamp","End_Timestamp")"
    "\n";

std::string line(int dispatch, std::string const& kernel, std::string const& counter, double value,
                 int scratch = 0, int nanoseconds = 100) {
  return fmt::format("{0},{0},\"Agent 4\",1,20,20,128,9,\"{1}\",128,2048,{2},64,0,80,\"{3}\",{4},{5},{6}\n",
                     dispatch, kernel, scratch, counter, value, 1000 * dispatch,
                     1000 * dispatch + nanoseconds);
}

std::string const begin = "void launch<FlashpadRangeBegin, float>(int)";
std::string const end = "void launch<FlashpadRangeEnd, float>(int)";

std::string pass(std::vector<std::string> const& counters) {
  std::string text = columns;
  for (std::string const& counter : counters) {
    text += line(9, end, counter, 1000);  // lines need not be in order
    text += line(1, "warm_up", counter, 5000, 64);
    text += line(2, begin, counter, 1000);
    text += line(3, "fused", counter, 30, 16, 300);
    text += line(4, "merge", counter, 10, 0, 100);
    text += line(10, "after", counter, 7000);
  }
  return text;
}

std::vector<std::string> all_passes() {
  return {pass({"FETCH_SIZE"}), pass({"WRITE_SIZE"}), pass({"TCC_HIT_sum", "TCC_MISS_sum"}),
          pass({"OccupancyPercent"})};
}

TEST(Rocprof, CountsBetweenTheMarks) {
  Counters const counters = read_rocprof(all_passes(), 2);
  EXPECT_EQ(counters.profiler, "rocprofv3");
  EXPECT_DOUBLE_EQ(*counters.dram_read_bytes, 40 * 1024 / 2.0);
  EXPECT_DOUBLE_EQ(*counters.dram_write_bytes, 40 * 1024 / 2.0);
  EXPECT_DOUBLE_EQ(*counters.l2_hit_rate, 0.5);
  EXPECT_DOUBLE_EQ(*counters.occupancy, 0.25) << "30 % for 300 ns and 10 % for 100 ns";
  EXPECT_DOUBLE_EQ(*counters.spill_bytes, 16);
}

TEST(Rocprof, NamesWhatIsMissing) {
  std::vector<std::string> passes = all_passes();
  passes.erase(passes.begin() + 1);
  EXPECT_THAT(message_of<Error>([&] { read_rocprof(passes, 1); }), HasSubstr("WRITE_SIZE"));
  EXPECT_THAT(message_of<Error>([] { read_rocprof({columns + line(1, "fused", "FETCH_SIZE", 1)}, 1); }),
              HasSubstr("mark a range"));
  EXPECT_THAT(message_of<Error>([] { read_rocprof({"a,b\n1,2\n"}, 1); }), HasSubstr("no column Dispatch_Id"));
}

/// All passes, with one counter's lines between the marks as given: value, start, end.
std::string error_with(std::string const& counter, std::string const& value, std::string const& start = "10",
                       std::string const& stop = "20") {
  std::vector<std::string> passes = all_passes();
  for (std::string& text : passes) {
    if (text.find(counter) == std::string::npos) continue;
    text = pass({});
    for (std::string const& one : {counter, std::string(counter == "TCC_HIT_sum" ? "TCC_MISS_sum" : "")}) {
      if (one.empty()) continue;
      text += line(2, begin, one, 0) + line(4, end, one, 0) +
              fmt::format("3,3,\"Agent 4\",1,20,20,128,9,\"fused\",128,2048,0,64,0,80,\"{}\",\"{}\",{},{}\n",
                          one, value, start, stop);
    }
  }
  return message_of<Error>([&] { read_rocprof(passes, 1); });
}

TEST(Rocprof, RefusesNumbersThatCannotBe) {
  for (std::string const bad : {"-3", "n/a", "nan", "1.234,5", "1,5", "0x10", ""})
    EXPECT_THAT(error_with("FETCH_SIZE", bad), HasSubstr("Counter_Value is `" + bad + "`"));
  EXPECT_THAT(error_with("OccupancyPercent", "300"), HasSubstr("OccupancyPercent is 300 %"));
  EXPECT_THAT(error_with("FETCH_SIZE", "5", "20", "20"), HasSubstr("dispatch 3 ends at 20"));
}

TEST(Rocprof, RefusesCountersThatStandStill) {
  EXPECT_THAT(error_with("TCC_HIT_sum", "0"), HasSubstr("nothing was counted"));
  EXPECT_THAT(error_with("OccupancyPercent", "0"), HasSubstr("nothing was counted"));
}

// Each run counts what --pmc asks for, into a folder of the process's own.
std::string script_that_writes() {
  std::string text = R"(counters=
while [ "$#" -gt 0 ]; do
  case "$1" in
    --pmc) shift; while [ "${1#--}" = "$1" ]; do counters="$counters $1"; shift; done ;;
    --output-format) [ "$2" = csv ] || exit 9; shift 2 ;;
    -d) folder=$2; shift 2 ;;
    --) shift; break ;;
    *) echo "unknown option $1" >&2; exit 9 ;;
  esac
done
[ "$LC_ALL" = C ] || { echo "numbers are localised" >&2; exit 9; }
mkdir -p "$folder/host"
case "$counters" in
)";
  for (std::vector<std::string> const& counters : std::vector<std::vector<std::string>>{
           {"FETCH_SIZE"}, {"WRITE_SIZE"}, {"TCC_HIT_sum", "TCC_MISS_sum"}, {"OccupancyPercent"}}) {
    std::string names;
    for (std::string const& counter : counters) names += " " + counter;
    text += "  \"" + names + "\") cat > \"$folder/host/20_counter_collection.csv\" <<'EOF'\n" +
            pass(counters) + "EOF\n  ;;\n";
  }
  return text + "esac\nexec \"$@\"\n";
}

TEST(RocprofRun, CountsAChildOnceForEachPass) {
  Script const script(script_that_writes());
  auto const rocprof = make_rocprof({.program = script.path()});
  TemporaryFolder const folder;
  std::string const log = folder.path() / "log";
  Counters const counters = rocprof->count({"/bin/sh", "-c", "echo ran >> " + log}, 2);
  EXPECT_DOUBLE_EQ(*counters.dram_read_bytes, 40 * 1024 / 2.0);
  EXPECT_EQ(text_of(log), "ran\nran\nran\nran\n");
}

TEST(RocprofRun, SaysWhyTheChildFailed) {
  Script const script(script_that_writes());
  auto const rocprof = make_rocprof({.program = script.path()});
  EXPECT_EQ(message_of<Error>([&] {
              static_cast<void>(
                  rocprof->count({"/bin/sh", "-c", "echo 'flashpad: error: failed: wrong' >&2; exit 1"}, 2));
            }),
            "failed: wrong");
}

TEST(RocprofRun, SaysThatNothingWasCounted) {
  Script const script("echo 'Unable to open /dev/kfd read-write: Permission denied' >&2\n");
  auto const rocprof = make_rocprof({.program = script.path()});
  std::string const message =
      message_of<Denied>([&] { static_cast<void>(rocprof->count({"/bin/true"}, 2)); });
  EXPECT_THAT(message, HasSubstr("Permission denied"));
  EXPECT_THAT(message, HasSubstr("groups render and video"));
}

TEST(RocprofRun, SaysThatItIsMissing) {
  EXPECT_THAT(message_of<Denied>([] { make_rocprof({.program = "/no/such/rocprofv3"}); }), HasSubstr("ROCm"));
}

}  // namespace
}  // namespace flashpad::profile
