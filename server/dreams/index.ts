/**
 * Dreams: runs in which an agent tidies a draft of its memory. What it proposes waits for the
 * person, and the memory stays as it is until it is adopted.
 *
 * - A dream is otherwise an ordinary run, through the gate and within the budget. Its only tool
 *   changes the draft. The draft is in no store before the run is done.
 * - It reads the memory and the day's messages. It never reads what tools returned, and nothing of
 *   earlier dreams but what was adopted.
 * - Each agent has at most one dream a night, and none while one waits for the person.
 * - Where the model's server takes batches, a dream is one request of a batch: see `batch.ts`.
 * - Nobody waits for a dream. It ends when its agent is woken or spoken to.
 * - States are in `src/shared/domain/dreams.ts`. Each change of a state is one write. A relay that
 *   died leaves `running`, which its next start turns into `failed`.
 */
import { DREAM_LIMITS, DREAM_STATES, isDreamOver } from '../../src/shared/domain/dreams.ts';
import type { AgentId, DreamId } from '../../src/shared/domain/ids.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import { createTimerSet, type Timers } from '../../src/shared/domain/platform/timers.ts';
import { wallTime } from '../../src/shared/domain/zone-days.ts';
import type { Dream } from '../../src/shared/protocol/dreams.ts';
import type { SessionHost } from '../agents/session/contract.ts';
import type { Directory } from '../team/directory/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { SetAside } from '../platform/set-aside.ts';
import type { HomeStore } from '../store/index.ts';
import type { MemoryOutcome } from '../team/memory/index.ts';
import { type BatchDreamsDeps, createBatchDreams } from './batch.ts';
import { createReadDay, type ReadDay } from './day.ts';
import { createDreaming, type DreamingDeps } from './dreaming.ts';
import { createDreamRows } from './rows.ts';

export type DreamOutcome =
  | { readonly ok: true; readonly dream: Dream }
  | { readonly ok: false; readonly reason: 'no-dream' | 'dream-over' | 'dream-waits' }
  /** The memory refuses what was proposed. */
  | { readonly ok: false; readonly reason: 'refused'; readonly by: Exclude<MemoryOutcome<never>, { ok: true }> };

export interface Dreams {
  /** Newest first. */
  of(agentId: AgentId): Promise<readonly Dream[]>;
  /** Dreams of all agents that wait for the person, newest first. */
  waiting(): Promise<readonly Dream[]>;
  /** The person has the agent dream now. Does not wait for the dream. */
  start(agentId: AgentId): Promise<DreamOutcome>;
  adopt(dreamId: DreamId): Promise<DreamOutcome>;
  discard(dreamId: DreamId): Promise<DreamOutcome>;
  /** Cancels a dream that is left with a model server. Does not wait for the server. */
  cancel(dreamId: DreamId): Promise<DreamOutcome>;
  /** Cancels those of these agents that are left with a model server, before their rows go. */
  cancelOf(agentIds: readonly AgentId[]): Promise<void>;
  /** Ends dreams of a relay that died. */
  recover(): Promise<void>;
  /** Agents that dream by night, or whose dream is due. */
  dreaming(): Promise<readonly AgentId[]>;
  /** Begins what is due. Resolves when it is done. */
  look(): Promise<void>;
  /** Looks at what is due from now on. `mayDream`: false in a copy of a home. */
  begin(mayDream: () => boolean): void;
  /** Begins no dream any more. Resolves when the one under way is over, which its run decides. */
  close(): Promise<void>;
}

interface DreamsDeps
  extends HomeStore, DreamingDeps, Pick<BatchDreamsDeps, 'mind' | 'protocol' | 'costs' | 'snapshots' | 'readAround'> {
  /** No other process has this store open. */
  readonly onlyOne: boolean;
  readonly host: Pick<SessionHost, 'stateOf'>;
  readonly directory: Pick<Directory, 'all'>;
  /** The person wants the agent at work without a page, even if its snapshot was withdrawn. */
  readonly allowSnapshot: (agentId: AgentId) => Promise<void>;
  readonly onChange: (agentId: AgentId) => void;
  readonly timers: Timers;
  readonly setAside: SetAside;
  readonly logger: Pick<Logger, 'error'>;
}

/** ms after which a dream of another process that says nothing has died. */
const DEAD_MS = DREAM_LIMITS.runMs + 3_600_000;
const HOUR_MS = 3_600_000;

/** An agent has at most one dream in these states. */
const OPEN = DREAM_STATES.filter((state) => !isDreamOver(state));

