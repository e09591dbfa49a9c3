/**
 * The tables of the relay's store, all in the schema `roost`. Times are ms since the epoch. Columns whose
 * name ends in `_json` hold JSON text and not `jsonb`: JSON text writes NUL and lone surrogates as escapes,
 * and Postgres' own text and jsonb refuse both.
 */
import type { Generated } from 'kysely';

export interface Tables {
  /** One row per home. `relay` names the home, `log` its event log. */
  logs: { relay: string; log: string; head: number; acked: number; made_at: number };
  events: { log: string; id: number; kind: string; event_json: string; stored_at: number };
  /** Client ids that were taken, with the first event they became. */
  taken: { log: string; client_json: string; event_id: number };
  inbox: {
    relay: string;
    message_json: string;
    agent_json: string;
    text_json: string;
    sent_at: number;
    place: Generated<number>;
    read_session_json: string | null;
    read_at: number | null;
  };
  /** One-time codes, by the SHA-256 of the code in hex. */
  codes: { relay: string; code_hash: string; made_at: number };
  /** Browsers that are signed in, by the SHA-256 of their cookie's token in hex. */
  browsers: { relay: string; token_hash: string; made_at: number; seen_at: number };
}
