/**
 * What an exam asks of models: the questions and their expected answers, the answers under each of
 * two conditions, and grades. Four requests, one after the other, within what the person allowed.
 * Before a compaction, a fifth one writes the summary.
 *
 * The copy has the prompt with which its agent works alone: soul, memory and last conversation. It
 * has no tools, so nothing that it reads can make it do anything.
 */
import { summaryRequest, summaryText } from '../../src/shared/domain/compaction.ts';
import {
  answersRequest,
  gradesRequest,
  questionsRequest,
  readAnswers,
  readGrades,
  readQuestions,
} from '../../src/shared/domain/exam-requests.ts';
import { EXAM_LIMITS, type ExamItem } from '../../src/shared/domain/exams.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import { addCost, type Cost, NO_COST } from '../../src/shared/domain/prices.ts';
import type { Protocol } from '../../src/shared/domain/prompts.ts';
import { tokensOf } from '../../src/shared/domain/request-cost.ts';
import type { ExamCost, ExamRequest } from '../../src/shared/protocol/exams.ts';
import type { AgentSnapshot } from '../../src/shared/protocol/snapshots.ts';
import { isRehearsal, type Mind, type MindRequest, sizeOfRequest } from '../agents/minds/index.ts';
import type { Around } from '../agents/runs/context.ts';
import { answerBy } from '../agents/runs/permits.ts';
import { RUN_LIMITS } from '../agents/runs/settings.ts';
import { firstWords, modelOf, systemOf } from '../schedules/alone.ts';
import type { OpenCosts } from '../team/costs/index.ts';

/** What an exam has used so far. */
export interface ExamSpent extends Cost {
  readonly tokens: number;
}
export type Sat =
  | { readonly ok: true; readonly items: readonly ExamItem[] }
  /** `why`: a sentence for people. */
  | { readonly ok: false; readonly why: string };

export interface Sitting {
  /** The models of both conditions. */
  readonly models: { readonly before: string; readonly after: string };
  cost(): Promise<ExamCost>;
  /** `onSpent`: the sum, after each request. `mostMicroUsd`: what all of them may cost. */
  sit(mostMicroUsd: number, onSpent: (spent: ExamSpent) => Promise<unknown>, signal: AbortSignal): Promise<Sat>;
}

export interface SittingDeps {
  readonly protocol: Protocol;
  readonly mind: Mind;
  readonly costs: Pick<OpenCosts, 'check' | 'expected' | 'most'>;
  readonly around: Around;
  /** What the agent keeps under each condition, as its prompt has it. Null: nothing. */
  readonly memory: { readonly before: string | null; readonly after: string | null };
}

const UNUSABLE = sentence`The model’s answer cannot be used.`;
const DECLINED = sentence`The model declined to answer this.`;

/** A failure of one request, as a sentence for people. */
class Failed extends Error {}

const GRADER = 'You grade exams. You are exact and fair, and you write nothing but the grades.';

