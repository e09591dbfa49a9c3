/**
 * Dreams in one answer, which the model's server gives within a day at half the price. A batch has
 * one request: every file of the memory, the day's messages, and the tool that changes the draft.
 * The agent makes all its changes in that answer.
 *
 * - The budget is reserved before the request is sent.
 * - `running` is written before it is sent, and `submitted` with the batch's id after it. A relay
 *   that was killed in between cannot know the id. That dream has failed, and is not sent again.
 * - A relay that was killed later goes on by the id. The reserve is charged at its highest price
 *   then, and nothing is counted twice.
 */
import { BATCH_DREAM_INSTRUCTIONS, batchDreamRequest } from '../../src/shared/domain/batch-dreams.ts';
import { DREAM_LIMITS } from '../../src/shared/domain/dreams.ts';
import type { AgentId, DreamId } from '../../src/shared/domain/ids.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import type { Cost } from '../../src/shared/domain/prices.ts';
import type { Protocol } from '../../src/shared/domain/prompts.ts';
import { PLAIN_TERMS, type RequestSize, tokensOf } from '../../src/shared/domain/request-cost.ts';
import type { Dream, DreamValue } from '../../src/shared/protocol/dreams.ts';
import type { Memory } from '../../src/shared/protocol/memories.ts';
import { type Mind, type MindAnswer, type MindRequest, sizeOfRequest, tookOf } from '../agents/minds/index.ts';
import type { ReadAround } from '../agents/runs/context.ts';
import { mindToolOf } from '../agents/runs/team-tools.ts';
import type { CostHold, Took } from '../team/costs/contract.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { Caller } from '../tools/index.ts';
import { firstWords, modelOf, systemOf } from '../schedules/alone.ts';
import type { Snapshots } from '../schedules/index.ts';
import type { OpenCosts } from '../team/costs/index.ts';
import type { Memories } from '../team/memory/index.ts';
import { createMemoryTool } from '../team/memory/tools.ts';
import { createDraft, type Draft } from './draft.ts';
import type { DreamBatch, DreamRows } from './rows.ts';

export interface BatchDreams {
  /**
   * Leaves the dream with the server of its agent's model, or fails it. False: that server takes no
   * batches, and the dream is due as before.
   */
  submit(due: Dream, day: string): Promise<boolean>;
  /** Reads what has become of those that were left. Resolves with whether one still waits. */
  look(): Promise<boolean>;
  /** Asks the server to cancel it. `look` ends it. False: it is not left with a server. */
  cancel(dreamId: DreamId): Promise<boolean>;
  /** Ends requests under way. */
  close(): void;
}

export interface BatchDreamsDeps {
  readonly rows: DreamRows;
  readonly mind: Mind;
  readonly protocol: Protocol;
  readonly costs: Pick<OpenCosts, 'check' | 'most'>;
  readonly snapshots: Pick<Snapshots, 'of'>;
  readonly readAround: ReadAround;
  readonly configs: Pick<Configs, 'agent'>;
  readonly memories: Memories;
  /** ms since the epoch */
  readonly now: () => number;
  readonly newId: () => string;
  /** Tells pages of the dream. */
  readonly told: (dream: Dream | null) => Dream | null;
}

const LOST = sentence`The connection broke while the dream was sent. It is not sent again.`;
const EXPIRED = sentence`The model’s server did not come to it within a day.`;
const CANCELLED = sentence`Stopped.`;
const CUT = sentence`Its answer was cut off.`;
const DECLINED = sentence`The model declined to answer this.`;
const LEFT_OUT = (count: number) => sentence`${count} changes did not fit the memory, and were left out.`;

const FREE = { costMicroUsd: 0, estimated: false } as const;

