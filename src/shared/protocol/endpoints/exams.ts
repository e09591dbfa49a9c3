/** Exams of agents, and the certificates that they leave. */
import {
  answerExamSchema,
  examCostSchema,
  examRequestSchema,
  examSchema,
  examsSchema,
  startExamSchema,
} from '../exams.ts';
import { LIMITS } from '../limits.ts';
import { endpoint, idText, named, optional } from './endpoint.ts';

const exam = {
  examId: named(idText, 'the exam’s id', { type: 'no-exam', detail: 'There is no such exam.' }),
};
const noExam = { status: 404, when: '`no-exam`: there is no such exam' } as const;
const noAgent = { status: 404, when: '`unknown-agent`: there is no such agent' } as const;
const program = {
  status: 409,
  when: '`exam-program`: the agent is driven by a program, which has no copy',
} as const;

export const examEndpoints = {
  exams: endpoint({
    method: 'GET',
    path: '/api/exams',
    does: 'Lists the newest exams of an agent: those under way, those that wait for the person, and certificates.',
    query: {
      agentId: optional(idText.describe('the agent’s id, name or seat; left out: those that wait, of all agents')),
    },
    answers: [{ status: 200, when: 'found', body: examsSchema }, noAgent],
  }),
  examCost: endpoint({
    method: 'POST',
    path: '/api/exams/cost',
    does: 'Says what an exam would cost. Asks nothing of a model.',
    body: examRequestSchema,
    bodyBytes: LIMITS.bodyBytes,
    answers: [{ status: 200, when: 'always', body: examCostSchema }, noAgent, program],
  }),
  startExam: endpoint({
    method: 'POST',
    path: '/api/exams',
    does: 'Has a copy of an agent sit an exam under two conditions. The answer does not wait for it. The agent is not touched.',
    body: startExamSchema,
    bodyBytes: LIMITS.bodyBytes,
    answers: [
      { status: 201, when: 'it runs', body: examSchema },
      noAgent,
      program,
      { status: 409, when: '`exam-waits`: an exam of the agent is under way, or waits for the person' },
    ],
  }),
  answerExam: endpoint({
    method: 'POST',
    path: '/api/exams/{examId}/answer',
    does: 'Notes what the person decided. The exam is a certificate from then on. Nothing else changes: the page sets the model.',
    params: exam,
    body: answerExamSchema,
    answers: [
      { status: 200, when: 'noted', body: examSchema },
      noExam,
      { status: 409, when: '`exam-over`: it does not wait for an answer' },
    ],
  }),
  stopExam: endpoint({
    method: 'POST',
    path: '/api/exams/{examId}/stop',
    does: 'Ends an exam that is under way.',
    params: exam,
    answers: [
      { status: 200, when: 'it has ended', body: examSchema },
      noExam,
      { status: 409, when: '`exam-over`: it is not under way' },
    ],
  }),
};
