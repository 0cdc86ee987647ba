/* A user's program in C against the installed library: collectives, messages, groups, and an error. */
#include <inttypes.h>
#include <stdio.h>
#include <strata/ccl.h>
#include <string.h>

#define COUNT 1000

#define TRY(call)                                                                 \
  do {                                                                            \
    if ((call) != STRATA_OK) {                                                    \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, strata_last_error()); \
      return 1;                                                                   \
    }                                                                             \
  } while (0)

static int sum_in_background(strata_comm_t comm, int32_t rank, int32_t size) {
  static int64_t values[COUNT];
  for (int i = 0; i < COUNT; ++i) values[i] = i * (rank + 1);
  strata_work_t work;
  TRY(strata_all_reduce(comm, values, values, COUNT, STRATA_INT64, STRATA_SUM, NULL, &work));
  TRY(strata_work_wait(work, -1));
  if (strata_work_done(work) != 1) return fprintf(stderr, "waited for, but not done\n"), 1;
  strata_work_free(work);
  for (int i = 0; i < COUNT; ++i)
    if (values[i] != (int64_t)i * size * (size + 1) / 2)
      return fprintf(stderr, "element %d is %" PRId64 "\n", i, values[i]), 1;
  return 0;
}

static int swap_with_the_next(strata_comm_t comm, int32_t rank, int32_t size) {
  const int32_t next = (rank + 1) % size, previous = (rank + size - 1) % size;
  int32_t got = -1;
  TRY(strata_group_start());
  TRY(strata_send(comm, &rank, 1, STRATA_INT32, next, NULL, NULL));
  TRY(strata_recv(comm, &got, 1, STRATA_INT32, previous, NULL, NULL));
  TRY(strata_group_end(NULL));
  if (got != previous) return fprintf(stderr, "got %d from %d\n", got, previous), 1;
  return 0;
}

static int gather_in_allocated_memory(strata_comm_t comm, int32_t rank, int32_t size) {
  void *mine = NULL, *all = NULL;
  TRY(strata_alloc(&mine, COUNT * sizeof(int32_t)));
  TRY(strata_alloc(&all, (size_t)size * COUNT * sizeof(int32_t)));
  for (int i = 0; i < COUNT; ++i) ((int32_t*)mine)[i] = rank * COUNT + i;
  TRY(strata_all_gather(comm, mine, all, COUNT, STRATA_INT32, NULL, NULL));
  for (int i = 0; i < size * COUNT; ++i)
    if (((int32_t*)all)[i] != i) return fprintf(stderr, "gathered %d at %d\n", ((int32_t*)all)[i], i), 1;
  TRY(strata_free(mine));
  TRY(strata_free(all));
  TRY(strata_free(NULL));
  if (strata_free(all) != STRATA_INVALID_ARGUMENT || strstr(strata_last_error(), "freed before") == NULL)
    return fprintf(stderr, "freed twice: %s\n", strata_last_error()), 1;
  if (strata_alloc(&mine, 0) != STRATA_INVALID_ARGUMENT || mine != NULL)
    return fprintf(stderr, "no bytes: %s\n", strata_last_error()), 1;
  uint64_t kept = 0, limit = 0;
  TRY(strata_memory_use(&kept, &limit));
  if (kept > limit || limit == 0) return fprintf(stderr, "kept %" PRIu64 " of %" PRIu64 "\n", kept, limit), 1;
  return 0;
}

static int misuse_is_explained(strata_comm_t comm, int32_t size) {
  char byte = 0;
  const int result = strata_broadcast(comm, &byte, &byte, 1, STRATA_UINT8, size, NULL, NULL);
  if (result != STRATA_INVALID_ARGUMENT || strstr(strata_last_error(), "root") == NULL)
    return fprintf(stderr, "a root that does not exist: %d, %s\n", result, strata_last_error()), 1;
  return 0;
}

int main(void) {
  strata_comm_t comm;
  int32_t rank, size;
  TRY(strata_comm_create(NULL, &comm));
  TRY(strata_comm_rank(comm, &rank));
  TRY(strata_comm_size(comm, &size));
  if (sum_in_background(comm, rank, size) || swap_with_the_next(comm, rank, size) ||
      gather_in_allocated_memory(comm, rank, size) || misuse_is_explained(comm, size))
    return 1;
  TRY(strata_barrier(comm, NULL, NULL));
  TRY(strata_comm_destroy(comm));
  printf("consumer: rank %d of %d: ok (strata %s)\n", rank, size, strata_version());
  return 0;
}
