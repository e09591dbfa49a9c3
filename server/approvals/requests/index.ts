/**
 * Questions to the person, and the record of what agents did.
 *
 * A tool that may not run by itself asks. In a session the call waits for the answer. In a run with
 * nobody there the agent is told no for now, and a later yes lets the same thing happen once.
 *
 * `rows.ts` decides on the store. `questions.ts` orders the questions. `granted.ts` applies the
 * person's settings, and `notify-agent.ts` reports outcomes to the agent.
 *
 * Main type: `Approvals`.
 *
 * Invariants:
 * - A yes counts for exactly what the card showed. If it has changed, the person is asked again.
 * - A call is carried out once, whatever dies in between.
 * - No program may answer. A credential is not the person.
 *
 * It does not know how a tool works.
 */
import type { Context } from 'hono';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { toolsetOf } from '../../../src/shared/domain/toolsets.ts';
import type { Given } from '../../../src/shared/domain/question-form.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import {
  type AllowedBy,
  type Answer,
  type CommandReach,
  type SandboxStatus,
  type ToolCall,
  toolCallSchema,
} from '../../../src/shared/protocol/approvals.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import { approvalEndpoints } from '../../../src/shared/protocol/endpoints/approvals.ts';
import type {
  Alone,
  AnsweredCall,
  Caller,
  Configs,
  Directory,
  EventLog,
  Reach,
  SessionHost,
  TeamTool,
  ToolOutcome,
} from '../../contracts/index.ts';
import type { Logger } from '../../platform/logger.ts';
import { ALWAYS_THERE, type Database, type Db, enduring, isAway, writeOnce } from '../../store/index.ts';
import { toolDone, toolError } from '../../contracts/define-tool.ts';
import { charactersIn } from '../../platform/json-bounds.ts';
import { agentIdIn } from '../../team/directory/index.ts';
import { answer, type Env, type Handled } from '../../http/endpoint.ts';
import type { HomeRights } from '../../access/owner-rights.ts';
import { problem } from '../../http/problem.ts';
import type { Pins } from '../pins/index.ts';
import {
  type Answered,
  type AnswerOptions,
  type CallRows,
  type Approvals,
  type Contents,
  createCallRows,
  createContents,
  type StoredCall,
  type NewCall,
} from './rows.ts';
import { createLeave, type Leave } from './leave.ts';
import {
  ASKED_EACH_TIME,
  ASKS_FOR_FORM,
  CHANGED,
  createNotifyAgent,
  NO_FORM,
  NO_HOSTS,
  SWITCHED_OFF,
  type NotifyAgent,
  type ToldInbox,
  TOO_LONG,
  TOO_MANY,
  WAITS,
  WAITS_IN_A_RUN,
  WITHDRAWN,
} from './notify-agent.ts';
import { createAgreedCommands, createGranted, type GrantedConfigs, type Let } from './granted.ts';
import { createForms, createQuestion } from './questions.ts';
import { CALL_LIMITS } from './settings.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';
export type { Answered, Approvals } from './rows.ts';

// Runs an allowed call once, and tells its agent the outcome.

interface CarryOutDeps {
  readonly database: Pick<Database, 'untilThere'>;
  readonly rows: Pick<CallRows, 'end' | 'get' | 'waitAgain'>;
  readonly contents: Contents;
  readonly leave: Pick<Leave, 'yes'>;
  readonly tellAgent: NotifyAgent;
  readonly toolNamed: (name: string) => TeamTool | undefined;
  readonly host: Pick<SessionHost, 'stateOf' | 'sessionId'>;
  readonly changed: (agentId: AgentId) => void;
  readonly counted: () => void;
  readonly closing: AbortSignal;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
}

