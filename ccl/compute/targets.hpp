// Which instruction sets the kernels are compiled for; included before any of Highway's headers.
#pragma once

// CPUs that have SSSE3 and not SSE4.1 were last sold in 2008; they run the scalar kernels.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS HWY_SSSE3
#endif