export function createSitting(
  { agentId, cause, before, after }: ExamRequest,
  { protocol, mind, costs, around, memory }: SittingDeps,
): Sitting {
  const models = { before: modelOf(agentId, before, mind), after: modelOf(agentId, after, mind) };

  const plain = (model: string, system: string, text: string): MindRequest => ({
    ...{ priority: 'person', model, system, tools: [], maxTokens: EXAM_LIMITS.answerTokens },
    messages: [{ role: 'user', blocks: [{ kind: 'text', text }] }],
  });
  const systemFor = (snapshot: AgentSnapshot) =>
    systemOf(protocol, snapshot, { instructions: '', columns: [] }, new Set());
  /** The copy is asked. */
  const asking = (side: 'before' | 'after', snapshot: AgentSnapshot, why: string): MindRequest =>
    plain(
      modelOf(agentId, snapshot, mind),
      systemFor(snapshot),
      firstWords({ agentId, why, lastSession: true, before: [] }, snapshot, memory[side], around),
    );

  const { compaction: limits } = RUN_LIMITS;
  const transcript = before.transcript ?? '';
  const keptFrom = Math.floor(transcript.length * (1 - limits.keep));
  const summaryWords = Math.floor(limits.mostCharacters / limits.wordCharacters);
  const summing = plain(models.before, systemFor(before), summaryRequest(transcript.slice(0, keptFrom), summaryWords));

  async function cost(): Promise<ExamCost> {
    const filler = 'x'.repeat(EXAM_LIMITS.usualBytes);
    const requests = [
      ...(cause === 'compaction' ? [summing] : []),
      asking('before', before, questionsRequest()),
      asking('before', before, answersRequest([]) + filler),
      asking('after', after, answersRequest([]) + filler),
      plain(models.before, GRADER, gradesRequest([]) + filler),
    ];
    let sum = { microUsd: 0, mostMicroUsd: 0, estimated: false };
    for (const request of requests) {
      const size = sizeOfRequest(request, false);
      const expected = await costs.expected(request.model, [size.bytes], EXAM_LIMITS.usualTokens);
      sum = {
        microUsd: sum.microUsd + expected.microUsd,
        mostMicroUsd: sum.mostMicroUsd + (await costs.most(size)),
        estimated: sum.estimated || expected.estimated,
      };
    }
    return { ...sum, demo: isRehearsal(mind) };
  }

  async function sit(mostMicroUsd: number, onSpent: (spent: ExamSpent) => Promise<unknown>, signal: AbortSignal) {
    let spent: ExamSpent = { ...NO_COST, tokens: 0 };
    async function ask(request: MindRequest): Promise<string> {
      const size = sizeOfRequest(request, mind.searches?.(request.model) ?? false);
      const microUsdLeft = Math.max(0, mostMicroUsd - spent.costMicroUsd);
      const check = await costs.check({ agentId, size, sessionId: null, mostMicroUsd: microUsdLeft }, signal);
      if (!check.ok) throw new Failed(check.message);
      const { hold } = check;
      const permit = {
        ok: true as const,
        again: () => hold.again(),
        settle: (took: Parameters<typeof hold.settle>[0]['took']) =>
          hold.settle({ sessionId: null, messageId: null, via: 'session', took }),
        spent: () => hold.spent(),
        release: () => hold.release(),
      };
      const answer = await answerBy(permit, mind, request, { onText: () => undefined, signal });
      const tokens = spent.tokens + (answer.usage === null ? 0 : tokensOf(answer.usage));
      spent = { ...addCost(spent, hold.spent()), tokens };
      await onSpent(spent);
      if (!answer.ok) throw new Failed(answer.error.message);
      if (answer.stop === 'refusal') throw new Failed(DECLINED);
      return answer.blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : [])).join('\n');
    }

    try {
      let changed = after;
      if (cause === 'compaction') {
        const summary = (await ask(summing)).trim();
        if (summary === '') return { ok: false, why: UNUSABLE } as const;
        changed = { ...after, transcript: `${summaryText(summary, [])}\n\n${transcript.slice(keptFrom)}` };
      }
      const questions = readQuestions(await ask(asking('before', before, questionsRequest())));
      if (questions.length === 0) return { ok: false, why: UNUSABLE } as const;
      const request = answersRequest(questions);
      const old = readAnswers(await ask(asking('before', before, request)), questions.length);
      const fresh = readAnswers(await ask(asking('after', changed, request)), questions.length);
      const both = questions.map((question, i) => ({ ...question, before: old[i] ?? '', after: fresh[i] ?? '' }));
      // Both answers are there. Without grades the person compares them.
      const grades = await ask(plain(models.before, GRADER, gradesRequest(both))).catch((error: unknown) => {
        if (error instanceof Failed) return '';
        throw error;
      });
      return { ok: true, items: readGrades(grades, both) } as const;
    } catch (error) {
      if (error instanceof Failed) return { ok: false, why: error.message } as const;
      throw error;
    }
  }
  return { models, cost, sit };
}
