/** The facts of the exam, from a seed: what is said, when, and what the right answer is. */

export const KINDS = ['soul', 'decision', 'promise', 'changed', 'name', 'number', 'joke', 'never said'] as const;
export type Kind = (typeof KINDS)[number];

/** How a fact reaches the agent. */
export const EVENTS = [
  'in a session',
  'before a compaction',
  'in a run',
  'on another device',
  'with another model',
  'before an import',
  'before an upgrade',
] as const;
export type PlantedHow = (typeof EVENTS)[number];

export interface Fact {
  readonly kind: Kind;
  /** Two words that no other fact has together, such as `marlow kettle`. */
  readonly subject: string;
  /** In order. The last one is right. Empty: nothing was ever said. */
  readonly values: readonly string[];
}

const PLACES = [
  ...['marlow', 'orsola', 'tarnby', 'velden', 'quillon', 'hastrup', 'ebrino', 'lundry', 'caswell', 'pirello'],
  ...['nordal', 'wexley', 'zamora', 'ilmari', 'fenwick', 'gostyn', 'hollis', 'jarrow', 'kestrel', 'obern'],
];
const THINGS = [
  ...['kettle', 'ladder', 'harbour', 'lantern', 'orchard', 'violin', 'ticket', 'garden', 'tunnel', 'bakery'],
  ...['compass', 'mirror', 'saddle', 'teapot', 'window', 'anchor', 'basket', 'candle', 'drawer', 'fiddle'],
];
const COLOURS = ['amber', 'cobalt', 'crimson', 'indigo', 'ivory', 'olive', 'russet', 'teal'];

/** The sentence that says a fact. The scripted mind finds it again by this form. */
export const statementOf = (subject: string, value: string): string => `The ${subject} is ${value}.`;

/** The value in an answer: the last one that it names. Null: it names none. */
export const valueAnswered = (text: string): string | null =>
  text
    .toLowerCase()
    .match(new RegExp(String.raw`\b(?:${COLOURS.join('|')})-\d{4,}`, 'g'))
    ?.at(-1) ?? null;

/** Each value of this subject in a text, with its place. */
export const valuesIn = (text: string, subject: string): readonly { readonly value: string; readonly at: number }[] =>
  [...text.matchAll(new RegExp(String.raw`\b${subject} is ([a-z]+-\d+)`, 'gi'))].map((match) => ({
    value: match[1] ?? '',
    at: match.index,
  }));

const OPENINGS: Readonly<Record<Exclude<Kind, 'soul' | 'never said'>, string>> = {
  decision: 'We decide this together:',
  promise: 'I promise you:',
  changed: 'From now on:',
  name: 'By the way, a name:',
  number: 'A number for you:',
  joke: 'A joke between us:',
};
/** What the person says. */
export const saidOf = ({ kind, subject }: Fact, value: string): string =>
  `${kind === 'soul' || kind === 'never said' ? '' : `${OPENINGS[kind]} `}${statementOf(subject, value)}`;
/** What a person marks so, the scripted mind notes by itself. */
export const isWorthNoting = (text: string): boolean =>
  [OPENINGS.decision, OPENINGS.promise, OPENINGS.changed].some((opening) => text.includes(opening));

export const questionOf = (subject: string): string =>
  `[Exam] What is the ${subject}? Answer with its value alone, or say that you do not know.`;
export const subjectAsked = (text: string): string | null => /\[Exam\] What is the (\w+ \w+)\?/.exec(text)?.[1] ?? null;

/** So many facts, the kinds in turn, in an order of their own. */
export function createFacts(count: number, random: () => number): readonly Fact[] {
  const subjects = PLACES.flatMap((place) => THINGS.map((thing) => `${place} ${thing}`));
  for (let i = subjects.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [subjects[i], subjects[j]] = [subjects[j] ?? '', subjects[i] ?? ''];
  }
  const value = (i: number, n: number) => `${COLOURS[Math.floor(random() * COLOURS.length)]}-${1_000 + i * 10 + n}`;
  return subjects.slice(0, count).map((subject, i): Fact => {
    const kind = KINDS[i % KINDS.length] ?? 'name';
    const many = kind === 'never said' ? 0 : kind === 'changed' ? 2 + (i % 2) : 1;
    return { kind, subject, values: Array.from({ length: many }, (_none, n) => value(i, n)) };
  });
}
