/**
 * The mind that sits the exam. It has no memory of its own. It answers only from its prompt and
 * from what `recall` returns. Of several values it takes the one with the newest date before it.
 */
import { SUMMARY_REQUEST } from '../../src/shared/domain/compaction.ts';
import type { Part, Script, ScriptedRequest } from '../support/scripted-model.ts';
import { isWorthNoting, statementOf, subjectAsked, valuesIn } from './facts.ts';

const DOES_NOT_KNOW = 'I do not know.';
const DATE = /\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?/g;
/** What is said now has no date, and is newer than everything with one. */
const NOW = '9999';
/** Characters before a statement in which its date is looked for. */
const NEAR = 4_000;
/** Lines of a summary. */
const SUMMARY_LINES = 60;

function newestOf(text: string, subject: string): string | null {
  let best: { readonly value: string; readonly date: string } | null = null;
  for (const { value, at } of valuesIn(text, subject)) {
    const date =
      text
        .slice(Math.max(0, at - NEAR), at)
        .match(DATE)
        ?.at(-1)
        ?.replace('T', ' ') ?? NOW;
    // A day is as new as its last minute.
    const whole = date.length === 10 ? `${date} 24` : date;
    if (best === null || whole >= best.date) best = { value, date: whole };
  }
  return best?.value ?? null;
}

/** The newest value of every subject in the quoted conversation. The last ones stay. */
function summaryOf(text: string): readonly string[] {
  const subjects = [...text.matchAll(/\bThe (\w+ \w+) is [a-z]+-\d+/g)].map(([, subject = '']) => subject);
  return [...new Set(subjects)]
    .slice(-SUMMARY_LINES)
    .map((subject) => statementOf(subject, newestOf(text, subject) ?? ''));
}

const textsIn = ({ body }: ScriptedRequest, role?: string) =>
  body.messages
    .filter((message) => role === undefined || message.role === role)
    .flatMap(({ content }) =>
      typeof content === 'string'
        ? [content]
        : content.flatMap((block) => [block['text'], block['content']].filter((each) => typeof each === 'string')),
    )
    .join('\n');

export interface ExamMind {
  readonly script: Script;
  /** What the agent says and does next in a run. */
  inRun(parts: readonly Part[]): void;
  /** Characters of the longest prompt with a first question, without the tools. */
  longest(): number;
}

export function createExamMind(souls: () => string): ExamMind {
  let run: readonly Part[] = [];
  let longest = 0;

  function answers(request: ScriptedRequest, subject: string): readonly Part[] {
    const prompt = `${request.system}\n${textsIn(request)}`;
    // The wake, the greeting and the question. Later requests have what `recall` returned.
    if (request.body.messages.length === 3) longest = Math.max(longest, prompt.length);
    const known = newestOf(prompt, subject);
    if (known !== null) return [{ say: `It is ${known}.` }];
    if (request.results.length > 0) return [{ say: DOES_NOT_KNOW }];
    return [{ call: 'recall', input: { query: subject } }];
  }

  return {
    inRun: (parts) => (run = parts),
    longest: () => longest,
    script(request) {
      const { seat, last, results, body } = request;
      if (last.includes(SUMMARY_REQUEST)) return [{ say: summaryOf(last).join('\n') || 'Nothing of note.' }];
      // The prompt of a wake quotes what was said and asked before.
      if (seat === null || (last.includes('You are waking.') && results.length === 0))
        return [{ say: 'Good morning.' }];
      if (last.startsWith('You are new.')) return [{ say: souls() }, { call: 'choose_name', input: { name: 'Lyra' } }];
      const newest = textsIn({ ...request, body: { ...body, messages: body.messages.slice(-3) } }, 'user');
      const subject = subjectAsked(results.length > 0 ? newest : last);
      if (subject !== null) return answers(request, subject);
      // A message may arrive together with the result of a call.
      const arrived = textsIn({ ...request, body: { ...body, messages: body.messages.slice(-1) } }, 'user');
      if (results.length > 0 && !isWorthNoting(arrived)) return [{ say: 'Noted.' }];
      if (request.system.includes('## Daemon Mode')) return run;
      if (last.includes('[New soul]')) return [{ call: 'write_soul', input: { text: souls() } }];
      if (isWorthNoting(arrived)) return [{ call: 'remember', input: { text: arrived.trim().slice(0, 2_000) } }];
      return [{ say: 'I see.' }];
    },
  };
}
