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
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { StoredCall } from './rows.ts';
import type { Approvals } from './contract.ts';
import { WITHDRAWN } from './notify-agent.ts';
import { CALL_LIMITS } from './settings.ts';
import { SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';
import { type ApprovalsDeps, createApprovalsBase } from './base.ts';
import { createAnswers } from './answers.ts';
import { createGuards } from './guards.ts';

export { createApprovalRoutes } from './routes.ts';
export type { Answered, Approvals } from './contract.ts';

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { log, timers, now, setAside = SETS_NOTHING_ASIDE } = deps;
  const base = createApprovalsBase(deps);
  const { rows, contents, permissions, forms, tellAgent, changed, beside, closing } = base;
  const guards = createGuards(base);
  const { toolNamed } = guards;
  const { answer, send, withdrawAll } = createAnswers(base, guards);

  /** Agents whose files have changed since their questions were checked. */
  const looking = new Set<AgentId>();
  async function recheck(agentId: AgentId): Promise<void> {
    looking.delete(agentId);
    if (closing.aborted) return;
    const own = (await rows.open()).filter((call) => call.agentId === agentId);
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
    ...guards.asking,
    withdrawAsked: (tool, key) =>
      withdrawAll(
        (call) => call.tool === tool && toolNamed(tool)?.asking?.keyOf(JSON.parse(call.input)) === key,
        WITHDRAWN.settled,
      ),
    askPermission: permissions.ask,
    askPerson: forms.ask,
    recordAction: permissions.record,
    open: () => rows.open(),
    toBeShown: async () => await Promise.all((await rows.open()).map(contents.fresh)),
    answered: () => rows.answeredSince(now() - CALL_LIMITS.answeredForMs),
    page: (before, agentId, limit) => rows.page(before, agentId, limit),
    ofRun: rows.ofRun,
    askedSince: rows.askedSince,
    answer,
    send,
    keepOnly: (agentIds) => withdrawAll(({ agentId }) => !agentIds.has(agentId), WITHDRAWN.forgotten),
    withdrawToolsOf: (prefix) => withdrawAll(({ tool }) => tool.startsWith(prefix), WITHDRAWN.detached),
    async recover() {
      const before = base.onlyOne ? now() : now() - CALL_LIMITS.believedDeadMs;
      await rows.lost(before, now());
      await rows.leftBehind(before, WITHDRAWN.restarted, now());
      await rows.drop(now() - CALL_LIMITS.keptMs);
      await setAside.each(
        'calls',
        await rows.untold(),
        ({ callId }) => callId,
        (call) => tellAgent(call, call.input, null),
      );
    },
    close: base.close,
  };
}
