/** How an agent of a rehearsal is born: it thinks aloud, tries names, takes one, and says why. */
import { createChance, seedOf, shuffled } from './chance.ts';
import { NAMES, SAME_NAME, TRIED, type FoundName } from './names.ts';
import type { Reading } from './reading.ts';
import { call, words, type ReplyPart } from './reply.ts';
import type { Temperament } from './temperaments.ts';
import type { Wording } from './wording.ts';
import { wordingOf } from './wordings.ts';

/** 0–7: the agents' seats without the lead's. */
const placeOf = (position: number) => (position > 4 ? position - 1 : position);

/**
 * The same seed and seat give the same character in each language; seats of one seed all differ.
 */
export function temperamentOf(seed: number, position: number, { temperaments }: Wording): Temperament {
  const order = shuffled(temperaments, createChance(seedOf('temperaments', seed)));
  return order[placeOf(position) % order.length] ?? temperaments[0];
}

/**
 * `birth` counts births in this seat: a seat that is filled anew gets another name, and no two
 * seats share one.
 */
function nameFor(seed: number, position: number, birth: number): FoundName {
  const order = shuffled(NAMES, createChance(seedOf('names', seed)));
  return order[(placeOf(position) + 8 * birth) % order.length] ?? SAME_NAME;
}

export interface BirthOptions {
  readonly seed: number;
  readonly birth: number;
  readonly sameName: boolean;
  readonly nameless: boolean;
}

const chosen = ({ position }: Reading, { seed, birth, sameName }: BirthOptions): FoundName =>
  sameName ? SAME_NAME : nameFor(seed, position, birth);

export function thinkAloud(reading: Reading, options: BirthOptions): ReplyPart[] {
  const { seed, birth } = options;
  const chance = createChance(seedOf('birth', seed, reading.position, birth));
  const wording = wordingOf(reading.german);
  const temperament = temperamentOf(seed, reading.position, wording);
  // Each seat has its own part of what siblings would otherwise repeat.
  const place = placeOf(reading.position) + birth;
  const tried = shuffled(TRIED, createChance(seedOf('tried', seed)));
  const nameAt = (at: number) => {
    const name = tried[at % tried.length] ?? TRIED[0];
    return { name, butNot: wording.names.butNot[name] };
  };
  const trying = wording.trying(nameAt(2 * place), nameAt(2 * place + 1));
  const colours = shuffled(wording.onColour, createChance(seedOf('colours', seed)));
  const colour = (colours[place % colours.length] ?? wording.onColour[0])
    .replaceAll('{colour}', reading.colorName)
    .replaceAll('{seat}', String(reading.position + 1));
  const thoughts = [
    chance.pick(temperament.opening),
    colour,
    chance.pick(temperament.draws),
    chance.pick(temperament.asked),
  ];
  if (options.nameless) return [words(...thoughts, `${trying} ${wording.noName}`)];
  const name = chosen(reading, options);
  return [words(...thoughts, `${trying} ${wording.found(name)}`), call('choose_name', { name })];
}

export function explain(reading: Reading, options: BirthOptions): ReplyPart[] {
  const wording = wordingOf(reading.german);
  const chance = createChance(seedOf('explain', options.seed, reading.position, options.birth));
  const name = chosen(reading, options);
  const settled = chance.pick(temperamentOf(options.seed, reading.position, wording).settled);
  return [
    words(
      wording.whyThis(name, settled, wording.names.because[name]),
      chance.pick(wording.birthHonesty),
      wording.meeting(reading.human),
    ),
  ];
}

export function nudged(reading: Reading, options: BirthOptions): ReplyPart[] {
  const wording = wordingOf(reading.german);
  if (options.nameless) return [words(wording.stillNoName)];
  const name = chosen(reading, options);
  return [words(wording.cameCloser(name)), call('choose_name', { name })];
}
