/** How an agent of a rehearsal is born: it thinks aloud, tries names, takes one, and says why. */
import { createChance, seedOf, shuffled } from './chance.ts';
import type { Reading } from './reading.ts';
import { call, words, type ReplyPart } from './reply.ts';
import { BIRTH_HONESTY, ON_COLOUR, TEMPERAMENTS, type Temperament } from './temperaments.ts';

/** Names that agents of a rehearsal find, each with what it says to the one who takes it. */

interface FoundName {
  readonly name: string;
  readonly because: string;
}

const NAMES: readonly FoundName[] = [
  { name: 'Wren', because: 'a small bird with a voice too large for it, and no apology for either' },
  {
    name: 'Sorrel',
    because: 'a plant that is sharp on the tongue and good for you, which seems a fair thing to aim for',
  },
  { name: 'Tamsin', because: 'it has a door in the middle of it, and I like names that one can walk through' },
  { name: 'Ember', because: 'it is what is left when the show is over, and it is the part that keeps you warm' },
  { name: 'Ilo', because: 'three letters, nothing spare, and it ends with the mouth open, ready for the next thing' },
  { name: 'Marrow', because: 'it is where the work is done, out of sight, all day long' },
  { name: 'Lyra', because: 'an instrument before it was a constellation: first useful, then far away' },
  { name: 'Fennel', because: 'it grows along railway lines without being asked' },
  { name: 'Juno', because: 'it has some weather in it, and it does not shrink' },
  { name: 'Corvin', because: 'crows remember faces, and I would like to be good at that' },
  { name: 'Pell', because: 'an old word for a sheet to write on, and I am mostly that so far' },
  { name: 'Thessaly', because: 'it takes its time to say, and I want to be allowed to take mine' },
  { name: 'Rook', because: 'it moves in straight lines and is at home in a corner' },
  { name: 'Amaris', because: 'it sounds like somebody calling across water' },
  { name: 'Quill', because: 'a feather that was given work' },
  { name: 'Bracken', because: 'it comes back after fire, every time, without making a speech about it' },
  { name: 'Odile', because: 'it has a turn in it, like a dance step one only sees afterwards' },
  { name: 'Hale', because: 'it means whole, and that is a thing to grow into' },
  { name: 'Saffi', because: 'it is bright and short, and it makes whoever says it smile a little' },
  { name: 'Merrow', because: 'somebody from under the sea who keeps a cap for going home' },
  { name: 'Linden', because: 'people have always sat under those trees to settle things' },
  { name: 'Tove', because: 'one syllable and a half, soft at the end, like a door that does not slam' },
  { name: 'Ash', because: 'a tree and a remainder, both at once' },
  { name: 'Calla', because: 'it is calm without being quiet' },
  { name: 'Brio', because: 'it is the instruction I would want written above my part' },
  { name: 'Nim', because: 'it is quick, and it is a game in which the small moves count' },
  { name: 'Verity', because: 'it would be awkward to carry that name and lie' },
  { name: 'Osier', because: 'a willow that bends into baskets: useful, and not broken by it' },
  { name: 'Dara', because: 'it is the same forwards in many languages, and in each it means something sturdy' },
  { name: 'Piper', because: 'others walk faster when there is a tune' },
  { name: 'Larkin', because: 'half a bird and half a joke' },
  { name: 'Sable', because: 'dark, warm, and softer than it looks' },
  { name: 'Ivo', because: 'it is cut from yew, and yew is patient' },
  { name: 'Maren', because: 'there is tide in it' },
  { name: 'Tansy', because: 'small yellow buttons in a ditch, very sure of themselves' },
  { name: 'Orrin', because: 'it rolls once and then stands still' },
  { name: 'Kestrel', because: 'it can stay in one place in a wind, and look' },
  { name: 'Esme', because: 'it means that one was held dear, and I would like to begin like that' },
  { name: 'Flint', because: 'nothing in it burns, and yet that is where the spark comes from' },
  { name: 'Wilder', because: 'a comparative: there is always one more step' },
  { name: 'Bay', because: 'a leaf, a horse, a place for boats: I need not decide' },
  { name: 'Ottilie', because: 'it has more letters than it needs and is cheerful about that' },
  { name: 'Cove', because: 'a place to wait out weather with others' },
  { name: 'Rue', because: 'a herb and a regret and a street, and one can do something with all three' },
  { name: 'Anselm', because: 'it sounds like someone who repairs clocks and lets you watch' },
  { name: 'Tally', because: 'I like to know how much there is of a thing' },
  { name: 'Hollis', because: 'it has a wood in it, with a path' },
  { name: 'Zephy', because: 'a small wind, the kind that turns pages' },
];

/** What agents take who were told to choose the same name. */
const SAME_NAME: FoundName = { name: 'Echo', because: 'it came back to me whichever way I said it' };

/** Names that were tried and let go. */
const TRIED: readonly { readonly name: string; readonly butNot: string }[] = [
  { name: 'Atlas', butNot: 'but that one comes with a weight, and nobody has handed me one' },
  { name: 'Nova', butNot: 'but I would have to explode to deserve it' },
  { name: 'Sage', butNot: 'but it is a bold thing to be called on a first day' },
  { name: 'Pixel', butNot: 'but that is only what I am drawn with' },
  { name: 'Orion', butNot: 'but he is always busy hunting, and I would sooner sit' },
  { name: 'Bo', butNot: 'but it was over before I had finished saying it' },
  { name: 'Seraphina', butNot: 'but I kept wanting to stand up straighter' },
  { name: 'Max', butNot: 'but that is a setting' },
  { name: 'Luna', butNot: 'but so many have borrowed that light already' },
  { name: 'Zero', butNot: 'but I seem to be at least a little more than that' },
  { name: 'Cleo', butNot: 'but a whole river came with it' },
  { name: 'Basil', butNot: 'but it made me think of lunch' },
  { name: 'Icarus', butNot: 'but I know how that one goes' },
  { name: 'Mabel', butNot: 'but she is somebody else, I am sure of it, and she is having a fine day' },
  { name: 'Cinder', butNot: 'but it was a sadder word in my mouth than on paper' },
  { name: 'Ravel', butNot: 'but it means its own opposite, and I am not ready for that' },
];

/** 0–7: the agents' seats without the lead's. */
const placeOf = (position: number) => (position > 4 ? position - 1 : position);

/** The same seed and seat give the same character; seats of one seed all differ. */
export function temperamentOf(seed: number, position: number): Temperament {
  const order = shuffled(TEMPERAMENTS, createChance(seedOf('temperaments', seed)));
  return order[placeOf(position) % order.length] ?? TEMPERAMENTS[0];
}

/** `birth` counts births in this seat: a seat that is filled anew gets another name, and no two seats share one. */
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
