/** HTTP routes of exams, for the person. */
import { examEndpoints } from '../../src/shared/protocol/endpoints/exams.ts';
import type { Directory } from '../team/directory/index.ts';
import { answer, type Handled } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import { agentIdIn } from '../team/directory/index.ts';
import type { ExamOutcome, Exams } from './index.ts';

function orThrow<Value>(outcome: ExamOutcome<Value>): Value {
  if (outcome.ok) return outcome.value;
  switch (outcome.reason) {
    case 'no-exam':
      throw problem(404, outcome.reason, 'There is no such exam.');
    case 'exam-over':
      throw problem(409, outcome.reason, 'The exam is over, or does not wait for an answer yet.');
    case 'exam-program':
      throw problem(409, outcome.reason, 'A program drives this agent. It has no copy that could sit an exam.');
    case 'exam-waits':
      throw problem(409, outcome.reason, 'An exam of this agent is under way, or waits for you.');
    default:
      return outcome.reason satisfies never;
  }
}

interface ExamRoutesDeps {
  readonly exams: Exams;
  readonly directory: Pick<Directory, 'all'>;
}

export const createExamRoutes = ({ exams, directory }: ExamRoutesDeps): readonly Handled[] =>
  answer(examEndpoints, {
    async exams({ agentId }) {
      const found = agentId === null ? await exams.waiting() : await exams.of(await agentIdIn(directory, agentId));
      return { exams: [...found] };
    },
    async examCost({ body }) {
      const agentId = await agentIdIn(directory, body.agentId);
      return orThrow(await exams.cost({ ...body, agentId }));
    },
    async startExam({ body: { mostMicroUsd, ...request } }) {
      const agentId = await agentIdIn(directory, request.agentId);
      return orThrow(await exams.start({ ...request, agentId }, mostMicroUsd));
    },
    answerExam: async ({ examId, body: { keep } }) => orThrow(await exams.answer(examId, keep)),
    stopExam: async ({ examId }) => orThrow(await exams.stop(examId)),
  });
