/** One dream: its run, or its request in a batch, and what came of it. */
import { dayText, DREAM_INSTRUCTIONS, DREAM_LIMITS, dreamRequest } from '../../src/shared/domain/dreams.ts';
import type { AgentId, RunId } from '../../src/shared/domain/ids.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import { tokensOf } from '../../src/shared/domain/request-cost.ts';
import { momentText } from '../../src/shared/domain/zone-days.ts';
import type { Dream } from '../../src/shared/protocol/dreams.ts';
import type { Wakes } from '../agents/wakes/contract.ts';
import type { Runs } from '../agents/runs/index.ts';
import type { EventLog } from '../log/index.ts';
import { NOT_OURS, type NotBegun, type OpenAlone, type Worked } from '../schedules/alone.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { Memories } from '../team/memory/index.ts';
import { createMemoryTool } from '../team/memory/tools.ts';
import { type BatchDreams, outcomeOf } from './batch.ts';
import type { ReadDay } from './day.ts';
import { createDraft } from './draft.ts';
import type { DreamRows } from './rows.ts';

const STOPPED = sentence`Stopped.`;
const WOKEN = sentence`The agent was needed during the dream.`;
const NO_SNAPSHOT = sentence`The relay has no copy of the agent. Open Roost once, so that it leaves one.`;

/** Why no run began, as a sentence. Null: it may begin later. */
function whyNot(worked: NotBegun): string | null {
  switch (worked.why) {
    case 'budget':
      return worked.detail;
    case 'no-copy':
      return NO_SNAPSHOT;
    case 'agent-busy':
    case 'closing':
    case 'not-ours':
    case 'read':
      return null;
    default:
      return worked satisfies never;
  }
}

export interface DreamingDeps {
  readonly memories: Memories;
  readonly alone: Pick<OpenAlone, 'can' | 'work'>;
  readonly wakes: Pick<Wakes, 'permitFor'>;
  readonly configs: Pick<Configs, 'household' | 'agent'>;
  readonly log: Pick<EventLog, 'read' | 'subscribe'>;
  readonly runs: Pick<Runs, 'stopRun'>;
  /** ms since the epoch */
  readonly now: () => number;
  readonly newId: () => string;
}

/** Where a dream is stored, and how its changes are announced. */
interface DreamStates {
  readonly rows: Pick<DreamRows, 'become'>;
  readonly batches: Pick<BatchDreams, 'submit'>;
  told(dream: Dream | null): Dream | null;
  fail(dream: Dream, detail: string, more?: Parameters<DreamRows['become']>[2]): Promise<unknown>;
}

export interface Dreaming {
  /**
   * `over`: it has ended, or could not begin and stays due. `no-snapshot`: a page may leave one in
   * a moment. `submitted`: a batch has it.
   */
  dream(due: Dream, readDay: ReadDay): Promise<'over' | 'no-snapshot' | 'submitted'>;
  close(): void;
}

export function createDreaming(deps: DreamingDeps, { rows, batches, told, fail }: DreamStates): Dreaming {
  const { memories, configs, now, newId } = deps;
  /** The dream under way. */
  let current: { readonly agentId: AgentId; readonly runId: RunId; isNeeded: boolean } | null = null;

  const unsubscribe = deps.log.subscribe(({ event }) => {
    if (!current || !('agentId' in event) || event.agentId !== current.agentId) return;
    const isWoken = event.kind === 'run-started' && event.runId !== current.runId;
    if (!isWoken && !(event.kind === 'message' && event.author === 'human')) return;
    current.isNeeded = true;
    deps.runs.stopRun(current.runId);
  });

  async function dream(due: Dream, readDay: ReadDay): ReturnType<Dreaming['dream']> {
    const { agentId, dreamId, night } = due;
    if (!(await deps.alone.can(agentId))) {
      // A page may leave it in a moment.
      if (now() - due.madeAt <= DREAM_LIMITS.snapshotMs) return 'no-snapshot';
      await fail(due, NO_SNAPSHOT);
      return 'over';
    }
    const byPerson = night === null;
    const { decision, permit } = await deps.wakes.permitFor({
      target: agentId,
      source: byPerson ? { kind: 'person' } : { kind: 'schedule', name: 'Dream' },
      way: byPerson ? 'person' : 'schedule',
      reason: null,
      messageId: null,
      callerSession: null,
      // The night is when nobody is disturbed.
      inDark: true,
    });
    if (!permit) {
      if (byPerson) await fail(due, decision.detail);
      return 'over';
    }
    try {
      const [base, day, { effective }] = await Promise.all([
        memories.list(agentId),
        readDay(agentId),
        configs.agent(agentId),
      ]);
      const draft = createDraft({ agentId, base, ofTeam: memories, newId, now });
      const tool = createMemoryTool({
        memories: draft.memories,
        sourceOf: ({ runId = null }) => ({ by: 'dream', sessionId: null, runId, read: [] }),
      });
      const whenOf = (time: number) => momentText(time, effective.time_zone);
      const messages = dayText(day, whenOf);
      if (await batches.submit(due, messages)) return 'submitted';
      const worked = await deps.alone.work({
        agentId,
        cause: { kind: 'dream' },
        why: dreamRequest(messages),
        needs: [tool.name],
        instructions: DREAM_INSTRUCTIONS,
        columns: [],
        lastSession: false,
        before: [],
        model: null,
        laterModel: null,
        tools: null,
        onlyTools: [tool],
        readsInbox: false,
        timeoutMs: DREAM_LIMITS.runMs,
        busyMs: effective.pulse_busy_wait_ms,
        maxTurns: DREAM_LIMITS.requests,
        cachesForAnHour: false,
        async begins(runId) {
          if (!told(await rows.become(dreamId, 'running', { runId }))) return NOT_OURS;
          current = { agentId, runId, isNeeded: false };
          return null;
        },
      });
      await ended(due, worked, draft);
      return 'over';
    } finally {
      current = null;
      await permit.release();
    }
  }

  async function ended(due: Dream, worked: Worked, draft: ReturnType<typeof createDraft>): Promise<void> {
    if (worked.kind === 'skipped') {
      const why = whyNot(worked);
      if (why !== null) await fail(due, why);
      return;
    }
    const { outcome, reason, usage, said, costMicroUsd, estimated } = worked.end;
    const spent = { said, costMicroUsd, estimated, tokens: usage && tokensOf(usage) };
    if (outcome !== 'done') return void (await fail(due, current?.isNeeded ? WOKEN : (reason ?? STOPPED), spent));
    told(await rows.become(due.dreamId, ...outcomeOf(draft, spent)));
  }

  return { dream, close: unsubscribe };
}