export function createBatchDreams(deps: BatchDreamsDeps): BatchDreams {
  const { rows, costs, memories, now, told } = deps;
  /** The reserves of those that this process has sent. */
  const holds = new Map<DreamId, { readonly hold: CostHold; readonly batch: DreamBatch }>();

  const closing = new AbortController();
  const signalOf = () => AbortSignal.any([closing.signal, AbortSignal.timeout(DREAM_LIMITS.batchRequestMs)]);
  const currentMind = (): Mind => deps.mind.current?.() ?? deps.mind;
  const fail = async (dreamId: DreamId, detail: string, more: Partial<DreamValue>) =>
    void told(await rows.become(dreamId, 'failed', { ...more, detail, changes: [] }));

  function draftOf(agentId: AgentId, base: readonly Memory[]) {
    const draft = createDraft({ agentId, base, ofTeam: memories, newId: deps.newId, now });
    const tool = createMemoryTool({
      memories: draft.memories,
      sourceOf: () => ({ by: 'dream', sessionId: null, runId: null, read: [] }),
    });
    return { draft, tool };
  }

  const settle = async (hold: CostHold, took: Took): Promise<Cost> => {
    await hold.settle({ sessionId: null, messageId: null, via: 'session', took });
    return hold.spent();
  };
  /** Counts what a batch has used. Where its reserve was charged already, that is what it cost. */
  async function spent(dreamId: DreamId, { mostMicroUsd }: DreamBatch, took: Took | 'nothing'): Promise<Cost> {
    const hold = holds.get(dreamId);
    holds.delete(dreamId);
    if (!hold) return { costMicroUsd: mostMicroUsd, estimated: true };
    if (took !== 'nothing') return await settle(hold.hold, took);
    hold.hold.release();
    return FREE;
  }

  async function submit(due: Dream, day: string): Promise<boolean> {
    const { agentId, dreamId } = due;
    const [snapshot, { effective }] = await Promise.all([deps.snapshots.of(agentId), deps.configs.agent(agentId)]);
    if (!snapshot || effective.coordination.mind !== null) return false;
    const mind = currentMind();
    const model = modelOf(agentId, snapshot, mind);
    const batches = mind.batches?.(model) ?? null;
    if (!batches) return false;
    const [base, around] = await Promise.all([memories.list(agentId), deps.readAround()]);
    const { tool } = draftOf(agentId, base);
    const why = batchDreamRequest(base, day);
    const payload = { instructions: BATCH_DREAM_INSTRUCTIONS, columns: [] };
    const text = firstWords({ agentId, why, lastSession: false, before: [] }, snapshot, null, around);
    const request: MindRequest = {
      ...{ priority: 'team', model, system: systemOf(deps.protocol, snapshot, payload, new Set([tool.name])) },
      messages: [{ role: 'user', blocks: [{ kind: 'text', text }] }],
      ...{ tools: [mindToolOf(tool)], maxTokens: DREAM_LIMITS.batchTokens },
    };
    const size: RequestSize = {
      ...sizeOfRequest(request, false),
      ...{ cached: 'not', terms: { ...PLAIN_TERMS, batch: true } },
    };
    const check = await costs.check({ agentId, size, sessionId: null }, signalOf());
    if (!check.ok) {
      await fail(dreamId, check.message, {});
      return true;
    }
    const { hold } = check;
    const mostMicroUsd = await costs.most(size);
    // From here on a killed relay charges the reserve.
    const running = await rows.become(dreamId, 'running', { costMicroUsd: mostMicroUsd, estimated: true });
    if (!told(running)) {
      hold.release();
      return true;
    }
    const sent = await batches.submit(request, signalOf());
    if (sent.ok) {
      const batch: DreamBatch = { batchId: sent.batchId, model, mostMicroUsd, base: [...base], isCancelled: false };
      const submitted = await rows.submit(dreamId, batch);
      holds.set(dreamId, { hold, batch });
      // It was forgotten meanwhile: `look` cancels it.
      told(submitted);
      return true;
    }
    if (sent.mayHaveArrived) {
      await fail(dreamId, LOST, await settle(hold, null));
      return true;
    }
    hold.release();
    if (sent.isMissing) return (await rows.become(dreamId, 'due', FREE)) === null;
    await fail(dreamId, sent.error.message, FREE);
    return true;
  }

  /** Carries out the calls of an answer in the draft. Resolves with how many did not fit. */
  async function carryOut(
    { agentId }: Dream,
    blocks: Extract<MindAnswer, { ok: true }>['blocks'],
    tool: ReturnType<typeof draftOf>['tool'],
  ): Promise<number> {
    const caller: Caller = { agentId, sessionId: null, run: '', kind: 'run', signal: signalOf() };
    let misfits = 0;
    for (const block of blocks) {
      if (block.kind !== 'tool-use') continue;
      const input = block.name === tool.name ? tool.input.safeParse(block.input) : null;
      const done = input?.success ? await tool.run(input.data, caller) : null;
      if (done === null || done.isError) misfits += 1;
    }
    return misfits;
  }

  async function answered(dream: Dream, batch: DreamBatch, answer: Extract<MindAnswer, { ok: true }>): Promise<void> {
    const { dreamId, agentId } = dream;
    const tokens = tookOf(batch.model, answer);
    const cost = await spent(dreamId, batch, tokens);
    const used = { ...cost, tokens: answer.usage && tokensOf(answer.usage) };
    if (batch.isCancelled) return await fail(dreamId, CANCELLED, used);
    if (answer.stop === 'refusal') return await fail(dreamId, DECLINED, used);
    if (answer.stop === 'length') return await fail(dreamId, CUT, used);
    const { draft, tool } = draftOf(agentId, batch.base);
    const misfits = await carryOut(dream, answer.blocks, tool);
    const words = answer.blocks.flatMap((block) => (block.kind === 'text' ? [block.text.trim()] : []));
    const more = { ...used, said: words.join('\n\n') || null, detail: misfits === 0 ? null : LEFT_OUT(misfits) };
    told(await rows.become(dreamId, ...outcomeOf(draft, more)));
  }

  async function lookAt(dream: Dream): Promise<void> {
    const { dreamId, changedAt } = dream;
    const batch = await rows.batchOf(dreamId);
    if (!batch) return;
    const batches = currentMind().batches?.(batch.model) ?? null;
    const state = batches ? await batches.read(batch.batchId, batch.model, signalOf()) : null;
    switch (state?.kind) {
      case 'answered':
        return await answered(dream, batch, state.answer);
      case 'cancelled':
        return await fail(dreamId, CANCELLED, await spent(dreamId, batch, 'nothing'));
      case 'expired':
        return await fail(dreamId, EXPIRED, await spent(dreamId, batch, 'nothing'));
      case 'failed':
        return await fail(dreamId, state.error.message, await spent(dreamId, batch, 'nothing'));
      case 'pending':
      case 'unknown':
      case undefined:
        // It is unknown whether the server has answered.
        if (now() - changedAt > DREAM_LIMITS.batchMs) await fail(dreamId, EXPIRED, await spent(dreamId, batch, null));
        return;
      default:
        return state satisfies never;
    }
  }

  return {
    submit,
    async look() {
      const submitted = await rows.inState('submitted');
      for (const dream of submitted) await lookAt(dream);
      // Those that were forgotten have no row any more.
      for (const [dreamId, { hold, batch }] of holds) {
        if (await rows.get(dreamId)) continue;
        holds.delete(dreamId);
        await currentMind().batches?.(batch.model)?.cancel(batch.batchId, signalOf());
        await settle(hold, null);
      }
      return (await rows.inState('submitted')).length > 0;
    },
    async cancel(dreamId) {
      const batch = await rows.batchOf(dreamId);
      if (!batch || !(await rows.submit(dreamId, { ...batch, isCancelled: true }))) return false;
      await currentMind().batches?.(batch.model)?.cancel(batch.batchId, signalOf());
      return true;
    },
    close: () => closing.abort(),
  };
}

/** The state to which a dream with this draft comes, and what has changed of its value. */
export function outcomeOf(draft: Draft, more: Partial<DreamValue>): ['unchanged' | 'proposed', Partial<DreamValue>] {
  const changes = [...draft.changes()];
  const { before: bytesBefore, after: bytesAfter } = draft.bytes();
  return [changes.length === 0 ? 'unchanged' : 'proposed', { ...more, changes, bytesBefore, bytesAfter }];
}
