/**
 * Tables of what is due without anybody there. How texts and times stand in them: see tables.ts.
 */
import type { Generated } from 'kysely';

export interface NightTables {
  /**
   * What is due without anybody there. `value_json`: as its record has it. `judged_at`: up to here
   * every moment of it has a row among the occurrences. `due_at`: its next moment; null: none.
   * `stamp`: as in `configs`. `changes`: how often it was changed. `paused_why`: it failed too
   * often in a row, and why; null: it goes on. `given_offset`: minutes, of an interval without its
   * own. `elsewhere`: the home at which it is due now; null: here. `wanted`: that one is asked for
   * it. `since`: up to here it is in the account of the home that let go of it last. `turn`: how
   * often it changed its home. `agreed`: what of it the person has said yes to at this relay; null:
   * nothing. `created_at`, `updated_at`: when somebody set it, and changed it last; null: not
   * known.
   */
  schedules: {
    home: string;
    schedule: string;
    agent_json: string;
    name_json: string;
    value_json: string;
    stamp: string | null;
    changes: Generated<number>;
    position: number;
    removed: Generated<boolean>;
    judged_at: number;
    due_at: number | null;
    paused_why: string | null;
    given_offset: Generated<number | null>;
    elsewhere: Generated<string | null>;
    wanted: Generated<boolean>;
    since: Generated<number | null>;
    turn: Generated<number>;
    agreed: Generated<string | null>;
    created_at: Generated<number | null>;
    updated_at: Generated<number | null>;
  };
  /**
   * Every moment at which one was due, with what became of it. `token`: of the claim that holds;
   * whoever has another may not end it. `lease_until`: whoever claimed it is dead after this.
   * `detail_json`: how it went. `kind` and `name_json` are there where nothing was scheduled: a run
   * that somebody's wake began. `group_json`: the processes of a script that runs without a
   * sandbox. `notice_json`: it is no moment, and its agent is to hear that its script failed. What
   * is `due` and has a `reason` waits for that to pass.
   */
  occurrences: {
    home: string;
    schedule: string;
    due_at: number;
    agent_json: string;
    state: string;
    reason: string | null;
    late: Generated<boolean>;
    not_before: number;
    token: string | null;
    lease_until: number | null;
    run: string | null;
    started_at: number | null;
    ended_at: number | null;
    detail_json: string | null;
    kind: Generated<string>;
    name_json: Generated<string | null>;
    group_json: Generated<string | null>;
    notice_json: Generated<string | null>;
  };
  /**
   * Routines that agents have asked for. Nothing of one runs before the person has said yes.
   * `answer`: null: none yet.
   */
  proposals: {
    home: string;
    proposal: string;
    agent_json: string;
    value_json: string;
    why_json: string;
    made_at: number;
    answer: Generated<string | null>;
    answered_at: Generated<number | null>;
  };
  /**
   * A home's clock. `seen_at`: it went then. `stopped_at`: the person ended it then, and it has not
   * gone since. `place`: where the home's folder lies. `site`: under which name other relays know
   * what is due here; null: the home's. `copied_from`: the site of the home that this one is a copy
   * of.
   */
  clocks: {
    home: string;
    seen_at: number;
    stopped_at: number | null;
    place: Generated<string | null>;
    site: Generated<string | null>;
    copied_from: Generated<string | null>;
  };
}
