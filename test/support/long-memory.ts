/**
 * Made-up histories in the published form of LongMemEval (Wu et al. 2024): each question has a
 * haystack of dated sessions, the ids of those with the evidence, and the turns that have it. The
 * words of a question are seldom those of its evidence.
 */
import { createRandom } from './random.ts';

export const ABILITIES = [
  'single-session-user',
  'single-session-assistant',
  'single-session-preference',
  'multi-session',
  'temporal-reasoning',
  'knowledge-update',
] as const;
export type Ability = (typeof ABILITIES)[number];

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly has_answer?: true;
}
/** A row of the file. The id of a question that cannot be answered ends with `_abs`. */
export interface LongMemoryQuestion {
  readonly question_id: string;
  readonly question_type: Ability;
  readonly question: string;
  readonly answer: string;
  readonly question_date: string;
  readonly haystack_session_ids: readonly string[];
  readonly haystack_dates: readonly string[];
  readonly haystack_sessions: readonly (readonly Turn[])[];
  readonly answer_session_ids: readonly string[];
}

export interface LongMemorySize {
  readonly questions: number;
  /** Turns of each haystack. */
  readonly turns: number;
}

const TURNS_OF_SESSION = 8;
/** One question of so many has no answer in its history, as in the published set. */
const ABSTAINS_EVERY = 17;

/** Share of the other turns that speak of a thing. */
const TALKS_OF_THINGS = 0.5;

const MAKES = [
  ...[
    'amber',
    'cobalt',
    'crimson',
    'walnut',
    'copper',
    'velvet',
    'marble',
    'linen',
    'bamboo',
    'pewter',
    'ivory',
    'teal',
  ],
  ...[
    'rustic',
    'foldable',
    'antique',
    'striped',
    'hollow',
    'quilted',
    'brass',
    'oak',
    'woven',
    'glazed',
    'indigo',
    'maple',
  ],
];
const THINGS = [
  ...['kettle', 'ladder', 'lantern', 'violin', 'compass', 'mirror', 'saddle', 'teapot', 'anchor', 'basket', 'drawer'],
  ...['fiddle', 'rucksack', 'tripod', 'hammock', 'easel', 'stool', 'blender', 'kayak', 'trumpet', 'quilt', 'lamp'],
  ...['bookcase', 'bicycle', 'telescope', 'typewriter', 'wardrobe', 'vase', 'carpet', 'drum', 'chessboard', 'globe'],
];
const PLACES = [
  ...['Marlow', 'Orsola', 'Tarnby', 'Velden', 'Quillon', 'Hastrup', 'Ebrino', 'Lundry', 'Caswell', 'Pirello'],
  ...['Nordal', 'Wexley', 'Zamora', 'Ilmari', 'Fenwick', 'Gostyn', 'Hollis', 'Jarrow', 'Kestrel', 'Obern'],
];
const EVENTS = [
  'concert',
  'workshop',
  'regatta',
  'wedding',
  'lecture',
  'auction',
  'picnic',
  'marathon',
  'funeral',
  'fair',
];
const SMALL_TALK = [
  'The weather turned again, and I stayed in longer than I meant to.',
  'How much time did you spend on the plan, and what did it cost you in the end?',
  'I would recommend to start small, and to see how many days it takes.',
  'Thanks, that helps. I did not know where to begin with it.',
  'Which of them do you like best, and why did you choose that one?',
  'It passed quickly, and between the two of us we bought what was needed.',
  'My sister called about the weekend, and we talked for an hour.',
  'You could keep a list of what you paid, and look at it once a month.',
  'Here are three ideas: a short walk, a long breakfast, and an early night.',
  'I usually go there by train, and the way back takes longer.',
];

