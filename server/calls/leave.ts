/**
 * Leave for what a mind does by itself: a program that is an agent's mind asks before it acts, and goes on when it is told.
 * The question is a row like any other. In a session it waits for its answer; where nobody is there, the program is told no
 * for now, and a later yes lets the same thing once, when it is asked for again within a day.
 */
import { createHash } from 'node:crypto';
import type { AgentId } from '../../src/domain/ids.ts';
import type { Grant } from '../../src/domain/toolsets.ts';
import type { AllowedBy } from '../../src/protocol/calls.ts';
import type { AskLeave, Verdict } from '../contracts.ts';
import type { CallRows, KeptCall, NewCall } from './rows.ts';
import { CALL_LIMITS } from './settings.ts';
import { LET, LET_LATER, SWITCHED_OFF, TOO_LONG, TOO_MANY, TURN_OVER, WAITS_IN_A_RUN, saidNo } from './words.ts';

export interface LeaveDeps {
  readonly rows: Pick<CallRows, 'add' | 'waiting' | 'end' | 'told' | 'close' | 'useLeave'>;
  readonly letBy: (agentId: AgentId, tool: string, input: unknown) => Promise<Grant | 'command'>;
  readonly newCall: (tool: string, input: unknown, caller: Parameters<AskLeave>[0]['caller']) => NewCall;
  readonly changed: (agentId: AgentId) => void;
  readonly counted: () => void;
  readonly now: () => number;
}

export interface Leave {
  readonly ask: AskLeave;
  /** A yes is on disk. True: somebody waited for it, and goes on; false: it is let when it is asked for again. */
  yes(call: KeptCall): Promise<boolean>;
  /** It was declined, or withdrawn. True: somebody waited for it, and was told. */
  no(call: Pick<KeptCall, 'callId'>, words: string): Promise<boolean>;
}

export function createLeave({ rows, letBy, newCall, changed, counted, now }: LeaveDeps): Leave {
  /** By question. */
  const waiters = new Map<string, (verdict: Verdict) => void>();
  /** Of what the person has let, and nobody has done yet. */
  const hashOf = (agentId: AgentId, tool: string, input: string) =>
    createHash('sha256')
      .update(JSON.stringify([agentId, tool, input]))
      .digest('hex');
  const over = (callId: string, verdict: Verdict): boolean => {
    const tell = waiters.get(callId);
    waiters.delete(callId);
    tell?.(verdict);
    return tell !== undefined;
  };

  return {
    async ask({ tool, input, caller }) {
      const { agentId, signal } = caller;
      const held = await letBy(agentId, tool, input);
      if (held === 'off') return { let: false, words: SWITCHED_OFF };
      const text = JSON.stringify(input ?? null);
      if (held !== 'ask' || (await rows.useLeave(hashOf(agentId, tool, text), now() - CALL_LIMITS.leaveMs))) {
        const by: AllowedBy = held === 'command' ? 'command' : held === 'ask' ? 'once' : 'grant';
        await rows.add(newCall(tool, input, caller), 'done', by, { text: LET, isError: false, at: now() });
        counted();
        return { let: true };
      }
      if (text.length > CALL_LIMITS.askedInput) return { let: false, words: TOO_LONG };
      const own = (await rows.waiting()).filter((each) => each.agentId === agentId);
      // One for which somebody waits is answered for them alone.
      const same = own.find((each) => each.tool === tool && each.input === text && !waiters.has(each.callId));
      if (!same && own.length >= CALL_LIMITS.openPerAgent) return { let: false, words: TOO_MANY };
      const call = newCall(tool, input, caller);
      const callId = same?.callId ?? call.callId;
      const waits = caller.kind !== 'run';
      const answered = new Promise<Verdict>((resolve) => waits && waiters.set(callId, resolve));
      if (!same) await rows.add(call, 'asked', null);
      changed(agentId);
      if (!waits) return { let: false, words: WAITS_IN_A_RUN };
      const stopped = () => {
        if (!over(callId, { let: false, words: TURN_OVER })) return;
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
    async yes({ callId, agentId, tool, input }) {
      const waited = over(callId, { let: true });
      const ended = { text: waited ? LET : LET_LATER, isError: false };
      await rows.end(callId, JSON.parse(input), ended, now(), waited ? {} : { leaves: hashOf(agentId, tool, input) });
      if (waited) await rows.told(callId, now());
      changed(agentId);
      counted();
      return waited;
    },
    async no({ callId }, words) {
      if (!over(callId, { let: false, words: saidNo(words) })) return false;
      await rows.told(callId, now());
      return true;
    },
  };
}
