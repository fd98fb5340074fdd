// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profile/ncu.hpp"

#include "profile/profiler.hpp"
#include "support.hpp"

#include <gmock/gmock.h>

namespace flashpad::profile {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Written by hand to the format that ncu's manual describes, but for real_log.

std::string const first_columns =
    R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",)";

std::string const raw_columns =
    first_columns +
    R"("dram__bytes_read.sum","dram__bytes_write.sum","l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",)"
    R"("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum","lts__t_bytes.sum","lts__t_sector_hit_rate.pct",)"
    R"("sm__warps_active.avg.pct_of_peak_sustained_active")"
    "\n";

std::string const range_log =
    "==PROF== Connected to process 71 (/opt/flashpad)\n"
    "==PROF== Profiling \"range\" - 0: 0%....50%....100% - 1 pass\n"
    "==PROF== Disconnected from process 71\n" +
    raw_columns +
    R"("","","","","","","","","","","","byte","byte","sector","sector","byte","%","%")"
    "\n"
    R"("0","71","flashpad","127.0.0.1","range","1","0","","","0","9.0","40,000,000","10000000","20","12","800000000","75.5","12.25")"
    "\n";

TEST(Ncu, ReadsARange) {
  Counters const counters = read_ncu(range_log, 10);
  EXPECT_EQ(counters.profiler, "ncu");
  EXPECT_EQ(counters.calls, 10);
  EXPECT_DOUBLE_EQ(*counters.dram_read_bytes, 4e6);
  EXPECT_DOUBLE_EQ(*counters.dram_write_bytes, 1e6);
  EXPECT_DOUBLE_EQ(*counters.l2_bytes, 8e7);
  EXPECT_DOUBLE_EQ(*counters.l2_hit_rate, 0.755);
  EXPECT_DOUBLE_EQ(*counters.occupancy, 0.1225);
  EXPECT_DOUBLE_EQ(*counters.spill_bytes, 32 * 32 / 10.0);
}

/// ncu 2025.3.1 on an H200, 6738 calls of `hopper`; what it says of the device is taken out.
std::string const real_log =
    "==WARNING== Note: Running with uncontrolled GPU caches. Profiling results may be inconsistent.\n"
    "==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, profiling results "
    "may be inconsistent.\n"
    "==PROF== Connected to process 10623 (/opt/flashpad)\n"
    "==PROF== Disconnected from process 10623\n"
    "==PROF== Connected to process 10758 (/opt/flashpad)\n"
    "==PROF== Disconnected from process 10758\n"
    R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Device","CC",)"
    R"("dram__bytes_read.avg","dram__bytes_read.max","dram__bytes_read.min","dram__bytes_read.sum",)"
    R"("dram__bytes_write.avg","dram__bytes_write.max","dram__bytes_write.min","dram__bytes_write.sum",)"
    R"("gpu__time_duration.sum","l1tex__t_sectors_pipe_lsu_mem_local_op_ld.avg",)"
    R"("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.max","l1tex__t_sectors_pipe_lsu_mem_local_op_ld.min",)"
    R"("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_local_op_st.avg",)"
    R"("l1tex__t_sectors_pipe_lsu_mem_local_op_st.max","l1tex__t_sectors_pipe_lsu_mem_local_op_st.min",)"
    R"("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum","launch__block_size","launch__grid_size",)"
    R"("launch__registers_per_thread","lts__t_bytes.avg","lts__t_bytes.max","lts__t_bytes.min",)"
    R"("lts__t_bytes.sum","lts__t_sector_hit_rate.pct","profiler__replayer_passes",)"
    R"("sm__warps_active.avg.pct_of_peak_sustained_active",)"
    R"("sm__warps_active.max.pct_of_peak_sustained_active",)"
    R"("sm__warps_active.min.pct_of_peak_sustained_active",)"
    R"("sm__warps_active.sum.pct_of_peak_sustained_active")"
    "\n"
    R"("","","","","","","","","","byte","byte","byte","byte","byte","byte","byte","byte","ns",)"
    R"("sector","sector","sector","sector","sector","sector","sector","sector","","","register/thread",)"
    R"("byte","byte","byte","byte","%","pass","%","%","%","%")"
    "\n"
    R"("0","10623","flashpad","127.0.0.1","range","1","n/a","0","9.0","883153840","902457088",)"
    R"("450618368","42391384320","1199770.67","1784320","376576","57588992","1294196448","0","0","0",)"
    R"("0","0","0","0","0","512","48","128","2709949924.77","2890114368","2527100896","254735292928",)"
    R"("69.47","2","19.67","57.59","0","19.67")"
    "\n";

/// What the child printed in that run.
std::string const advice =
    "Kokkos::OpenMP::initialize WARNING: OMP_PROC_BIND environment variable not set\n"
    "  In general, for best performance with OpenMP 4.0 or better set OMP_PROC_BIND=spread and "
    "OMP_PLACES=threads\n"
    "  For best performance with OpenMP 3.1 set OMP_PROC_BIND=true\n"
    "  For unit testing set OMP_PROC_BIND=false\n";

TEST(Ncu, StopsWhereTheTableEnds) {
  for (std::string const& log :
       {real_log, real_log + advice, real_log + advice + "\"quoted, by the child\"\n", advice + real_log}) {
    Counters const counters = read_ncu(log, 6738);
    EXPECT_DOUBLE_EQ(*counters.dram_read_bytes, 42391384320.0 / 6738);
    EXPECT_DOUBLE_EQ(*counters.dram_write_bytes, 57588992.0 / 6738);
    EXPECT_DOUBLE_EQ(*counters.l2_bytes, 254735292928.0 / 6738);
    EXPECT_DOUBLE_EQ(*counters.l2_hit_rate, 0.6947);
    EXPECT_DOUBLE_EQ(*counters.occupancy, 0.1967);
    EXPECT_EQ(*counters.spill_bytes, 0);
  }
}

TEST(Ncu, ReadsScaledUnits) {
  std::string const log =
      raw_columns +
      R"("","","","","","","","","","","","Gbyte","Mbyte","Ksector","sector","Kbyte","%","%")"
      "\n"
      R"("0","71","flashpad","h","range","1","0","","","0","9.0","1.5","2.25","3","0","4","50","25")"
      "\n";
  Counters const counters = read_ncu(log, 1);
  EXPECT_DOUBLE_EQ(*counters.dram_read_bytes, 1.5e9);
  EXPECT_DOUBLE_EQ(*counters.dram_write_bytes, 2.25e6);
  EXPECT_DOUBLE_EQ(*counters.l2_bytes, 4e3);
  EXPECT_DOUBLE_EQ(*counters.spill_bytes, 3000 * 32);
}

TEST(Ncu, AddsUpKernels) {
  std::string const log =
      raw_columns +
      R"x("","","","","","","","","","","","byte","byte","sector","sector","byte","%","%")x"
      "\n"
      R"x("0","71","flashpad","h","gemm(float, int)","1","7","(128, 1, 1)","(64, 1, 1)","0","9.0","100","10","0","0","3000","90","20")x"
      "\n"
      R"x("1","71","flashpad","h","softmax","1","7","(128, 1, 1)","(64, 1, 1)","0","9.0","200","20","0","0","1000","10","60")x"
      "\n";
  Counters const counters = read_ncu(log, 2);
  EXPECT_DOUBLE_EQ(*counters.dram_read_bytes, 150);
  EXPECT_DOUBLE_EQ(*counters.dram_write_bytes, 15);
  EXPECT_DOUBLE_EQ(*counters.l2_bytes, 2000);
  EXPECT_DOUBLE_EQ(*counters.l2_hit_rate, 0.7) << "three parts of 90 and one of 10";
  EXPECT_DOUBLE_EQ(*counters.occupancy, 0.3);
}

std::string details_line(std::string const& id, std::string const& metric, std::string const& unit,
                         std::string const& value) {
  return "\"" + id + R"x(","71","flashpad","h","range","1","7","(1, 1, 1)","(1, 1, 1)","0","9.0",)x" +
         "\"Command line profiler metrics\",\"" + metric + "\",\"" + unit + "\",\"" + value + "\"\n";
}

