import type { Generated } from 'kysely';

/**
 * Calls of tools. `state`: as `CallState`; `input_json`: whole while it waits, then its beginning.
 * `told_at`: its agent was told what became of it, where that is not the answer of the call itself.
 * `allowed_by`: null: nobody has let it. `leave_hash`: of a yes that nobody has used yet, the
 * SHA-256 of what it lets. `pin`, `content_json`: of one that waits, what a yes is to;
 * `before_json`: what lay there when it was asked, where that is something else. `question_json`:
 * what an MCP server asks the person while the call of `tool` is under way; null: it is a call
 * itself.
 */
export interface ToolCallRow {
  home: string;
  call: string;
  sequence: Generated<number>;
  agent_json: string;
  session: string | null;
  run: string | null;
  place: string;
  tool: string;
  input_json: string;
  state: string;
  allowed_by: string | null;
  asked_at: number;
  answered_at: number | null;
  ended_at: number | null;
  told_at: number | null;
  words_json: string | null;
  outcome_json: string | null;
  is_error: Generated<boolean>;
  bytes: number | null;
  later: Generated<boolean>;
  leave_hash: string | null;
  pin: string | null;
  content_json: string | null;
  before_json: string | null;
  question_json: string | null;
}
