/** The person's answers to questions, and questions that are withdrawn. */
import { toolsetOf } from '../../../src/shared/domain/toolsets.ts';
import type { Given } from '../../../src/shared/domain/question-form.ts';
import type { Answer } from '../../../src/shared/protocol/approvals.ts';
import { ALWAYS_THERE, type Db, isAway, writeOnce } from '../../store/index.ts';
import type { StoredCall } from './rows.ts';
import type { Answered, AnswerOptions } from './contract.ts';
import { ASKED_EACH_TIME, ASKS_FOR_FORM, CHANGED, NO_FORM, NO_HOSTS, WITHDRAWN } from './notify-agent.ts';
import type { ApprovalsBase } from './base.ts';
import { createCarryOut } from './carry-out.ts';
import type { Guards } from './guards.ts';

export function createAnswers(base: ApprovalsBase, { toolNamed }: Pick<Guards, 'toolNamed'>) {
  const { db, rows, contents, grantFor, refuseAlways, always, permissions, forms, tellAgent, changed, beside } = base;
  const { logger, now } = base;
  const carryOut = createCarryOut({ ...base, database: base.database ?? ALWAYS_THERE, toolNamed });
  /**
   * An MCP server's question is answered through the request that waits for it. Its agent is told
   * nothing of it.
   */
  const ended = async (call: StoredCall, action: 'decline' | 'cancel', words: string): Promise<boolean> =>
    call.question ? (forms.end(call.callId, action), true) : await permissions.no(call, words);

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
    for (const call of await rows.open()) if (which(call)) await withdraw(call, why);
  }

  /** False: the call no longer waits. */
  async function begin(call: StoredCall, answer: Exclude<Answer, 'later' | 'no'>): Promise<boolean> {
    const at = now();
    const once = (within?: Db) => rows.begin(call, answer, at, within);
    /** A yes counts even where its write was not acknowledged. It is carried out once. */
    const surely = async (write: () => Promise<boolean>) =>
      (await writeOnce({
        write: async () => (await write()) || null,
        check: async () => (await rows.hasBegun(call.callId, at)) || null,
      })) ?? false;
    if (answer === 'once') return await surely(once);
    try {
      return await surely(() => always(call, answer, once));
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
    const also = (await base.onDeclined?.({ ...call, input, markOf })) ?? null;
    return await db.transaction().execute(async (trx) => {
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

  return { answer, send, withdrawAll };
}
