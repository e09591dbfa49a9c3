/**
 * Tables of what agents keep. The head of `tables.ts` tells the form of texts and times.
 */
import type { Generated } from 'kysely';

export interface MemoryTables {
  /**
   * Files of memories.
   *
   * - `agent_json`: whose memory it is. JSON `null`: the team's.
   * - `path_json`: its path, unique in its memory among those that are not removed.
   * - `value_json`: the file as in its record, without `removed`.
   * - `bytes`: of its text.
   */
  memories: {
    home: string;
    memory: string;
    agent_json: string;
    path_json: string;
    value_json: string;
    bytes: number;
    version: Generated<number>;
    stamp: string | null;
    removed: Generated<boolean>;
  };
  /**
   * Dreams of agents. A dream that waits for the person is here alone. The memory has what was
   * adopted.
   *
   * - `night`: the day on which it was due, unique for its agent. Null: the person asked for it.
   * - `state`: see `src/shared/domain/dreams.ts`.
   * - `value_json`: what it has come to.
   * - `batch_json`: of a dream that is left with a model server: its batch, and the memory then.
   */
  dreams: {
    home: string;
    dream: string;
    agent_json: string;
    night: string | null;
    state: string;
    value_json: string;
    made_at: number;
    changed_at: number;
    batch_json: string | null;
  };
  /**
   * Exams of agents. One after the person has decided is a certificate, and a record.
   *
   * - `state`: see `src/shared/domain/exams.ts`. One of an agent runs or waits for the person.
   * - `value_json`: what it has come to.
   * - `version`, `stamp`: as in `threads` of `tables.ts`.
   */
  exams: {
    home: string;
    exam: string;
    agent_json: string;
    state: string;
    value_json: string;
    made_at: number;
    changed_at: number;
    stamp: string | null;
    version: Generated<number>;
  };
  /**
   * Requests to forget that are final. What they cover must not be written again.
   *
   * - `value_json`: the request, with ids and times only.
   * - `done`: nothing is left here of what it covers.
   */
  forgets: { home: string; forget: string; value_json: string; done: Generated<boolean> };
}