const DIED = sentence`The relay stopped in the middle of it.`;
const NEVER_BEGAN = sentence`It could not begin.`;
export function createDreams(deps: DreamsDeps): Dreams {
  const { memories, configs, onChange, now, newId, logger } = deps;
  const rows = createDreamRows(deps);
  const timers = createTimerSet(deps.timers);
  const inTurn = createQueue();
  const batches = createBatchDreams({ ...deps, rows, told });
  const fail = async ({ dreamId }: Dream, detail: string, more: Parameters<typeof rows.become>[2] = {}) =>
    told(await rows.become(dreamId, 'failed', { ...more, detail, changes: [] }));
  const dreaming = createDreaming(deps, { rows, batches, told, fail });
  const days = createReadDay({ ...deps, rows });
  let closed = false;
  function told(dream: Dream | null): Dream | null {
    if (dream) onChange(dream.agentId);
    return dream;
  }

  async function adopt(dreamId: DreamId): Promise<DreamOutcome> {
    const dream = await rows.get(dreamId);
    if (!dream) return { ok: false, reason: 'no-dream' };
    const { agentId, runId, changes } = dream;
    let adopted: Dream | null = null;
    const outcome = await memories.replace(
      agentId,
      changes.map(({ memoryId, path, before, after }) => ({ memoryId, path, before: before ?? '', after })),
      { by: 'dream', sessionId: null, runId, read: [] },
      async (trx) => (adopted = await rows.become(dreamId, 'adopted', {}, trx)) !== null,
    );
    if (!outcome || (outcome.ok && !adopted)) return { ok: false, reason: 'dream-over' };
    if (!outcome.ok) return { ok: false, reason: 'refused', by: outcome };
    return { ok: true, dream: adopted ?? dream };
  }

  async function discard(dreamId: DreamId): Promise<DreamOutcome> {
    if (!(await rows.get(dreamId))) return { ok: false, reason: 'no-dream' };
    const discarded = told(await rows.become(dreamId, 'discarded', {}));
    return discarded ? { ok: true, dream: discarded } : { ok: false, reason: 'dream-over' };
  }

  /** The night that is due for an agent in this time zone: a day. Null: its hour has not come. */
  function nightNow(zone: string, hour: number): string | null {
    const wall = wallTime(zone, now());
    const isDue = Math.floor((wall / HOUR_MS) % 24) >= hour;
    return isDue ? new Date(wall).toISOString().slice(0, 10) : null;
  }

  /** Makes the dreams of this night due. */
  async function makeDue(readDay: ReadDay): Promise<void> {
    const open = await rows.inState(...OPEN);
    for (const { agentId, retired } of await deps.directory.all()) {
      const { effective } = await configs.agent(agentId);
      const { dreams, dream_hour: hour } = effective.coordination;
      if (dreams === 'off' || retired || open.some((each) => each.agentId === agentId)) continue;
      const night = nightNow(effective.time_zone, hour);
      const isNew = night !== null && (await rows.of(agentId, 1)).every((last) => last.night !== night);
      // Without messages there is nothing to dream of, and nothing is spent.
      if (isNew && (await readDay(agentId)).length > 0) told(await rows.add({ dreamId: newId(), agentId, night }));
    }
  }

  async function dreamOf(due: Dream, readDay: ReadDay): Promise<void> {
    const outcome = await dreaming.dream(due, readDay);
    if (outcome === 'no-snapshot') timers.after(DREAM_LIMITS.snapshotAgainMs, lookNow);
    if (outcome === 'submitted') lookAgain();
  }

  async function dreamDue(readDay: ReadDay): Promise<void> {
    for (const due of (await rows.inState('due')).toReversed()) {
      if (closed) return;
      if (now() - due.madeAt > DREAM_LIMITS.dueMs) await fail(due, NEVER_BEGAN);
      // At night a dream waits until the agent sleeps.
      else if (due.night === null || deps.host.stateOf(due.agentId) === 'absent')
        await dreamOf(due, readDay).catch(async (error: unknown) => {
          logger.error('A dream ended because of an error in it.', { agentId: due.agentId, error });
          await fail(due, NEVER_BEGAN);
        });
    }
    for (const { agentId, dreamId } of await rows.inState('proposed'))
      if ((await configs.agent(agentId)).effective.coordination.dreams === 'adopt') await adopt(dreamId);
  }
  const look = () =>
    inTurn(async () => {
      if (closed) return;
      const readDay = days();
      await batches.look();
      await makeDue(readDay);
      await dreamDue(readDay);
      if ((await rows.inState('submitted')).length > 0) lookAgain();
    });
  /** Looks again for answers of batches. */
  let cancelLook: (() => void) | null = null;
  function lookAgain(): void {
    cancelLook ??= timers.after(DREAM_LIMITS.batchLookMs, () => {
      cancelLook = null;
      lookNow();
    });
  }
  const lookNow = () =>
    void look().catch((error: unknown) => logger.error('The relay could not look for dreams that are due.', { error }));

  function begin(mayDream: () => boolean): void {
    if (mayDream()) lookNow();
    timers.after(DREAM_LIMITS.lookMs, () => begin(mayDream));
  }

  return {
    of: (agentId) => rows.of(agentId, DREAM_LIMITS.listed),
    waiting: () => rows.inState('proposed'),
    async start(agentId) {
      const open = await rows.inState(...OPEN);
      if (open.some((each) => each.agentId === agentId)) return { ok: false, reason: 'dream-waits' };
      const due = told(await rows.add({ dreamId: newId(), agentId, night: null }));
      if (!due) return { ok: false, reason: 'dream-waits' };
      await deps.allowSnapshot(agentId);
      lookNow();
      return { ok: true, dream: due };
    },
    adopt,
    discard,
    async cancel(dreamId) {
      const dream = await rows.get(dreamId);
      if (!dream) return { ok: false, reason: 'no-dream' };
      if (!(await batches.cancel(dreamId))) return { ok: false, reason: 'dream-over' };
      lookNow();
      return { ok: true, dream: dream };
    },
    async cancelOf(agentIds) {
      for (const { agentId, dreamId } of await rows.inState('submitted'))
        if (agentIds.includes(agentId)) await batches.cancel(dreamId);
    },
    async recover() {
      for (const dream of await rows.inState('running'))
        if (deps.onlyOne || now() - dream.changedAt > DEAD_MS) await fail(dream, DIED);
    },
    async dreaming() {
      const due = new Set((await rows.inState('due')).map(({ agentId }) => agentId));
      const team = await deps.directory.all();
      const choices = await Promise.all(
        team.map(async ({ agentId }) => (await configs.agent(agentId)).effective.coordination.dreams),
      );
      return team.flatMap(({ agentId }, i) => (due.has(agentId) || choices[i] !== 'off' ? [agentId] : []));
    },
    look,
    begin,
    close() {
      closed = true;
      dreaming.close();
      batches.close();
      timers.close();
      return inTurn(() => Promise.resolve());
    },
  };
}