TEST(Ncu, ReadsALineForEachMetric) {
  std::string log = first_columns + R"("Section Name","Metric Name","Metric Unit","Metric Value")" + "\n";
  for (std::string const id : {"0", "1"}) {
    log += details_line(id, "dram__bytes_read.sum", "Mbyte", "2");
    log += details_line(id, "dram__bytes_write.sum", "byte", "1,000");
    log += details_line(id, "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sector", "0");
    log += details_line(id, "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sector", "0");
    log += details_line(id, "lts__t_bytes.sum", "Kbyte", "5");
    log += details_line(id, "lts__t_sector_hit_rate.pct", "%", "40");
    log += details_line(id, "sm__warps_active.avg.pct_of_peak_sustained_active", "%", "10");
  }
  Counters const counters = read_ncu(log, 4);
  EXPECT_DOUBLE_EQ(*counters.dram_read_bytes, 1e6);
  EXPECT_DOUBLE_EQ(*counters.dram_write_bytes, 500);
  EXPECT_DOUBLE_EQ(*counters.l2_bytes, 2500);
  EXPECT_DOUBLE_EQ(*counters.l2_hit_rate, 0.4);
}

TEST(Ncu, SaysWhatToDoWhereCountersAreDenied) {
  std::string const log =
      "==PROF== Connected to process 71 (/opt/flashpad)\n"
      "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance "
      "Counters "
      "on the target device 0.\n";
  std::string const message = message_of<Denied>([&] { read_ncu(log, 1); });
  EXPECT_THAT(message, HasSubstr("ERR_NVGPUCTRPERM"));
  EXPECT_THAT(message, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
}

TEST(Ncu, NamesAMetricThatIsMissing) {
  std::string log = range_log;
  for (std::size_t at = 0; (at = log.find("dram__bytes_write")) != std::string::npos;)
    log.replace(at, 17, "dram__other_write");
  EXPECT_THAT(message_of<Error>([&] { read_ncu(log, 1); }), HasSubstr("dram__bytes_write.sum"));
}

TEST(Ncu, RefusesWhatIsNoNumber) {
  std::string log = range_log;
  log.replace(log.find("40,000,000"), 10, "n/a");
  EXPECT_THAT(message_of<Error>([&] { read_ncu(log, 1); }), HasSubstr("dram__bytes_read.sum is `n/a`"));
}

std::string range_with(std::string const& from, std::string const& to) {
  std::string log = range_log;
  log.replace(log.find(from), from.size(), to);
  return log;
}

// Kibibytes, bits and rates would be taken for bytes, and so would a number without any unit.
TEST(Ncu, RefusesEveryUnitButItsOwn) {
  for (std::string const unit : {"MB", "KiB", "Mibyte", "kbyte", "Mbit", "bytes", "byte/second", "Xbyte", "",
                                 "Ybyte", "%", "sector", "MMbyte"}) {
    EXPECT_THAT(
        message_of<Error>([&] { read_ncu(range_with("\"byte\",\"byte\"", "\"" + unit + "\",\"byte\""), 1); }),
        HasSubstr("dram__bytes_read.sum comes in `" + unit + "`"));
  }
  EXPECT_THAT(message_of<Error>([] { read_ncu(range_with("\"%\",\"%\"", "\"byte\",\"%\""), 1); }),
              HasSubstr("lts__t_sector_hit_rate.pct comes in `byte`"));
  EXPECT_THAT(
      message_of<Error>([] { read_ncu(range_with("\"sector\",\"sector\"", "\"sector\",\"byte\""), 1); }),
      HasSubstr("local_op_st.sum comes in `byte`"));
}

TEST(Ncu, RefusesNumbersThatCannotBe) {
  for (std::string const bad : {"-5", "nan", "0x10", "1.234,5", "1,5", "1 234", ""}) {
    EXPECT_THAT(message_of<Error>([&] { read_ncu(range_with("40,000,000", bad), 1); }),
                HasSubstr("dram__bytes_read.sum is `" + bad + "`"));
  }
  EXPECT_THAT(message_of<Error>([] { read_ncu(range_with("75.5", "200"), 1); }),
              HasSubstr("lts__t_sector_hit_rate.pct is 200 %"));
  EXPECT_THAT(message_of<Error>([] { read_ncu(range_with("12.25", "100.5"), 1); }),
              HasSubstr("sm__warps_active.avg.pct_of_peak_sustained_active is 100.5 %"));
  EXPECT_DOUBLE_EQ(*read_ncu(range_with("75.5", "100"), 1).l2_hit_rate, 1);
}

TEST(Ncu, RefusesCountersThatStandStill) {
  EXPECT_THAT(message_of<Error>([] { read_ncu(range_with("800000000", "0"), 1); }),
              HasSubstr("lts__t_bytes.sum is 0: nothing was counted"));
  EXPECT_THAT(message_of<Error>([] { read_ncu(range_with("12.25", "0"), 1); }),
              HasSubstr("sm__warps_active.avg.pct_of_peak_sustained_active is 0: nothing was counted"));
  Counters const cached = read_ncu(range_with("\"40,000,000\",\"10000000\"", "\"0\",\"0\""), 1);
  EXPECT_EQ(*cached.dram_read_bytes + *cached.dram_write_bytes, 0) << "the cache may hold all";
}

TEST(Ncu, RefusesALineThatIsCutShort) {
  for (std::size_t end = range_log.find("\"0\",\"71\"") + 8; end < range_log.size() - 2; ++end)
    EXPECT_THROW(read_ncu(range_log.substr(0, end), 1), Error) << range_log.substr(0, end);
}

TEST(Ncu, PassesOnItsComplaint) {
  EXPECT_THAT(message_of<Error>([] { read_ncu("==WARNING== No ranges were profiled.\n", 1); }),
              HasSubstr("No ranges were profiled."));
  EXPECT_THAT(message_of<Error>([] {
                read_ncu("==ERROR== Failed to find metric regex:^lts__t_bytes(\\.|$)\n==WARNING== later\n",
                         1);
              }),
              HasSubstr("it says: Failed to find metric"));
  EXPECT_THAT(message_of<Error>([] { read_ncu("\x7f\x45\x4c\x46 garbage\n\n,,\n", 1); }),
              HasSubstr("no line of metrics"));
}

// Writes the log where --log-file says, then runs what follows the last of its own options.
std::string script_that_writes(std::string const& log) {
  return R"(mode=
while [ "$#" -gt 0 ]; do
  case "$1" in
    --version) echo "NVIDIA (R) Nsight Compute"; echo "Version 2025.3.0.0"; exit 0 ;;
    --csv) shift ;;
    --replay-mode) mode=$2; shift 2 ;;
    --log-file) file=$2; shift 2 ;;
    --*) case "$1 $2" in
           "--cache-control none"|"--clock-control none") kept="$kept$1" ;;
         esac; shift 2 ;;
    *) break ;;
  esac
