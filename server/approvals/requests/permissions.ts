/**
 * Permission for the actions of an ACP agent, which asks before it acts. The question is a row like
 * any other. In a session it waits for the answer. Where nobody is there, the agent gets a no for
 * now. A later yes then allows the same action once, if the agent asks for it again within a day.
 * Every action is recorded from its beginning with its outcome, also where the agent did not ask.
 */
import { createHash } from 'node:crypto';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { AllowedBy } from '../../../src/shared/protocol/approvals.ts';
import type { AskPermission, ActionEnd, RecordAction, Permission } from '../../agents/minds/actions.ts';
import { charactersIn } from '../../platform/json-bounds.ts';
import type { PinnedCall, Pins } from '../pins/index.ts';
import type { Let } from './granted.ts';
import type { Question } from './questions.ts';
import type { CallRows, StoredCall, NewCall } from './rows.ts';
import { CALL_LIMITS } from './settings.ts';
import { LET_LATER, saidNo, SWITCHED_OFF, TOO_LONG, TOO_MANY, TURN_OVER, WAITS_IN_A_RUN } from './notify-agent.ts';

export interface PermissionsDeps {
  readonly rows: Pick<CallRows, 'add' | 'end' | 'told' | 'close' | 'remove' | 'useLeave'>;
  readonly question: Question;
  readonly letBy: (call: PinnedCall) => Promise<Let>;
  readonly pins: Pick<Pins, 'of'>;
  readonly newCall: (tool: string, input: unknown, caller: Parameters<AskPermission>[0]['caller']) => NewCall;
  readonly changed: (agentId: AgentId) => void;
  readonly counted: () => void;
  /** The mind does not wait for this work. `what` is logged where it fails. */
  readonly beside: (work: Promise<unknown>, what: string) => void;
  readonly now: () => number;
}

export interface Permissions {
  readonly ask: AskPermission;
  readonly record: RecordAction;
  /**
   * A yes is on disk. True: the mind waited for it and goes on. False: the action is allowed when
   * it is requested again.
   */
  yes(call: StoredCall): Promise<boolean>;
  /**
   * The question was declined or withdrawn. True: the mind waited for it and received the answer.
   */
  no(call: Pick<StoredCall, 'callId'>, words: string): Promise<boolean>;
}

export function createPermissions({
  rows,
  question,
  letBy,
  pins,
  newCall,
  changed,
  counted,
  beside,
  now,
}: PermissionsDeps): Permissions {
  /** Waiting calls by question. */
  const waiters = new Map<string, (permission: Permission) => void>();
  /** Hash of an allowed action that has not been done yet. `pin`: of the content that it covers. */
  const hashOf = (agentId: AgentId, tool: string, input: string, pin: string | null) =>
    createHash('sha256')
      .update(JSON.stringify([agentId, tool, input, pin]))
      .digest('hex');
  const over = (callId: string, permission: Permission): boolean => {
    const tell = waiters.get(callId);
    waiters.delete(callId);
    tell?.(permission);
    return tell !== undefined;
  };

  /** `added`: resolves when the running call is recorded. */
  function overOf(callId: string, asked: unknown, added: Promise<void> = Promise.resolve()) {
    return ({ input = asked, stopped, ...ended }: ActionEnd): void => {
      const at = now();
      const kept = added.then(() => rows.end(callId, input, ended, at, { state: stopped ? 'stopped' : 'done' }));
      beside(kept.then(counted), 'The outcome of an ACP agent’s call could not be stored.');
    };
  }

  return {
    record({ tool, input, caller }) {
      const call = newCall(tool, input, caller);
      const added = rows.add(call, 'running', 'program');
      beside(added, 'A call of an ACP agent could not be stored.');
      return {
        over: overOf(call.callId, input, added),
        asks: () =>
          beside(
            added.then(() => rows.remove(call.callId)),
            'A question may be listed twice.',
          ),
      };
    },
    async ask({ tool, input, caller }) {
      const { agentId, signal } = caller;
      const ruling = await letBy({ agentId, tool, input });
      if (ruling.by === 'off') return { allowed: false, words: SWITCHED_OFF };
      if (ruling.by === 'ask' && charactersIn(input) > CALL_LIMITS.askedInput)
        return { allowed: false, words: TOO_LONG };
      const text = ruling.by === 'ask' ? JSON.stringify(input ?? null) : '';
      const pinned = ruling.by === 'ask' ? await pins.of({ agentId, tool, input }) : null;
      const wasLet = () => rows.useLeave(hashOf(agentId, tool, text, pinned?.pin ?? null), now() - CALL_LIMITS.leaveMs);
      if (ruling.by !== 'ask' || (await wasLet())) {
        const by: AllowedBy = ruling.by === 'command' ? 'command' : ruling.by === 'ask' ? 'once' : 'grant';
        const call = newCall(tool, input, caller);
        await rows.add(call, 'running', by);
        return { allowed: true, over: overOf(call.callId, input) };
      }
      if (text.length > CALL_LIMITS.askedInput) return { allowed: false, words: TOO_LONG };
      const waits = caller.kind !== 'run';
      let tell: (permission: Permission) => void = () => undefined;
      const answered = new Promise<Permission>((resolve) => (tell = resolve));
      const callId = await question(
        newCall(tool, input, caller),
        text,
        { now: pinned, before: ruling.before },
        {
          // A question for which a mind waits is answered for that mind alone.
          mayBe: (each) => !waiters.has(each.callId),
          before: (own) => waits && waiters.set(own, tell),
        },
      );
      if (callId === null) return { allowed: false, words: TOO_MANY };
      changed(agentId);
      if (!waits) return { allowed: false, words: WAITS_IN_A_RUN };
      const stopped = () => {
        if (!over(callId, { allowed: false, words: TURN_OVER })) return;
        void rows.close(callId, 'withdrawn', TURN_OVER, now()).then(() => changed(agentId));
      };
      if (signal.aborted) stopped();
      else signal.addEventListener('abort', stopped, { once: true });
      try {
        return await answered;
      } finally {
        signal.removeEventListener('abort', stopped);
      }
    },
    async yes({ callId, agentId, tool, input, pinned }) {
      const asked: unknown = JSON.parse(input);
      const waited = over(callId, { allowed: true, over: overOf(callId, asked) });
      // The agent needs no later message: the mind that waited goes on and reports the outcome.
      if (waited) await rows.told(callId, now());
      else {
        const leaves = hashOf(agentId, tool, input, pinned?.pin ?? null);
        await rows.end(callId, asked, { text: LET_LATER, isError: false }, now(), { leaves });
        counted();
      }
      changed(agentId);
      return waited;
    },
    async no({ callId }, words) {
      if (!over(callId, { allowed: false, words: saidNo(words) })) return false;
      await rows.told(callId, now());
      return true;
    },
  };
}