/** The yes is on disk. */
function createCarryOut(deps: CarryOutDeps): (call: StoredCall, ownHosts?: readonly string[]) => Promise<void> {
  const { database, rows, contents, leave, tellAgent, toolNamed, host, changed, counted, closing, now, logger } = deps;

  async function outcomeOf(call: StoredCall, ownHosts: readonly string[]): Promise<ToolOutcome> {
    const { callId, agentId, folder, tool: name, input: text, runId, pinned } = call;
    const tool = toolNamed(name);
    const given: unknown = JSON.parse(text);
    const input = tool?.input.safeParse(given);
    const caller: Caller = {
      agentId,
      sessionId: host.stateOf(agentId) === 'absent' ? null : host.sessionId(),
      // An executor does not wait for the person. What its call starts belongs to the agent.
      ...(folder !== undefined ? { folder } : runId === null ? {} : { runId }),
      run: callId,
      kind: 'run',
      signal: closing,
      agreed: { ...contents.agreed({ agentId, folder, tool: name, input: given }, pinned), ownHosts },
    };
    if (!tool || !input?.success || !(await enduring(database, async () => (await tool.allowed?.(caller)) ?? true)))
      return toolError('This tool no longer exists.');
    return await tool.run(input.data, caller).catch((error: unknown) => {
      logger.error('A tool failed.', { agentId, tool: name, error });
      return toolError('The relay had an error. The call may have run. See the relay’s log.');
    });
  }

  return async (call, ownHosts = []) => {
    const { callId, agentId, tool, input } = call;
    if (toolsetOf(tool) === 'mind') {
      if (!(await leave.yes(call))) await tellAgent((await rows.get(callId)) ?? call, input, null);
      return;
    }
    const outcome = await outcomeOf(call, ownHosts);
    if (outcome.changed) {
      // The content changed between the yes and now. Nothing was done, and the person is asked
      // again.
      await enduring(database, async () => {
        await rows.waitAgain(callId);
        const waits = await rows.get(callId);
        if (waits) await contents.fresh(waits);
      });
      changed(agentId);
      return;
    }
    // The full outcome and the end of the call are written together or not at all. If the relay is
    // killed in between, the call's outcome is unknown.
    await enduring(database, () =>
      tellAgent({ ...call, state: 'done' }, input, outcome, (within) =>
        rows.end(callId, JSON.parse(input), outcome, now(), { within }),
      ),
    );
    changed(agentId);
    counted();
  };
}

interface ApprovalsDeps {
  readonly db: Db;
  /** Left out: the database is always reachable. */
  readonly database?: Pick<Database, 'untilThere'>;
  /** The id of the home. */
  readonly home: string;
  /** No other process can have this store open. */
  readonly onlyOne: boolean;
  readonly configs: GrantedConfigs;
  /** The content that calls are about. */
  readonly pins: Pins;
  readonly inbox: ToldInbox;
  readonly host: Pick<SessionHost, 'stateOf' | 'sessionId' | 'rouse'>;
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly alone: Alone;
  readonly reach: Pick<Reach, 'permitFor'>;
  /**
   * Called when the person says no. Resolves with what the transaction of their answer must also
   * write. Null: nothing.
   */
  readonly onDeclined?: (call: AnsweredCall) => Promise<((within: Db) => Promise<void>) | null>;
  readonly tell: (event: RoostEvent) => void;
  readonly now: () => number;
  readonly newId: () => string;
  readonly timers: Timers;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
}

/**
 * The effects of these tools lie outside the store. So the relay records that a call runs before it
 * runs.
 */
