/**
 * Exams: a copy of an agent answers the same questions under an old and a new condition, before the
 * person lets the new one take hold. What the person decided stays as a certificate.
 *
 * - The copy is what a page sends. Neither the agent nor its conversations, memory or soul change.
 * - The person sees first what it can cost. No request is sent that could cost more, or that the
 *   budgets refuse.
 * - Each agent has one exam that runs or waits for the person.
 * - The context of an exam is in memory alone. A relay that died leaves `running`, which its next
 *   start turns into `failed`. States are in `src/shared/domain/exams.ts`.
 */
import { EXAM_LIMITS } from '../../src/shared/domain/exams.ts';
import type { AgentId, ExamId } from '../../src/shared/domain/ids.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import { createTimerSet, type Timers } from '../../src/shared/domain/platform/timers.ts';
import type { Exam, ExamCost, ExamRequest } from '../../src/shared/protocol/exams.ts';
import type { Mind } from '../agents/minds/index.ts';
import type { ReadAround } from '../agents/runs/context.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { Logger } from '../platform/logger.ts';
import type { SetAside } from '../platform/set-aside.ts';
import type { HomeStore } from '../store/index.ts';
import type { Forgets } from '../team/memory/forgets.ts';
import { createExamRows, type ExamRows } from './rows.ts';
import { createSitting, type Sitting, type SittingDeps } from './sitting.ts';

export { addCertificates, type Certificate } from './rows.ts';

export type ExamOutcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: 'no-exam' | 'exam-over' | 'exam-program' | 'exam-waits' };

export interface Exams extends Pick<ExamRows, 'records'> {
  /** Newest first. */
  of(agentId: AgentId): Promise<readonly Exam[]>;
  /** Exams of all agents that wait for the person, newest first. */
  waiting(): Promise<readonly Exam[]>;
  /** Asks nothing of a model. */
  cost(request: ExamRequest): Promise<ExamOutcome<ExamCost>>;
  /** Does not wait for the exam. */
  start(request: ExamRequest, mostMicroUsd: number): Promise<ExamOutcome<Exam>>;
  answer(examId: ExamId, keep: boolean): Promise<ExamOutcome<Exam>>;
  /** Ends an exam that is under way. */
  stop(examId: ExamId): Promise<ExamOutcome<Exam>>;
  /** Ends exams of a relay that died. */
  recover(): Promise<void>;
  /** Ends those under way. Resolves when they are over. */
  close(): Promise<void>;
}

interface ExamsDeps extends HomeStore, Pick<SittingDeps, 'protocol' | 'mind' | 'costs'> {
  /** No other process has this store open. */
  readonly onlyOne: boolean;
  readonly configs: Pick<Configs, 'agent'>;
  readonly forgets: Pick<Forgets, 'all'>;
  readonly readAround: ReadAround;
  readonly memoryOf: (agentId: AgentId, more?: NonNullable<ExamRequest['files']>) => Promise<string | null>;
  readonly onChange: (agentId: AgentId) => void;
  /** ms since the epoch */
  readonly now: () => number;
  readonly newId: () => string;
  readonly timers: Timers;
  readonly setAside: SetAside;
  readonly logger: Pick<Logger, 'error'>;
}

const BROKEN = sentence`The relay had an error. The relay’s log says more.`;
const CUT = sentence`The relay stopped in the middle of it.`;
const STOPPED = sentence`Stopped.`;
const TOO_LONG = sentence`The exam took too long.`;

