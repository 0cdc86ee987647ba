// Which processing units this process may run on, and how much of them.
#pragma once
#include <span>
#include <string>

namespace strata {

// The set as text ("0-3,8"), as other ranks of the host compare it; empty if it cannot be known.
std::string allowed_cpus();

// The cores that processes with these sets have between them, or less where the container's quota (cgroup
// cpu.max) allows less. Sets that are empty or make no sense count as one core. At least 1.
int cores_of(std::span<const std::string> sets);

// The quota's part of it, from the text of cpu.max ("max 100000", "150000 100000"): cores, rounded up; 0: no
// limit.
int quota_cores(const std::string& cpu_max);

}  // namespace strata
