/** Exams of agents, as the page begins, shows and answers them. */
import type { ExamCause } from '../../shared/domain/exams.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import { LEAD_ID } from '../../shared/domain/seat.ts';
import type { Exam, ExamCost, ExamRequest } from '../../shared/protocol/exams.ts';
import { spoken, t } from '../language/t.ts';
import { snapshotOf } from './agent-snapshot.ts';
import { DONE, type Done, doneOf } from './attempt.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { errorText, problemText } from './ports.ts';
import { createQuery, createQueryFamily, type Query } from './query.ts';
import { mapResult } from './reach.ts';

/** An exam that the person may begin, with what it costs. */
export interface PreparedExam {
  readonly request: ExamRequest;
  readonly cost: ExamCost;
}
type Prepared = { readonly ok: true; readonly prepared: PreparedExam } | Extract<Done, { ok: false }>;

export interface Exams {
  /** The newest exams of this agent. */
  of(agentId: AgentId): Query<readonly Exam[]>;
  /** Exams of all agents that wait for the person. */
  readonly waiting: Query<readonly Exam[]>;
  /**
   * Reads the copy of the agent, and what the exam would cost. Begins nothing. `model`: the new
   * one. Empty: the one that the agent has without a choice of its own.
   */
  prepare(agentId: AgentId, cause: ExamCause, model: string): Promise<Prepared>;
  begin(prepared: PreparedExam): Promise<Done>;
  /** `keep`: the new condition takes hold. */
  answer(exam: Exam, keep: boolean): Promise<Done>;
  stop(exam: Exam): Promise<Done>;
}

const NO_SNAPSHOT = t`Nothing can be asked of an agent without a seat.`;

function createExams({ reach, changes, device, household, wakeSizes, actions }: RoostState): Exams {
  const what = ['exams'] as const;
  const of = createQueryFamily((agentId: AgentId) =>
    createQuery<readonly Exam[]>({
      ...{ changes, device, agentId, what },
      ask: async () => mapResult(await reach((client) => client.exams({ agentId })), ({ exams }) => exams),
    }),
  );
  const waiting = createQuery<readonly Exam[]>({
    ...{ changes, device, what },
    ask: async () => mapResult(await reach((client) => client.exams({})), ({ exams }) => exams),
  });
  async function done(agentId: AgentId, call: Promise<Parameters<typeof doneOf>[0]>): Promise<Done> {
    const result = await call;
    await Promise.all([of(agentId).again(), waiting.again()]);
    return doneOf(result);
  }

  return {
    of,
    waiting,
    async prepare(agentId, cause, model) {
      const { roster, settings } = household.store.getState();
      const agent = roster.byId.get(agentId) ?? null;
      try {
        const [share] = agent ? await wakeSizes.read([agent]) : [];
        const before = share ? snapshotOf(share, { roster, settings }, spoken.language) : null;
        if (!before) return { ok: false, reason: NO_SNAPSHOT };
        const usual = agentId === LEAD_ID ? '' : settings.agentModel;
        const after = cause === 'model' ? { ...before, model: model || usual } : before;
        const request = { agentId, cause, before, after };
        const cost = await reach((client) => client.examCost({ body: request }));
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
        reach((client) => client.startExam({ body: { ...request, mostMicroUsd } })),
      ),
    async answer({ agentId, examId, cause, before, after }, keep) {
      const { roster, settings } = household.store.getState();
      const own = agentId === LEAD_ID ? settings.leadModel : (roster.byId.get(agentId)?.model ?? '');
      const isSet = keep && cause === 'model' && before !== after;
      // Set first, so that a certificate never says what has not happened.
      const chosen = isSet ? await actions.chooseModel(agentId, after) : DONE;
      if (!chosen.ok) return chosen;
      const answered = await done(
        agentId,
        reach((client) => client.answerExam({ examId, body: { keep } })),
      );
      if (isSet && !answered.ok) await actions.chooseModel(agentId, own);
      return answered;
    },
    stop: ({ agentId, examId }) =>
      done(
        agentId,
        reach((client) => client.stopExam({ examId })),
      ),
  };
}

/** One instance per page. */
export const examsOf = onePerPage(createExams);
