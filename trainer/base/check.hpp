// STRATA_TRAINER_CHECK(condition): our own mistakes stop the process here, with the place and the condition.
#pragma once
#include <cstdio>
#include <cstdlib>

#define STRATA_TRAINER_CHECK(condition)                                                                  \
  do {                                                                                                   \
    if (!(condition)) {                                                                                  \
      std::fprintf(stderr, "%s:%d: internal error: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                                      \
    }                                                                                                    \
  } while (false)