/** The same questions for the same seed. */
export function* longMemoryQuestions(
  seed: number,
  { questions, turns }: LongMemorySize,
): Generator<LongMemoryQuestion> {
  const random = createRandom(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const pairs = shuffled(
    MAKES.flatMap((make) => THINGS.map((thing) => `${make} ${thing}`)),
    random,
  );
  // Nobody else speaks of the same thing, but of its parts everybody does.
  const [asked, others] = [pairs.slice(0, questions), pairs.slice(questions)];
  const talk = (): string =>
    [
      pick(SMALL_TALK),
      ...(random() < TALKS_OF_THINGS ? [`I saw a ${pick(others)} in ${pick(PLACES)}.`] : []),
      pick(SMALL_TALK),
    ].join(' ');
  for (let n = 0; n < questions; n++) {
    const ability = ABILITIES[n % ABILITIES.length] ?? 'multi-session';
    const thing = asked[n] ?? 'plain box';
    const number = 10 + ((n * 13) % 900);
    const place = pick(PLACES);
    const [first, second] = [`${place} ${pick(EVENTS)} ${1990 + (n % 30)}`, `${thing} ${pick(EVENTS)}`];
    const made = evidenceOf(ability, { thing, place, number, first, second });
    const abstains = n % ABSTAINS_EVERY === ABSTAINS_EVERY - 1;
    const sessions = Math.max(made.evidence.length + 1, Math.floor(turns / TURNS_OF_SESSION));
    const places = spread(made.evidence.length, sessions, random);
    const ids = Array.from({ length: sessions }, (_none, i) => `q${n}_s${i}`);
    yield {
      question_id: abstains ? `q${n}_abs` : `q${n}`,
      question_type: ability,
      question: made.question,
      answer: abstains ? 'It was never said.' : made.answer,
      question_date: dateOf(n, sessions),
      haystack_session_ids: ids,
      haystack_dates: ids.map((_id, i) => dateOf(n, i)),
      haystack_sessions: ids.map((_id, i) => {
        const evidence = abstains ? undefined : made.evidence[places.indexOf(i)];
        const at = Math.floor(random() * TURNS_OF_SESSION);
        return Array.from({ length: TURNS_OF_SESSION }, (_none, t): Turn => {
          const role = t % 2 === 0 ? 'user' : 'assistant';
          const isHere = evidence !== undefined && t === at - (at % 2) + (evidence.role === 'user' ? 0 : 1);
          return isHere
            ? { role, content: `${pick(SMALL_TALK)} ${evidence.text} ${pick(SMALL_TALK)}`, has_answer: true }
            : { role, content: talk() };
        });
      }),
      answer_session_ids: abstains ? [] : places.map((i) => `q${n}_s${i}`),
    };
  }
}

interface Told {
  readonly thing: string;
  readonly place: string;
  readonly number: number;
  readonly first: string;
  readonly second: string;
}
interface Made {
  readonly question: string;
  readonly answer: string;
  /** In the order in which it is said. */
  readonly evidence: readonly { readonly role: Turn['role']; readonly text: string }[];
}

function evidenceOf(ability: Ability, { thing, place, number, first, second }: Told): Made {
  const user = (text: string) => ({ role: 'user', text }) as const;
  switch (ability) {
    case 'single-session-user':
      return {
        question: `How much did I pay for the ${thing}?`,
        answer: `${number} euros`,
        evidence: [user(`By the way, the ${thing} is mine now, for ${number} euros.`)],
      };
    case 'single-session-assistant':
      return {
        question: `Which shop did you tell me to ask about a new strap for the ${thing}?`,
        answer: `Bergmann ${number}`,
        evidence: [
          { role: 'assistant', text: `For your ${thing} I would try Bergmann ${number}; they repair such things.` },
        ],
      };
    case 'single-session-preference':
      return {
        question: `Can you suggest something that would go well with my ${thing}?`,
        answer: `Something in grey ${number}`,
        evidence: [user(`I like my ${thing} only next to grey ${number}, everything else is too loud for me.`)],
      };
    case 'multi-session':
      return {
        question: `How many parts of the ${thing} have I replaced so far, all together?`,
        answer: 'two',
        evidence: [
          user(`I put a new hinge into the ${thing} today.`),
          user(`Another evening with the ${thing}: its screw ${number} is a fresh one now.`),
        ],
      };
    case 'temporal-reasoning':
      return {
        question: `How many days passed between the ${first} and the ${second}?`,
        answer: 'the difference of two dates',
        evidence: [user(`I am just back from the ${first}, what a crowd.`), user(`Today was the ${second}, at last.`)],
      };
    case 'knowledge-update':
      return {
        question: `Where do I keep the ${thing} now?`,
        answer: `in the cellar of ${place}`,
        evidence: [
          user(`The ${thing} stands in the attic, number ${number}.`),
          user(`I carried the ${thing} down into the cellar of ${place}.`),
        ],
      };
  }
}

function shuffled(words: readonly string[], random: () => number): readonly string[] {
  return words
    .map((word) => ({ word, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ word }) => word);
}

/** So many different sessions, in order. */
function spread(count: number, sessions: number, random: () => number): readonly number[] {
  const places = new Set<number>();
  while (places.size < count) places.add(Math.floor(random() * sessions));
  return [...places].sort((a, b) => a - b);
}

const START = Date.UTC(2023, 0, 1);
const HOUR_MS = 3_600_000;
/** Such as `2023/05/20 (Sat) 02:21`. Each session has a time of its own. */
function dateOf(n: number, session: number): string {
  const time = new Date(START + (session * 500 + n) * HOUR_MS);
  const iso = time.toISOString();
  const day = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][time.getUTCDay()];
  return `${iso.slice(0, 10).replaceAll('-', '/')} (${day}) ${iso.slice(11, 16)}`;
}
export const timeOfDate = (date: string): number =>
  Date.parse(`${date.slice(0, 10).replaceAll('/', '-')}T${date.slice(-5)}Z`);