const leavesTraces = ({ name, readOnly }: TeamTool) => {
  const toolset = toolsetOf(name);
  return !readOnly && (toolset === 'files' || toolset === 'shell' || toolset === 'attached');
};

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { log, tell, now, newId, timers, logger } = deps;
  const { pins } = deps;
  const rows = createCallRows(deps);
  const agreed = createAgreedCommands(deps);
  const { grantFor, letBy, refuseAlways, always } = createGranted({ ...deps, agreed });
  const contents = createContents({ rows, pins });
  const guarded = new Map<string, TeamTool>();
  /** Tools that come and go. */
  const sources: (() => readonly TeamTool[])[] = [];
  const guards = new WeakMap<TeamTool, TeamTool>();
  const toolNamed = (name: string) =>
    guarded.get(name) ?? sources.flatMap((source) => source()).find((tool) => tool.name === name);
  const closing = new AbortController();
  /** Writes and calls that run beside their callers. */
  const underWay = new Set<Promise<unknown>>();
  let kept = 0;
  let telling = false;

  function beside(work: Promise<unknown>, what: string): void {
    const known = work.catch((error: unknown) => logger.error(what, { error }));
    underWay.add(known);
    void known.finally(() => underWay.delete(known));
  }
  const tellAgent = createNotifyAgent({ ...deps, rows, beside, closing: closing.signal });
  const changed = (agentId: AgentId) => tell({ kind: 'changed', time: now(), what: 'approvals', agentId });
  /** Pages that show the activity are notified at intervals, not for each call. */
  function counted(): void {
    if (++kept % CALL_LIMITS.dropEvery === 0)
      beside(rows.drop(now() - CALL_LIMITS.keptMs), 'Old tool calls could not be deleted.');
    if (telling || closing.signal.aborted) return;
    telling = true;
    timers.after(CALL_LIMITS.tellEveryMs, () => {
      telling = false;
      if (!closing.signal.aborted) tell({ kind: 'changed', time: now(), what: 'calls', agentId: null });
    });
  }

  const newCall = (tool: string, input: unknown, caller: Caller): NewCall => ({
    callId: newId(),
    agentId: caller.agentId,
    sessionId: caller.sessionId,
    runId: caller.runId ?? null,
    place: caller.kind,
    folder: caller.folder,
    tool,
    input,
    askedAt: now(),
  });
  const question = createQuestion({ ...deps, rows });
  const leave = createLeave({ rows, question, letBy, pins, newCall, changed, counted, beside, now });
  const forms = createForms({ rows, question, newCall, changed, counted, beside, closing: closing.signal, now });
  /**
   * An MCP server's question is answered through the request that waits for it. Its agent is told
   * nothing of it.
   */
  const ended = async (call: StoredCall, action: 'decline' | 'cancel', words: string): Promise<boolean> =>
    call.question ? (forms.end(call.callId, action), true) : await leave.no(call, words);

  async function run(tool: TeamTool, input: unknown, caller: Caller, allowedBy: AllowedBy): Promise<ToolOutcome> {
    const call = newCall(tool.name, input, caller);
    const first = leavesTraces(tool);
    if (first) await rows.add(call, 'running', allowedBy);
    const over = (ended: { readonly text: string; readonly isError: boolean }) => {
      counted();
      beside(
        first ? rows.end(call.callId, input, ended, now()) : rows.add(call, 'done', allowedBy, { ...ended, at: now() }),
        'A tool call could not be stored.',
      );
    };
    try {
      const outcome = await tool.run(input, caller);
      // Nothing was done, and the person is asked. The activity has no entry for this attempt.
      if (outcome.changed) {
        if (first) await rows.remove(call.callId);
      } else over(outcome);
      return outcome;
    } catch (error) {
      over({ text: 'The relay had an error.', isError: true });
      throw error;
    }
  }

  /** A provider runs this call. It is recorded from its beginning, however it ends. */
  const begunOf =
    ({ name }: TeamTool): NonNullable<TeamTool['begun']> =>
    (input, caller) => {
      const call = newCall(name, input, caller);
      const added = rows.add(call, 'running', 'grant');
      beside(added, 'A tool call could not be stored.');
      return (outcome) => {
        const endedAt = now();
        beside(
          added.then(() => rows.end(call.callId, input, outcome, endedAt)).then(counted),
          'The end of a tool call could not be stored.',
        );
      };
    };

  /** Whether a waiting question has the same key. The new question replaces it. */
  function takesPlaceOf({ name, asking }: TeamTool, input: unknown): (one: StoredCall) => boolean {
    const key = asking?.keyOf(input);
    return (one) => one.tool === name && key !== undefined && asking?.keyOf(JSON.parse(one.input)) === key;
  }

  async function ask(
    tool: TeamTool,
    given: unknown,
    caller: Caller,
    { before }: Pick<Let & { readonly by: 'ask' }, 'before'>,
  ): Promise<ToolOutcome> {
    const ready = (await tool.prepare?.(given, caller)) ?? { input: given };
    if (!('input' in ready)) return ready;
    const { input } = ready;
    if (charactersIn(input) > CALL_LIMITS.askedInput) return toolError(TOO_LONG);
    const text = JSON.stringify(input ?? null);
    if (text.length > CALL_LIMITS.askedInput) return toolError(TOO_LONG);
    const words = caller.kind === 'run' ? WAITS_IN_A_RUN : WAITS;
    const lies = await pins.of({ agentId: caller.agentId, folder: caller.folder, tool: tool.name, input });
    const asked = await question(
      newCall(tool.name, input, caller),
      text,
      { now: lies, before },
      { replaces: takesPlaceOf(tool, input) },
    );
    if (asked === null) return toolError(TOO_MANY);
    changed(caller.agentId);
    return { ...toolDone(words), asks: true };
  }

  const carryOut = createCarryOut({
    ...deps,
    database: deps.database ?? ALWAYS_THERE,
    rows,
    contents,
    leave,
    tellAgent,
    toolNamed,
    changed,
    counted,
    closing: closing.signal,
  });

  async function over(callId: string): Promise<Answered> {
    const call = await rows.get(callId);
    if (!call) return { ok: false, reason: 'unknown', detail: 'There is no such question.' };
    const detail =
      call.state === 'withdrawn'
        ? `The question was withdrawn, and the tool has not run. ${call.words ?? ''}`.trim()
        : call.state === 'declined'
          ? 'You already answered no.'
          : call.question
            ? 'You already sent this form.'
            : 'You already answered yes.';
    return { ok: false, reason: 'over', detail };
  }
  /** A yes that came too late: the question was answered elsewhere, or the content has changed. */
  async function late(callId: string): Promise<Answered> {
    return (await rows.get(callId))?.state === 'asked'
      ? { ok: false, reason: 'changed', detail: CHANGED }
      : await over(callId);
  }
  async function current(callId: string): Promise<Answered> {
    const call = await rows.get(callId);
    return call ? { ok: true, call } : await over(callId);
  }

  async function withdraw(call: StoredCall, why: string): Promise<void> {
    if (!(await rows.close(call.callId, 'withdrawn', why, now()))) return;
    changed(call.agentId);
    await ended(call, 'cancel', why);
  }

  async function withdrawAll(which: (call: StoredCall) => boolean, why: string): Promise<void> {
    for (const call of await rows.waiting()) if (which(call)) await withdraw(call, why);
  }

  /** False: the call no longer waits. */
  async function begin(call: StoredCall, given: Exclude<Answer, 'later' | 'no'>): Promise<boolean> {
    const at = now();
    const once = (within?: Db) => rows.begin(call, given, at, within);
    /** A yes counts even where its write was not acknowledged. It is carried out once. */
    const surely = async (write: () => Promise<boolean>) =>
      (await writeOnce({
        write: async () => (await write()) || null,
        check: async () => (await rows.hasBegun(call.callId, at)) || null,
      })) ?? false;
    if (given === 'once') return await surely(once);
    try {
      return await surely(() => always(call, given, once));
    } catch (error) {
      if (isAway(error)) throw error;
      // If the permission for later calls cannot be stored, the yes counts for this call only.
      logger.error('A permanent permission could not be stored.', {
        tool: call.tool,
        error,
      });
      return await surely(once);
    }
  }

  /**
   * Stores a no together with what the tool wants to remember of it. False: the call no longer
   * waits.
   */
  async function decline(call: StoredCall, words: string): Promise<boolean> {
    const { callId, pinned } = call;
    const input: unknown = JSON.parse(call.input);
    const markOf = (path: string) => pinned?.files.find((file) => file.path === path)?.mark;
    // Read before the transaction: an embedded store answers no other query during one.
    const also = (await deps.onDeclined?.({ ...call, input, markOf })) ?? null;
    return await deps.db.transaction().execute(async (trx) => {
      if (!(await rows.close(callId, 'declined', words.trim(), now(), trx))) return false;
      await also?.(trx);
      return true;
    });
  }

  async function answer(
    callId: string,
    given: Answer,
    words: string,
    { seen, ownHosts = [] }: AnswerOptions = {},
  ): Promise<Answered> {
    const call = await rows.get(callId);
    if (call?.state !== 'asked') return await over(callId);
    switch (given) {
      case 'later':
        if (!(await rows.putOff(callId))) return await over(callId);
        changed(call.agentId);
        return await current(callId);
      case 'no':
        if (!(await decline(call, words))) return await over(callId);
        changed(call.agentId);
        beside(
          ended(call, 'decline', words).then(async (waited) => {
            const declined = waited ? null : await rows.get(callId);
            if (declined) await tellAgent(declined, call.input, null);
          }),
          'An agent could not be notified that the person said no.',
        );
        return await current(callId);
      default: {
        if (call.question) return { ok: false, reason: 'misfit', detail: ASKS_FOR_FORM };
        const asking = toolNamed(call.tool)?.asking;
        const isGranted = call.where !== 'relay' && toolsetOf(call.tool) !== null;
        if (isGranted && (await grantFor(call.agentId, call.tool)) === 'off') {
          await withdraw(call, WITHDRAWN.off);
          return await over(callId);
        }
        // A yes covers what was shown. Where the caller does not say what that was, the row
        // decides.
        const shown = seen ?? call.pinned?.pin ?? '';
        const fresh = await contents.fresh(call);
        const isUnknown = seen === undefined && !call.isPinned;
        if (shown !== (fresh.pinned?.pin ?? '') && !isUnknown) {
          changed(call.agentId);
          return { ok: false, reason: 'changed', detail: CHANGED };
        }
        if (asking && given !== 'once') return { ok: false, reason: 'misfit', detail: ASKED_EACH_TIME };
        if (ownHosts.length > 0 && !asking?.refuseYes) return { ok: false, reason: 'misfit', detail: NO_HOSTS };
        const why = given === 'always-command' ? await refuseAlways(fresh) : (asking?.refuseYes?.(ownHosts) ?? null);
        if (why !== null) return { ok: false, reason: 'misfit', detail: why };
        if (!(await begin(fresh, given))) return await late(callId);
        changed(call.agentId);
        beside(carryOut(fresh, ownHosts), 'An allowed call could not be carried out.');
        return await current(callId);
      }
    }
  }

  async function send(callId: string, content: Given): Promise<Answered> {
    const call = await rows.get(callId);
    if (call?.state !== 'asked') return await over(callId);
    if (!call.question) return { ok: false, reason: 'misfit', detail: NO_FORM };
    const sent = await forms.send(call, content);
    if (sent === 'over') return await over(callId);
    return sent === 'sent' ? await current(callId) : { ok: false, reason: 'misfit', detail: sent.misfit };
  }

  /** Returns the same guard for the same tool each time, because minds are told of a tool once. */
  function guard(tool: TeamTool): TeamTool {
    const before = guards.get(tool);
    if (before) return before;
    const made: TeamTool = {
      ...tool,
      async allowed(caller) {
        const held = await grantFor(caller.agentId, tool.name);
        return (tool.provider ? held === 'allow' : held !== 'off') && ((await tool.allowed?.(caller)) ?? true);
      },
      ...(tool.provider ? { begun: begunOf(tool) } : {}),
      async run(input, caller) {
        const call = { agentId: caller.agentId, folder: caller.folder, tool: tool.name, input };
        const held = await letBy(call);
        switch (held.by) {
          case 'off':
            return toolError(SWITCHED_OFF);
          case 'ask':
            return await ask(tool, input, caller, held);
          case 'allow':
            return tool.asking
              ? await ask(tool, input, caller, { before: null })
              : await run(tool, input, caller, 'grant');
          case 'command': {
            const agreedTo = held.with ? { agreed: contents.agreed(call, held.with.pinned) } : {};
            const outcome = await run(tool, input, { ...caller, ...agreedTo }, 'command');
            if (!outcome.changed) return outcome;
            return await ask(tool, input, caller, { before: held.with?.pinned?.files ?? null });
          }
        }
      },
    };
    guards.set(tool, made);
    return made;
  }

  /** Agents whose files have changed since their questions were checked. */
  const looking = new Set<AgentId>();
  async function recheck(agentId: AgentId): Promise<void> {
    looking.delete(agentId);
    if (closing.signal.aborted) return;
    const own = (await rows.waiting()).filter((call) => call.agentId === agentId);
    const rechecked = await Promise.all(own.map(contents.fresh));
    if (rechecked.some((call, i) => call !== own[i])) changed(agentId);
  }
  log.subscribe(({ event }) => {
    if (event.kind !== 'changed' || event.what !== 'files' || event.agentId === null) return;
    const { agentId } = event;
    if (looking.has(agentId)) return;
    looking.add(agentId);
    timers.after(CALL_LIMITS.recheckMs, () =>
      beside(recheck(agentId), 'The relay could not check whether the content of its questions has changed.'),
    );
  });

  log.subscribe(({ event }) => {
    // Questions of a session that was cut off with its relay may still be answered.
    if (event.kind !== 'session-ended' || (event.reason !== 'ended' && event.reason !== 'idle')) return;
    const { sessionId } = event;
    const asked = (call: StoredCall) => call.where === 'session' && call.sessionId === sessionId;
    beside(withdrawAll(asked, WITHDRAWN.session), 'The questions of a session could not be withdrawn.');
  });

  return {
    guard: (tools) =>
      tools.map((tool) => {
        if (toolsetOf(tool.name) === null) throw new Error(`No toolset has a tool ${tool.name}`);
        guarded.set(tool.name, tool);
        return guard(tool);
      }),
    guardFrom(source) {
      sources.push(source);
      return () => source().map(guard);
    },
    ofRelay: (tool) => void guarded.set(tool.name, tool),
    async askAlone(agentId, name, input, before) {
      const tool = toolNamed(name);
      if (!tool) throw new Error(`There is no tool ${name}`);
      const pinned = await pins.of({ agentId, tool: name, input });
      const ids = { callId: newId(), agentId, sessionId: null, runId: null };
      const call: NewCall = { ...ids, place: 'relay', tool: name, input, askedAt: now() };
      const content = { now: pinned, before: before && [before] };
      const callId = await question(call, JSON.stringify(input), content, { replaces: takesPlaceOf(tool, input) });
      // A question that waited now covers the file's current content.
      const waits = callId === null || callId === call.callId ? null : await rows.get(callId);
      if (waits && (await contents.fresh(waits)) === waits) return;
      changed(agentId);
    },
    async askFor(name, input, caller) {
      const tool = toolNamed(name);
      if (!tool) throw new Error(`There is no tool ${name}`);
      return await ask(tool, input, caller, { before: null });
    },
    withdrawAsked: (tool, key) =>
      withdrawAll(
        (call) => call.tool === tool && toolNamed(tool)?.asking?.keyOf(JSON.parse(call.input)) === key,
        WITHDRAWN.settled,
      ),
    leave: leave.ask,
    askPerson: forms.ask,
    note: leave.note,
    waiting: () => rows.waiting(),
    toBeShown: async () => await Promise.all((await rows.waiting()).map(contents.fresh)),
    answered: () => rows.answeredSince(now() - CALL_LIMITS.answeredForMs),
    page: (before, agentId, limit) => rows.page(before, agentId, limit),
    ofRun: rows.ofRun,
    askedSince: rows.askedSince,
    answer,
    send,
    keepOnly: (agentIds) => withdrawAll(({ agentId }) => !agentIds.has(agentId), WITHDRAWN.forgotten),
    withdrawToolsOf: (prefix) => withdrawAll(({ tool }) => tool.startsWith(prefix), WITHDRAWN.detached),
    async recover() {
      await rows.lost(deps.onlyOne ? now() : now() - CALL_LIMITS.believedDeadMs, now());
      await rows.leftBehind(deps.onlyOne ? now() : now() - CALL_LIMITS.believedDeadMs, WITHDRAWN.restarted, now());
      await rows.drop(now() - CALL_LIMITS.keptMs);
      const { setAside = SETS_NOTHING_ASIDE } = deps;
      await setAside.each(
        'calls',
        await rows.untold(),
        ({ callId }) => callId,
        (call) => tellAgent(call, call.input, null),
      );
    },
    async close() {
      closing.abort();
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

// The person's endpoints for agents' activity and questions. API clients may not call them: a
// credential is not the person.

interface ApprovalRoutesDeps {
  readonly approvals: Approvals;
  readonly directory: Pick<Directory, 'all'>;
  readonly sandbox: () => Promise<SandboxStatus>;
  readonly configs: Pick<Configs, 'agent'>;
  readonly rights: Pick<HomeRights, 'has'>;
}

const STATUS = { unknown: 404, over: 409, misfit: 400, changed: 409 } as const;

export function createApprovalRoutes({
  approvals,
  directory,
  sandbox,
  configs,
  rights,
}: ApprovalRoutesDeps): readonly Handled[] {
  function person(context: Context<Env>): void {
    if (context.get('browser') === undefined)
      throw problem(403, 'browsers-only', 'Only the household’s page can answer agents’ questions.');
  }
  /** Removes the fields that only the relay may see. */
  const shown = (list: readonly ToolCall[]) => list.map((call) => toolCallSchema.parse(call));
  return answer(approvalEndpoints, {
    async calls({ before, limit, agent }, context) {
      person(context);
      const of = agent === null ? null : await agentIdIn(directory, agent);
      const page = await approvals.page(before, of, limit);
      return { calls: shown(page.calls), more: page.more };
    },
    async approvals(_, context) {
      person(context);
      const [waiting, answered, sandboxStatus] = await Promise.all([
        approvals.toBeShown(),
        approvals.answered(),
        sandbox(),
      ]);
      const asking = new Set(waiting.filter(({ tool }) => toolsetOf(tool) === 'shell').map(({ agentId }) => agentId));
      const reach = await Promise.all(
        [...asking].map(async (agentId): Promise<[AgentId, CommandReach]> => {
          const { network } = (await configs.agent(agentId)).effective.coordination;
          return [agentId, { network, sandboxed: sandboxStatus.available }];
        }),
      );
      return {
        waiting: shown(waiting),
        answered: shown(answered),
        sandbox: { ...sandboxStatus, insist: rights.has('bare-commands') && !sandboxStatus.available },
        reach: Object.fromEntries(reach),
        ownHosts: rights.has('own-hosts'),
      };
    },
    async answerApproval({ callId, body }, context) {
      person(context);
      const answered =
        body.answer === 'send'
          ? await approvals.send(callId, body.content)
          : await approvals.answer(callId, body.answer, body.words, { seen: body.seen, ownHosts: body.own_hosts });
      if (!answered.ok) throw problem(STATUS[answered.reason], answered.reason, answered.detail);
      return toolCallSchema.parse(answered.call);
    },
  });
}
