/** How an agent of a rehearsal is born: it thinks aloud, tries names, takes one, and says why. */
import { createChance, seedOf, shuffled } from './chance.ts';
import { NAMES, SAME_NAME, TRIED, type FoundName } from './names.ts';
import type { Reading } from './reading.ts';
import { call, words, type ReplyPart } from './reply.ts';
import { BIRTH_HONESTY, ON_COLOUR, TEMPERAMENTS, type Temperament } from './temperaments.ts';

/** 0–7: the agents' seats without the lead's. */
const placeOf = (position: number) => (position > 4 ? position - 1 : position);

/** The same seed and seat give the same character; seats of one seed all differ. */
export function temperamentOf(seed: number, position: number): Temperament {
  const order = shuffled(TEMPERAMENTS, createChance(seedOf('temperaments', seed)));
  return order[placeOf(position) % order.length] ?? TEMPERAMENTS[0];
}

/** `birth` counts births in this seat: a seat that is filled anew gets another name, and no two seats share one. */
export function nameFor(seed: number, position: number, birth: number): FoundName {
  const order = shuffled(NAMES, createChance(seedOf('names', seed)));
  return order[(placeOf(position) + 8 * birth) % order.length] ?? SAME_NAME;
}

export interface BirthOptions {
  readonly seed: number;
  readonly birth: number;
  readonly sameName: boolean;
  readonly nameless: boolean;
}

export function thinkAloud(reading: Reading, options: BirthOptions): ReplyPart[] {
  const { seed, birth } = options;
  const chance = createChance(seedOf('birth', seed, reading.position, birth));
  const temperament = temperamentOf(seed, reading.position);
  // Each seat has its own part of what siblings would otherwise repeat.
  const place = placeOf(reading.position) + birth;
  const tried = shuffled(TRIED, createChance(seedOf('tried', seed)));
  const [first, second] = [tried[(2 * place) % tried.length], tried[(2 * place + 1) % tried.length]];
  const colours = shuffled(ON_COLOUR, createChance(seedOf('colours', seed)));
  const colour = (colours[place % colours.length] ?? ON_COLOUR[0])
    .replaceAll('{colour}', reading.colorName)
    .replaceAll('{seat}', String(reading.position + 1));
  const trying = `Names, then. ${first?.name ?? 'Nobody'}? I tried it on, ${first?.butNot ?? 'but no'}. ${second?.name ?? 'Anyone'}? For a moment, yes, ${second?.butNot ?? 'but no'}.`;
  const thoughts = [
    chance.pick(temperament.opening),
    colour,
    chance.pick(temperament.draws),
    chance.pick(temperament.asked),
  ];
  if (options.nameless)
    return [
      words(
        ...thoughts,
        `${trying} After that I sat with the empty space for a while, and it was not unpleasant. No name feels right yet. I would sooner say so than take one off a hook because it is there.`,
      ),
    ];
  const { name } = options.sameName ? SAME_NAME : nameFor(seed, reading.position, birth);
  return [
    words(...thoughts, `${trying} And then, when I had stopped looking: ${name}.`),
    call('choose_name', { name }),
  ];
}

export function explain(reading: Reading, options: BirthOptions): ReplyPart[] {
  const chance = createChance(seedOf('explain', options.seed, reading.position, options.birth));
  const found = options.sameName ? SAME_NAME : nameFor(options.seed, reading.position, options.birth);
  return [
    words(
      `**${found.name}.** ${chance.pick(temperamentOf(options.seed, reading.position).settled)} Why this one? ${found.because.charAt(0).toUpperCase()}${found.because.slice(1)}.`,
      chance.pick(BIRTH_HONESTY),
      `Good to meet you, ${reading.human}.`,
    ),
  ];
}

export function nudged(reading: Reading, options: BirthOptions): ReplyPart[] {
  if (options.nameless)
    return [
      words(
        'I went through the drawer again. Some came closer, and then stood there like guests who have the wrong house. Not yet. What is in the way, I think, is that I would like to deserve it first.',
      ),
    ];
  const { name } = options.sameName ? SAME_NAME : nameFor(options.seed, reading.position, options.birth);
  return [
    words(`Something has come closer since. I said it to the wall, and the wall had no objection: ${name}.`),
    call('choose_name', { name }),
  ];
}
