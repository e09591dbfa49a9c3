/**
 * A relay's team on a store, in this process, that can be dropped without a word: from one
 * statement to the next nothing that it says reaches the store any more, and none of its timers
 * goes off. Another may be opened on the same store then, as after a kill. What is asked of its
 * model goes over HTTP; its clock is the test's.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { PostgresQueryCompiler, type KyselyPlugin } from 'kysely';
import { openEventLog } from '../../server/log/index.ts';
import { openTeam, type Team } from '../../server/households/team.ts';
import type { Mind } from '../../server/agents/minds/index.ts';
import { createSealer } from '../../server/platform/sealer.ts';
import { SETS_NOTHING_ASIDE } from '../../server/platform/set-aside.ts';
import type { Store } from '../../server/store/index.ts';
import { parseProtocol } from '../../src/shared/domain/prompts.ts';
import { createDeferred } from '../../src/shared/domain/platform/deferred.ts';
import { createTimerSet, realTimers } from '../../src/shared/domain/platform/timers.ts';
import type { RoostEvent } from '../../src/shared/protocol/events.ts';

const PROTOCOL = parseProtocol(readFileSync(new URL('../../CLAUDE.md', import.meta.url), 'utf8'));
const SEALING_KEY = new Uint8Array(32).fill(7);

export interface MortalRelay {
  readonly team: Team;
  readonly events: readonly RoostEvent[];
  /** What it logged while it lived. */
  readonly logged: readonly string[];
  /** Dies at once. */
  die(): void;
  /**
   * Dies at so many statements from now; or at the next whose text has this. `sent`: it arrives
   * still, and its answer does not.
   */
  dieAt(statement: number | RegExp, sent: boolean): void;
  /**
   * At the answer to the next statement whose text has this it hangs until it is let go on, as a
   * process that was stopped.
   */
  hangAt(statement: RegExp): () => void;
  /** So many statements whose text has this are refused, as by a store that is away. */
  refuse(statement: RegExp, times: number): void;
  readonly dead: Promise<void>;
  isDead(): boolean;
  /** The person ends it. */
  stop(): Promise<void>;
}

export interface MortalRelayDeps {
  readonly store: Store;
  readonly home: string;
  readonly mind: Mind;
  readonly now: () => number;
  /** Left out: no other has this store. */
  readonly alone?: boolean;
}

class Dead extends Error {}

export async function openMortalRelay({ store, home, mind, now, alone = true }: MortalRelayDeps): Promise<MortalRelay> {
  const death = createDeferred();
  const timers = createTimerSet(realTimers);
  const logged: string[] = [];
  const events: RoostEvent[] = [];
  let dead = false;
  let left = Infinity;
  let wanted: RegExp | null = null;
  let sent = false;
  let hanging: { readonly statement: RegExp; readonly until: Promise<void> } | null = null;
  let refusing: { readonly statement: RegExp; times: number } | null = null;
  const hung = new WeakMap<object, Promise<void>>();

  function die(): void {
    dead = true;
    timers.close();
    death.resolve();
  }
  const counted = new WeakSet<object>();
  const compiler = new PostgresQueryCompiler();
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      if (dead) throw new Dead('It is dead.');
      left -= 1;
      if (refusing && refusing.times > 0 && refusing.statement.test(compiler.compileQuery(node, queryId).sql)) {
        refusing.times -= 1;
        throw new Error('The store is away.');
      }
      if (hanging?.statement.test(compiler.compileQuery(node, queryId).sql)) {
        hung.set(queryId, hanging.until);
        hanging = null;
      }
      if (left <= 0 || wanted?.test(compiler.compileQuery(node, queryId).sql)) {
        if (!sent) {
          die();
          throw new Dead('It died before it said so.');
        }
        counted.add(queryId);
      }
      return node;
    },
    async transformResult({ result, queryId }) {
      if (counted.has(queryId)) die();
      await hung.get(queryId);
      if (dead) throw new Dead('It died before it heard.');
      return result;
    },
  };
  const db = store.db.withPlugin(plugin);
  const note = (message: string, fields?: unknown) => {
    if (!dead) logged.push(`${message} ${inspect(fields)}`);
  };
  const log = await openEventLog({
    db,
    home,
    now,
    newId: randomUUID,
    onListenerError: (error) => note(String(error)),
  });
  log.subscribe(({ event }) => void events.push(event));
  const team = openTeam({
    db,
    home,
    alone,
    log,
    mind,
    protocol: PROTOCOL,
    now,
    newId: randomUUID,
    timers,
    logger: { warn: note, error: note },
    retentionMs: 60_000,
    sealer: createSealer(SEALING_KEY),
  });
  await SETS_NOTHING_ASIDE.run(team.recovery);
  return {
    team,
    events,
    logged,
    die,
    dieAt(statement, arrives) {
      if (typeof statement === 'number') left = statement;
      else wanted = statement;
      sent = arrives;
    },
    hangAt(statement) {
      const { promise, resolve } = createDeferred();
      hanging = { statement, until: promise };
      return resolve;
    },
    refuse(statement, times) {
      refusing = { statement, times };
    },
    dead: death.promise,
    isDead: () => dead,
    async stop() {
      await team.schedules.close(true);
      await team.close();
      await log.close();
    },
  };
}