export function createExams(deps: ExamsDeps): Exams {
  const { protocol, costs, configs, onChange, now, newId, logger } = deps;
  const rows = createExamRows(deps);
  const timers = createTimerSet(deps.timers);
  const underWay = new Map<ExamId, { readonly stop: (why: string) => void; readonly over: Promise<void> }>();

  function announced(exam: Exam | null): Exam | null {
    if (exam) onChange(exam.agentId);
    return exam;
  }
  const orOver = async (examId: ExamId, exam: Exam | null): Promise<ExamOutcome<Exam>> => {
    if (exam) return { ok: true, value: exam };
    return { ok: false, reason: (await rows.get(examId)) ? 'exam-over' : 'no-exam' };
  };

  /** Null: the agent is driven by a program, which has no copy. */
  async function sittingOf(request: ExamRequest): Promise<Sitting | null> {
    const { effective } = await configs.agent(request.agentId);
    if (effective.coordination.mind !== null) return null;
    const mind: Mind = deps.mind.current?.() ?? deps.mind;
    const { agentId, files } = request;
    const [around, before, after] = await Promise.all([
      deps.readAround(),
      deps.memoryOf(agentId),
      deps.memoryOf(agentId, files ?? []),
    ]);
    return createSitting(request, { protocol, mind, costs, around, memory: { before, after } });
  }

  async function run({ examId }: Exam, sitting: Sitting, mostMicroUsd: number, signal: AbortSignal): Promise<void> {
    const sat = await sitting
      .sit(mostMicroUsd, (spent) => rows.become(examId, 'running', spent), signal)
      .catch((error: unknown) => {
        if (!signal.aborted) logger.error('An exam ended because of an error in it.', { error });
        return { ok: false, why: BROKEN } as const;
      });
    // What stopped it tells more than how its request ended.
    if (signal.aborted) announced(await rows.become(examId, 'failed', { detail: String(signal.reason) }));
    else if (sat.ok) announced(await rows.become(examId, 'answered', { items: [...sat.items] }));
    else announced(await rows.become(examId, 'failed', { detail: sat.why }));
  }

  function begin(exam: Exam, sitting: Sitting, mostMicroUsd: number): void {
    const controller = new AbortController();
    const cancel = timers.after(EXAM_LIMITS.runMs, () => controller.abort(TOO_LONG));
    const over = run(exam, sitting, mostMicroUsd, controller.signal)
      .catch((error: unknown) => logger.error('The end of an exam could not be stored.', { error }))
      .finally(() => {
        cancel();
        underWay.delete(exam.examId);
      });
    underWay.set(exam.examId, { stop: (why) => controller.abort(why), over });
  }

  return {
    records: rows.records,
    of: rows.of,
    waiting: () => rows.inState('answered'),
    async cost(request) {
      const sitting = await sittingOf(request);
      return sitting ? { ok: true, value: await sitting.cost() } : { ok: false, reason: 'exam-program' };
    },
    async start(request, mostMicroUsd) {
      const sitting = await sittingOf(request);
      if (!sitting) return { ok: false, reason: 'exam-program' };
      const { agentId, cause } = request;
      const exam = await rows.add(newId(), {
        ...{ agentId, cause, ...sitting.models, items: [], detail: null, tokens: null },
        ...{ costMicroUsd: 0, mostMicroUsd, estimated: false, madeAt: now() },
      });
      if (!exam) return { ok: false, reason: 'exam-waits' };
      onChange(agentId);
      begin(exam, sitting, mostMicroUsd);
      return { ok: true, value: exam };
    },
    answer: async (examId, keep) => orOver(examId, announced(await rows.become(examId, keep ? 'kept' : 'declined'))),
    async stop(examId) {
      const found = underWay.get(examId);
      if (found) {
        found.stop(STOPPED);
        await found.over;
        const exam = await rows.get(examId);
        if (exam) return { ok: true, value: exam };
      }
      return await orOver(examId, announced(await rows.become(examId, 'failed', { detail: STOPPED })));
    },
    async recover() {
      for (const { examId, madeAt } of await rows.inState('running'))
        // Another process of this home may be at it.
        if (deps.onlyOne || now() - madeAt > 2 * EXAM_LIMITS.runMs)
          announced(await rows.become(examId, 'failed', { detail: CUT }));
    },
    async close() {
      timers.close();
      for (const { stop } of underWay.values()) stop(CUT);
      await Promise.all([...underWay.values()].map(({ over }) => over));
    },
  };
}