done
[ "$kept" = "--cache-control--clock-control" ] || { echo "caches or clocks are touched" >&2; exit 9; }
[ "$mode" = app-range ] || { echo "mode is $mode" >&2; exit 9; }
cat > "$file" <<'EOF'
)" + log +
         "EOF\nexec \"$@\"\n";
}

TEST(NcuRun, CountsAChild) {
  Script const script(script_that_writes(range_log));
  auto const ncu = make_ncu({.program = script.path()});
  EXPECT_EQ(ncu->name(), "ncu");
  EXPECT_EQ(ncu->version(), "Version 2025.3.0.0");
  TemporaryFolder const folder;
  std::string const mark = folder.path() / "ran";
  Counters const counters = ncu->count({"/bin/sh", "-c", "touch " + mark}, 10);
  EXPECT_DOUBLE_EQ(*counters.dram_read_bytes, 4e6);
  EXPECT_TRUE(std::filesystem::exists(mark)) << "the child did not run";
}

TEST(NcuRun, SaysWhyTheChildFailed) {
  Script const script(script_that_writes("==WARNING== No ranges were profiled.\n"));
  auto const ncu = make_ncu({.program = script.path()});
  std::string const message = message_of<Error>([&] {
    static_cast<void>(
        ncu->count({"/bin/sh", "-c", "echo 'flashpad: error: oom: needs 9 GiB' >&2; exit 1"}, 10));
  });
  EXPECT_EQ(message, "oom: needs 9 GiB");
}

TEST(NcuRun, SaysThatCountersAreDenied) {
  Script const script(script_that_writes("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n"));
  auto const ncu = make_ncu({.program = script.path()});
  EXPECT_THAT(message_of<Denied>([&] { static_cast<void>(ncu->count({"/bin/true"}, 10)); }),
              HasSubstr("ERR_NVGPUCTRPERM"));
}

TEST(NcuRun, SaysThatOutputIsGarbage) {
  Script const script("echo '<html>no profiler</html>'\n");
  auto const ncu = make_ncu({.program = script.path()});
  EXPECT_THAT(message_of<Error>([&] { static_cast<void>(ncu->count({"/bin/true"}, 10)); }),
              HasSubstr("no line of metrics"));
}

TEST(NcuRun, SaysThatItIsMissing) {
  std::string const message = message_of<Denied>([] { make_ncu({.program = "/no/such/ncu"}); });
  EXPECT_THAT(message, HasSubstr("/no/such/ncu"));
  EXPECT_THAT(message, HasSubstr("Nsight Compute"));
}

}  // namespace
}  // namespace flashpad::profile
