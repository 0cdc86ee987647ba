/* Cancelling an operation (ccl/runtime/engine_cancel.cpp): it ends as cancelled on all ranks or on none, and it ends.
 *
 * -DFORGETFUL has ranks that say they hold it and do not: ends differ then.
 *
 * Three ranks; each submits the operation at some time, and may ask at any time after that for it to be cancelled.
 * An operation needs all ranks: it can end on a rank once all have submitted it, unless it is on hold there. Ranks
 * talk over ordered channels.
 */
#define RANKS 3

mtype = { ask, held, refused, do_cancel, let_go };
mtype = { absent, running, ended_well, cancelled };

chan to[9] = [2] of { mtype };    /* from * RANKS + to */
#define lane(from, to_) to[(from) * RANKS + (to_)]

mtype state[RANKS] = absent;
bool hold[9];                     /* rank * RANKS + asker */
bool early_cancelled[RANKS];      /* decided before it was submitted here */
bool asks[RANKS];
bool has_refused[RANKS];
byte answers[RANKS];

#define holds(r, a) hold[(r) * RANKS + (a)]
#define on_hold(r) (holds(r, 0) || holds(r, 1) || holds(r, 2))
#define all_submitted (state[0] != absent && state[1] != absent && state[2] != absent)
#define is_over(r) (state[r] == ended_well || state[r] == cancelled)

inline release_all(r) { holds(r, 0) = false; holds(r, 1) = false; holds(r, 2) = false }

inline decide(r) {
  asks[r] = false;
  holds(r, r) = false;
  if
  :: has_refused[r] -> lane(r, (r + 1) % RANKS) ! let_go; lane(r, (r + 2) % RANKS) ! let_go
  :: else ->
     lane(r, (r + 1) % RANKS) ! do_cancel; lane(r, (r + 2) % RANKS) ! do_cancel;
     assert(state[r] == running);
     state[r] = cancelled;
     release_all(r)
  fi
}

inline handle(r, from, what) {
  if
  :: what == ask ->
     if
     :: state[r] == running || (state[r] == absent && !early_cancelled[r]) ->
#ifndef FORGETFUL
        holds(r, from) = true;
#endif
        lane(r, from) ! held
     :: state[r] == absent && early_cancelled[r] -> lane(r, from) ! held
     :: else -> lane(r, from) ! refused
     fi
  :: what == held || what == refused ->
     if
     :: asks[r] && state[r] == running ->
        answers[r]++;
        has_refused[r] = has_refused[r] || what == refused;
        if
        :: answers[r] == RANKS - 1 -> decide(r)
        :: else
        fi
     :: else   /* another rank has cancelled it meanwhile */
     fi
  :: what == do_cancel ->
     if
     :: state[r] == running -> state[r] = cancelled; asks[r] = false
     :: state[r] == absent -> early_cancelled[r] = true
     :: else -> assert(state[r] == cancelled)
     fi;
     release_all(r)
  :: what == let_go -> holds(r, from) = false
  fi
}

proctype Rank(byte r) {
  mtype what;
  bool asked;
end:
  do
  :: atomic { state[r] == absent ->
              if
              :: early_cancelled[r] -> state[r] = cancelled
              :: else -> state[r] = running
              fi }
  :: atomic { state[r] == running && !asked ->
              asked = true; asks[r] = true; answers[r] = 0; has_refused[r] = false; holds(r, r) = true;
              lane(r, (r + 1) % RANKS) ! ask; lane(r, (r + 2) % RANKS) ! ask }
  :: atomic { state[r] == running && all_submitted && !on_hold(r) -> state[r] = ended_well }
  :: atomic { lane((r + 1) % RANKS, r) ? what -> handle(r, (r + 1) % RANKS, what); what = 0 }
  :: atomic { lane((r + 2) % RANKS, r) ? what -> handle(r, (r + 2) % RANKS, what); what = 0 }
  od
}

/* Nothing is left to do: every rank has ended it, all alike. */
proctype Witness() {
  timeout;
  assert(is_over(0) && is_over(1) && is_over(2));
  assert(state[0] == state[1] && state[1] == state[2])
}

init { atomic { run Rank(0); run Rank(1); run Rank(2); run Witness() } }
