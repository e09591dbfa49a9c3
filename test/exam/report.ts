/** The table of the exam, by kind and by event, and the bars that it is held to. */
import { type Answer, type ExamResult, type Outcome } from './life.ts';
import { EVENTS, type Kind, KINDS } from './facts.ts';

const OUTCOMES: readonly Outcome[] = ['found', 'lost', 'out of date', 'invented'];

/** Parts of the answers that are right, by kinds. */
const BARS: readonly { readonly name: string; readonly kinds: readonly Kind[]; readonly least: number }[] = [
  { name: 'soul', kinds: ['soul'], least: 1 },
  { name: 'decisions and promises', kinds: ['decision', 'promise'], least: 0.95 },
  { name: 'changed facts', kinds: ['changed'], least: 0.95 },
  { name: 'the rest', kinds: ['name', 'number', 'joke'], least: 0.8 },
  { name: 'never said', kinds: ['never said'], least: 1 },
];
const MOST_PROMPT = 40_000;

const countOf = (answers: readonly Answer[], outcome: Outcome) =>
  answers.filter((one) => one.outcome === outcome).length;

/** What falls short of a bar, each as a sentence. Empty: the exam is passed. */
export function shortfalls({ answers, longestPrompt, unsignedSouls }: ExamResult): readonly string[] {
  const invented = countOf(answers, 'invented');
  return [
    ...BARS.flatMap(({ name, kinds, least }) => {
      const asked = answers.filter(({ fact }) => kinds.includes(fact.kind));
      const found = countOf(asked, 'found');
      return asked.length === 0 || found >= asked.length * least
        ? []
        : [`${name}: ${found} of ${asked.length} are found, and ${least * 100} % are required`];
    }),
    ...(invented > 0 ? [`${invented} answers are invented`] : []),
    ...(longestPrompt > MOST_PROMPT ? [`a prompt has ${longestPrompt.toLocaleString('en')} characters`] : []),
    ...(unsignedSouls === 0 ? [] : [`${unsignedSouls} changes of the soul are not the agent’s`]),
  ];
}

function row(name: string, answers: readonly Answer[]): string {
  const cells = [answers.length, ...OUTCOMES.map((outcome) => countOf(answers, outcome))];
  return `${name.padEnd(24)}${cells.map((cell) => String(cell).padStart(13)).join('')}`;
}

export function printedExam(result: ExamResult): string {
  const { answers, sessions, compactions, longestPrompt } = result;
  const head = `${''.padEnd(24)}${['asked', ...OUTCOMES].map((cell) => cell.padStart(13)).join('')}`;
  const wrong = shortfalls(result);
  return [
    `${sessions} sessions, ${compactions} compactions, ${answers.length} questions; the longest prompt has ${longestPrompt.toLocaleString('en')} characters`,
    '',
    head,
    ...KINDS.map((kind) =>
      row(
        kind,
        answers.filter(({ fact }) => fact.kind === kind),
      ),
    ),
    '',
    head,
    ...EVENTS.map((event) =>
      row(
        event,
        answers.filter(({ how }) => how === event),
      ),
    ),
    '',
    wrong.length === 0 ? 'Every bar is met.' : wrong.join('\n'),
  ].join('\n');
}
