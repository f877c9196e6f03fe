# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What Ascend's public host layer asks its driver for: functions of CANN's own source
(hicann/runtime), compiled here unchanged over a stub of the driver, beside our rule.

$MAIXMEM_LINUXBENCH/cann/ has memory.cpp (of src/acl/aclrt_impl), npu_driver_mem.cc and
npu_driver_base.hpp (of src/runtime/driver) and rt_external_mem.h (of pkg_inc/runtime).
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import bench
import pytest
from maixmem_ascend.pages import POLICIES, asked, is_huge

MIB = 1 << 20
SIZES = (1, 31, 32, 33, 1000, 4096, 65536, MIB - 64, MIB - 33, MIB - 32, MIB - 31, MIB - 1, MIB)
SIZES += (MIB + 1, 2 * MIB - 32, 2 * MIB, 2 * MIB + 1000, 5 * MIB, 100 * MIB, (1 << 32) + 5)
FILES = ("memory.cpp", "npu_driver_mem.cc", "npu_driver_base.hpp", "rt_external_mem.h")

# What the functions below use and what is not in them: codes, logs, and the driver itself, which
# says what it was asked for and has huge pages or not.
_STUB = """
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <cerrno>
typedef int aclError; typedef int rtError_t; typedef uint32_t rtMemType_t;
enum { ACL_SUCCESS = 0, ACL_ERROR_INVALID_PARAM = 1, RT_ERROR_NONE = 0 };
#define ACL_LOG_INNER_ERROR(...)
#define RT_LOG(...)
#define RtLogErrorLevelControl(...)
#define PRIu64 "lu"
void GetPaddingSize(size_t *) {}  // the chip's own figure: 32 where it says none
static bool has_huge;
struct Runtime {
    static Runtime *Instance() { return nullptr; }
    rtMemType_t GetTsMemType(int, uint64_t) { return 0; }
};
enum { MEM_REQUEST_FEATURE_DEFAULT };
struct NpuDriver {
    int chipType_ = 0;
    rtError_t transMemAttribute(uint32_t, rtMemType_t *) const { return 0; }
    rtError_t DevMemAllocHugePageManaged(void **, uint64_t size, rtMemType_t, uint32_t, uint16_t,
                                         bool, bool, bool)
    { if (has_huge) printf("huge %lu ", size); return has_huge ? 0 : 1; }
    rtError_t DevMemAllocManaged(void **, uint64_t size, rtMemType_t, uint32_t, uint16_t, bool,
                                 bool, bool, bool)
    { printf("normal %lu ", size); return 0; }
    rtError_t DevMemAlloc1GHugePage(void **, uint64_t, rtMemType_t, uint32_t, uint32_t, uint16_t,
                                    bool) { return 1; }
    rtError_t DevMemAllocOnline(void ** const dptr, const uint64_t size, rtMemType_t type,
        const uint32_t deviceId, const uint16_t moduleId, const bool isLogError,
        const bool readOnlyFlag, const bool starsTillingFlag, const bool isNewApi,
        const bool cpOnlyFlag);
};
"""
_MAIN = """
int main(int argc, char **argv)
{
    const uint32_t flags[] = {RT_MEMORY_POLICY_HUGE_PAGE_FIRST, RT_MEMORY_POLICY_HUGE_PAGE_ONLY,
                              RT_MEMORY_POLICY_DEFAULT_PAGE_ONLY};
    for (int i = 1; i < argc; i++)
        for (uint32_t flag : flags)
            for (int huge = 1; huge >= 0; huge--) {
                size_t aligned = 0;
                has_huge = huge;
                void *p = nullptr;
                GetAlignedAndPaddingSize(strtoull(argv[i], nullptr, 10), true, aligned);
                if (NpuDriver().DevMemAllocOnline(&p, aligned, flag, 0, 0, false, false, false,
                                                  false, false)) printf("none 0 ");
                printf("\\n");
            }
}
"""


def function(text: str, start: str) -> str:
    """A function of C++ source, from its first words to its last brace."""
    begin = text.index(start)
    at = text.index("{", begin)
    depth = 0
    for i in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if not depth:
            return text[begin : i + 1]
    raise AssertionError(start)


def constants(text: str, pattern: str) -> str:
    """The lines of source that define something."""
    return "\n".join(line for line in text.splitlines() if re.match(pattern, line))


def test_the_rule_is_that_of_the_source(tmp_path: Path):
    place = bench.need(*[f"cann/{name}" for name in FILES]) / "cann"
    compiler = shutil.which("g++")
    if not compiler:
        pytest.skip("CANN's host layer was not compiled: no g++")
    acl, driver, base, header = [(place / name).read_text() for name in FILES]
    parts = [
        _STUB,
        constants(header, r"#define (RT_MEMORY_\w+|MEM_ALLOC_TYPE_BIT) "),
        constants(base, r"constexpr uint64_t HUGE_PAGE_MEM_CRITICAL_VALUE"),
        constants(acl, r"constexpr size_t DATA_MEMORY_\w+"),
        function(acl, "aclError GetAlignedAndPaddingSize("),
        function(driver, "rtError_t NpuDriver::DevMemAllocOnline("),
        _MAIN,
    ]
    source, program = tmp_path / "rule.cc", tmp_path / "rule"
    source.write_text("\n".join(parts))
    command = [compiler, "-w", "-o", str(program), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    command = [str(program), *map(str, SIZES)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    ours = []
    for nbytes in SIZES:
        for policy in POLICIES:
            for has_huge in (True, False):
                kind = "huge" if is_huge(nbytes, policy) and has_huge else "normal"
                none = policy == "huge_only" and not has_huge
                ours.append("none 0 " if none else f"{kind} {asked(nbytes)} ")
    assert len(SIZES) == 20 and said == ours
