/** Exams of agents, as the page begins, shows and answers them. */
import type { AgentId } from '../../shared/domain/ids.ts';
import { LEAD_ID } from '../../shared/domain/seat.ts';
import type { Exam, ExamCost, ExamRequest } from '../../shared/protocol/exams.ts';
import { spoken, t } from '../language/t.ts';
import { snapshotOf } from './agent-snapshot.ts';
import { DONE, type Done, doneOf } from './attempt.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { errorText, problemText } from './ports.ts';
import { createQueryFamily, type Query, relayQuery } from './query.ts';
import { mapResult } from './call-relay.ts';

/** An exam that the person may begin, with what it costs. */
export interface PreparedExam {
  readonly request: ExamRequest;
  readonly cost: ExamCost;
}
/** What the person thinks of changing. */
export type ExamChoice =
  /** `model`: the new one. Empty: the one that the agent has without a choice of its own. */
  | { readonly cause: 'model'; readonly model: string }
  | { readonly cause: 'compaction' }
  /** `files`: what the import would add to the memory. */
  | { readonly cause: 'import'; readonly files: readonly { readonly path: string; readonly text: string }[] };
type Prepared = { readonly ok: true; readonly prepared: PreparedExam } | Extract<Done, { ok: false }>;

export interface Exams {
  /** The newest exams of this agent. */
  of(agentId: AgentId): Query<readonly Exam[]>;
  /** Exams of all agents that wait for the person. */
  readonly waiting: Query<readonly Exam[]>;
  /** Reads the copy of the agent, and what the exam would cost. Begins nothing. */
  prepare(agentId: AgentId, choice: ExamChoice): Promise<Prepared>;
  begin(prepared: PreparedExam): Promise<Done>;
  /** `keep`: the new condition takes hold. */
  answer(exam: Exam, keep: boolean): Promise<Done>;
  stop(exam: Exam): Promise<Done>;
}

const NO_SNAPSHOT = t`Nothing can be asked of an agent without a seat.`;

function createExams({ callRelay, changes, device, household, wakeSizes, actions, notices }: RoostState): Exams {
  const what = ['exams'] as const;
  const of = createQueryFamily((agentId: AgentId) =>
    relayQuery<readonly Exam[]>(
      { callRelay, changes, device },
      what,
      async (client) => mapResult(await client.exams({ agentId }), ({ exams }) => exams),
      { agentId },
    ),
  );
  const waiting = relayQuery<readonly Exam[]>({ callRelay, changes, device }, what, async (client) =>
    mapResult(await client.exams({}), ({ exams }) => exams),
  );
  async function done(agentId: AgentId, call: Promise<Parameters<typeof doneOf>[0]>): Promise<Done> {
    const result = await call;
    await Promise.all([of(agentId).again(), waiting.again()]);
    return doneOf(result);
  }

  return {
    of,
    waiting,
    async prepare(agentId, choice) {
      const { roster, settings } = household.store.getState();
      const agent = roster.byId.get(agentId) ?? null;
      try {
        const [share] = agent ? await wakeSizes.read([agent]) : [];
        const before = share ? snapshotOf(share, { roster, settings }, spoken.language) : null;
        if (!before) return { ok: false, reason: NO_SNAPSHOT };
        const usual = agentId === LEAD_ID ? '' : settings.agentModel;
        const after = choice.cause === 'model' ? { ...before, model: choice.model || usual } : before;
        const files = choice.cause === 'import' ? choice.files.map(({ path, text }) => ({ path, text })) : undefined;
        const request = { agentId, cause: choice.cause, before, after, ...(files ? { files } : {}) };
        const cost = await callRelay((client) => client.examCost({ body: request }));
        return cost.ok
          ? { ok: true, prepared: { request, cost: cost.value } }
          : { ok: false, reason: problemText(cost.problem) };
      } catch (error) {
        return { ok: false, reason: errorText(error) };
      }
    },
    begin: ({ request, cost: { mostMicroUsd } }) =>
      done(
        request.agentId,
        callRelay((client) => client.startExam({ body: { ...request, mostMicroUsd } })),
      ),
    async answer({ agentId, examId, cause, before, after }, keep) {
      const answered = await done(
        agentId,
        callRelay((client) => client.answerExam({ examId, body: { keep } })),
      );
      const known = of(agentId).store.getState();
      const state = known.kind === 'ready' ? known.value.find((exam) => exam.examId === examId)?.state : undefined;
      // The relay takes one answer. Where it has taken this one and its answer was lost, or another
      // tab kept the change too, the exam says so.
      if (!answered.ok && !(keep && state === 'kept')) return answered;
      if (keep && cause === 'model' && before !== after) {
        const chosen = await actions.chooseModel(agentId, after);
        // The card with the buttons is gone.
        if (!chosen.ok) notices.error(chosen.reason);
      }
      return DONE;
    },
    stop: ({ agentId, examId }) =>
      done(
        agentId,
        callRelay((client) => client.stopExam({ examId })),
      ),
  };
}

/** One instance per page. */
export const examsOf = onePerPage(createExams);
