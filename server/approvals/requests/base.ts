/** What the parts of approvals share: rows, what a yes covers, work beside the callers. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { Alone, Wakes } from '../../agents/wakes/contract.ts';
import type { SessionHost } from '../../agents/session/contract.ts';
import type { EventLog } from '../../log/index.ts';
import type { AnsweredCall, Caller } from '../../tools/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Database, Db, HomeStore } from '../../store/index.ts';
import type { Pins } from '../pins/index.ts';
import { createCallRows, type NewCall } from './rows.ts';
import { createContents } from './contents.ts';
import { createPermissions } from './permissions.ts';
import { createNotifyAgent, type ToldInbox } from './notify-agent.ts';
import { createAgreedCommands, createGranted, type GrantedConfigs } from './granted.ts';
import { createForms, createQuestion } from './questions.ts';
import { CALL_LIMITS } from './settings.ts';
import type { SetAside } from '../../platform/set-aside.ts';

export interface ApprovalsDeps extends HomeStore {
  /** Left out: the database is always reachable. */
  readonly database?: Pick<Database, 'untilThere'>;
  /** No other process can have this store open. */
  readonly onlyOne: boolean;
  readonly configs: GrantedConfigs;
  /** The content that calls are about. */
  readonly pins: Pins;
  readonly inbox: ToldInbox;
  readonly host: Pick<SessionHost, 'stateOf' | 'sessionId' | 'rouse'>;
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly alone: Alone;
  readonly wakes: Pick<Wakes, 'permitFor'>;
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

export type ApprovalsBase = ReturnType<typeof createApprovalsBase>;

export function createApprovalsBase(deps: ApprovalsDeps) {
  const { tell, now, newId, timers, logger, pins } = deps;
  const rows = createCallRows(deps);
  const agreed = createAgreedCommands(deps);
  const granted = createGranted({ ...deps, agreed });
  const { letBy } = granted;
  const contents = createContents({ rows, pins });
  const closing = new AbortController();
  /** Writes and calls that run beside their callers. */
  const underWay = new Set<Promise<unknown>>();
  let storedCount = 0;
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
    if (++storedCount % CALL_LIMITS.dropEvery === 0)
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
  const permissions = createPermissions({ rows, question, letBy, pins, newCall, changed, counted, beside, now });
  const forms = createForms({ rows, question, newCall, changed, counted, beside, closing: closing.signal, now });
  return {
    ...deps,
    ...granted,
    rows,
    contents,
    beside,
    tellAgent,
    changed,
    counted,
    newCall,
    question,
    permissions,
    forms,
    closing: closing.signal,
    /** Resolves when the work beside the callers is over. */
    async close(): Promise<void> {
      closing.abort();
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
