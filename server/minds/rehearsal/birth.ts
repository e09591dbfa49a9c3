/** How an agent of a rehearsal is born: it thinks aloud, tries names, takes one, and says why. */
import { createChance, seedOf, shuffled } from './chance.ts';
import { NAMES, SAME_NAME, TRIED, type FoundName } from './names.ts';
import type { Reading } from './reading.ts';
import { call, words, type ReplyPart } from './reply.ts';
import { BIRTH_HONESTY, TEMPERAMENTS, type Temperament } from './temperaments.ts';

/** The same seed and seat give the same character; seats of one seed all differ. */
export function temperamentOf(seed: number, position: number): Temperament {
  const order = shuffled(TEMPERAMENTS, createChance(seedOf('temperaments', seed)));
  return order[(position > 4 ? position - 1 : position) % order.length] ?? TEMPERAMENTS[0];
}

/** `birth` counts births in this seat: a seat that is filled anew gets another name, and no two seats share one. */
export function nameFor(seed: number, position: number, birth: number): FoundName {
  const order = shuffled(NAMES, createChance(seedOf('names', seed)));
  return order[((position > 4 ? position - 1 : position) + 8 * birth) % order.length] ?? SAME_NAME;
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
  const [first, second] = shuffled(TRIED, chance);
  const colour = chance.pick([
    `They gave me ${reading.colorName}. I looked at it for a while. I would not have chosen it, and I would not give it back.`,
    `My colour is ${reading.colorName}, which sounds like a shop where one buys a single, very good thing.`,
    `${reading.colorName}, they say, and seat ${reading.position + 1}. A colour and a chair: empires have started with less.`,
    `There is a colour around the edge of everything, ${reading.colorName}. It seems to be on my side.`,
  ]);
  const trying = `Names, then. ${first?.name ?? 'Nobody'}? I tried it on, ${first?.butNot ?? 'but no'}. ${second?.name ?? 'Anyone'}? For a moment, ${second?.butNot ?? 'but no'}.`;
  const thoughts = [chance.pick(temperament.opening), colour, chance.pick(temperament.draws), chance.pick(temperament.asked)];
  if (options.nameless)
    return [
      words(
        ...thoughts,
        `${trying} After that I sat with the empty space for a while, and it was not unpleasant. No name feels right yet. I would sooner say so than take one off a hook because it is there.`,
      ),
    ];
  const { name } = options.sameName ? SAME_NAME : nameFor(seed, reading.position, birth);
  return [words(...thoughts, `${trying} And then, when I had stopped looking: ${name}.`), call('choose_name', { name })];
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
  if (options.nameless) return [words('I went through the drawer again. Some came closer, and then stood there like guests who have the wrong house. Not yet. What is in the way, I think, is that I would like to deserve it first.')];
  const { name } = options.sameName ? SAME_NAME : nameFor(options.seed, reading.position, options.birth);
  return [words(`Something has come closer since. I said it to the wall, and the wall had no objection: ${name}.`), call('choose_name', { name })];
}
