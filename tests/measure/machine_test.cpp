// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/machine.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace flashpad::measure {
namespace {

namespace fs = std::filesystem;

/// A root folder of the test's own.
class Machine : public ::testing::Test {
 protected:
  Machine() : m_root(fs::temp_directory_path() / ("flashpad-machine-" + std::to_string(::getpid()))) {
    fs::remove_all(m_root);
    write("proc/meminfo", "MemTotal:       16000 kB\nMemFree:         100 kB\nMemAvailable:    1000 kB\n");
  }
  ~Machine() override { fs::remove_all(m_root); }

  void write(std::string const& file, std::string const& text) {
    fs::create_directories((m_root / file).parent_path());
    std::ofstream(m_root / file) << text;
  }

  fs::path m_root;
};

TEST_F(Machine, MemoryIsWhatTheKernelCallsAvailable) { EXPECT_EQ(host_memory_free(m_root), 1024000); }

TEST_F(Machine, MemoryIsCutToTheCgroup) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  write("sys/fs/cgroup/a/b/memory.current", "5000\n");
  EXPECT_EQ(host_memory_free(m_root), 1024000);
  write("sys/fs/cgroup/a/memory.max", "20000\n");
  write("sys/fs/cgroup/a/memory.current", "15000\n");
  EXPECT_EQ(host_memory_free(m_root), 5000) << "the cgroup above limits, too";
  write("sys/fs/cgroup/a/memory.stat", "anon 100\ninactive_file 1000\n");
  EXPECT_EQ(host_memory_free(m_root), 6000) << "file cache is given back under pressure";
  write("sys/fs/cgroup/a/memory.current", "90000\n");
  EXPECT_EQ(host_memory_free(m_root), 0);
}

TEST_F(Machine, MemoryIsCutToACgroupOfVersionOne) {
  write("proc/self/cgroup", "4:memory:/docker/x\n1:cpu,cpuacct:/docker/x\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "700000\n");  // in a container: the mount is the cgroup
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "300000\n");
  EXPECT_EQ(host_memory_free(m_root), 400000);
}

TEST_F(Machine, QuotaOfBothVersions) {
  EXPECT_FALSE(cpu_quota(m_root).has_value());
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_FALSE(cpu_quota(m_root).has_value());
  write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(cpu_quota(m_root), 1.5);
  write("proc/self/cgroup", "1:cpu,cpuacct:/\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(m_root), 4);
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  EXPECT_FALSE(cpu_quota(m_root).has_value());
}

TEST_F(Machine, LastLevelCacheIsTheLargest) {
  EXPECT_EQ(last_level_cache(m_root), 0);
  write("sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
  write("sys/devices/system/cpu/cpu0/cache/index3/size", "32768K\n");
  EXPECT_EQ(last_level_cache(m_root), 32.0 * 1024 * 1024);
}

TEST_F(Machine, ProcessorByName) {
  write("proc/cpuinfo",
        "processor\t: 0\nmodel\t\t: 2\nmodel name\t: Some CPU @ 2 GHz\ncpu MHz\t\t: 2600.5\n");
  EXPECT_EQ(cpu_model(m_root), "Some CPU @ 2 GHz");
  EXPECT_EQ(cpu_mhz(m_root), 2600.5);
  EXPECT_FALSE(cpu_governor(m_root).has_value());
}

}  // namespace
}  // namespace flashpad::measure
