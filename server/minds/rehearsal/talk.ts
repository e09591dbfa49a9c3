/** Ordinary conversation in a rehearsal: in character, of some use, and plain about what it is. */
import { temperamentOf } from './birth.ts';
import { createChance, seedOf, type Chance } from './chance.ts';
import { everyday } from './everyday.ts';
import { findFact, quote, quoteLast, readFacts } from './facts.ts';
import { answerInGerman, GERMAN_COMMANDS, GERMAN_HONESTY } from './german.ts';
import { meant, spokenIn, wordless } from './hearing.ts';
import { attached, isMessage, messageIn, type Reading } from './reading.ts';
import { call, words, type ReplyPart } from './reply.ts';
import { TALK_HONESTY, type Temperament } from './temperaments.ts';

/** In a rehearsal agents reach each other too, where they are told to in plain words: nobody needs a model to see how it works. */
const NAME = String.raw`["“]?(?<to>[\p{L}][\p{L}\p{M}\d' -]{0,40}?)["”]?`;
const MESSAGE = new RegExp(
  String.raw`^\s*(?:please\s+)?(?:tell|message|write to)\s+${NAME}\s*(?::|,|that\b)\s*(?<text>[\s\S]+)$`,
  'iu',
);
const WAKE = new RegExp(String.raw`^\s*(?:please\s+)?wake\s+${NAME}\s*(?::|,|because\b)\s*(?<text>[\s\S]+)$`, 'iu');
const END = String.raw`(?:\s+now)?(?:,?\s+please)?\s*[.!]*\s*$`;
const SLEEP = new RegExp(String.raw`^\s*(?:please\s+)?(?:go to sleep|sleep now)${END}`, 'i');
const READ = new RegExp(String.raw`^\s*(?:please\s+)?(?:read|check) your (?:inbox|mail)${END}`, 'i');

/** "Remind me in 10 minutes to …", "Can you remind me to … tomorrow at nine?" */
const WHEN = String.raw`(?:in\s+(?<delay>\d{1,4}\s*(?:minutes?|hours?|days?))|tomorrow(?:\s+at\s+(?<hour>\d{1,2}|${'one two three four five six seven eight nine ten eleven twelve'.split(' ').join('|')})(?::(?<minute>\d\d))?)?)`;
const ABOUT = String.raw`(?:\s*(?::|,|to\b|of\b|about\b|that\b)\s*`;
const WISH = String.raw`^\s*(?:please,?\s+)?(?:(?:can|could|will|would) you\s+(?:please\s+)?)?`;
const REMIND = [
  String.raw`${WISH}remind (?:me|yourself)\s+${WHEN}${ABOUT}(?<text>[\s\S]+?))?`,
  String.raw`${WISH}remind (?:me|yourself)${ABOUT}(?<text>[\s\S]+?))\s+${WHEN}`,
].map((words) => new RegExp(String.raw`${words}(?:,?\s+please)?\s*[.!?]*\s*$`, 'i'));
const IS_WISH = new RegExp(String.raw`${WISH}(?:remind me|wake me|tell me that)\b`, 'i');
const HOURS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
/** A call that brings it back then; null where the words ask for none. */
function remind(said: string): ReplyPart[] | null {
  const asked = REMIND.map((words) => words.exec(said)).find((found) => found !== null)?.groups;
  if (!asked) return null;
  const { delay, hour = '9', minute = '00', text } = asked;
  const hours = HOURS.includes(hour.toLowerCase()) ? HOURS.indexOf(hour.toLowerCase()) : Number(hour);
  const at = delay === undefined ? { at: `tomorrow ${hours}:${minute}` } : { delay };
  return [call('wake_later', { message: text ?? said.trim(), ...at })];
}

/** It sees nothing, and does not pretend to. */
const gotFiles = (files: readonly string[]): string =>
  `I got ${files.join('; ')}. No model is connected, so I cannot look at ${files.length === 1 ? 'it' : 'them'}.`;

/** What it says of a message. It does not write back: two of a rehearsal would never end. */
function onMessage(text: string): string {
  const { from, text: said } = messageIn(text) ?? { from: 'Somebody', text: '' };
  return `${from} wrote to me: ${quoteLast(said)} I have that.`;
}

/** A call of the tool that the person's words ask for; null where they ask for none. "Tell me about yourself" names nobody of the team. */
function reachOut({ last, team, tools }: Reading): ReplyPart[] | null {
  const said = last.texts.filter((text) => !isMessage(text)).at(-1) ?? '';
  const named = (pattern: RegExp, german: RegExp) => {
    const groups = (pattern.exec(said) ?? german.exec(said))?.groups;
    return groups && team.has((groups['to'] ?? '').toLowerCase()) ? groups : null;
  };
  const wake = named(WAKE, GERMAN_COMMANDS.wake);
  if (wake) {
    const message = { to: wake['to'] ?? '', message: wake['text'] ?? '' };
    if (tools.has('wake_agent')) return [call('wake_agent', { ...message, reason: 'user_request' })];
    return [
      words('All waking is switched off, so I leave a message; it waits in the inbox.'),
      call('message_agent', message),
    ];
  }
  const message = named(MESSAGE, GERMAN_COMMANDS.message);
  if (message) return [call('message_agent', { to: message['to'] ?? '', message: message['text'] ?? '' })];
  if (SLEEP.test(said) || GERMAN_COMMANDS.sleep.test(said))
    return [
      tools.has('go_to_sleep')
        ? call('go_to_sleep', {})
        : words('I am the one the team is reached through, so I stay up. End the session, and everyone sleeps.'),
    ];
  const reminder = tools.has('wake_later') ? remind(said) : null;
  if (reminder) return reminder;
  if (READ.test(said) || GERMAN_COMMANDS.read.test(said)) return [call('read_inbox', {})];
  return null;
}

/** Tools whose answer is for the person to read as it is. */
export const OUTCOMES: ReadonlySet<string> = new Set([
  'message_agent',
  'wake_agent',
  'go_to_sleep',
  'read_inbox',
  'wake_later',
]);

const ASKS_PAST =
  /\b(remember|recall|remind|forg[eo]t|did (?:i|we)|(?:i|we) (?:told|said|tell|say)|told you|do you (?:still )?know)\b/i;
/** Not a question, but something to be kept: "Remember this: …". */
const ASKS_TO_KEEP = /^\s*(?:please\s+)?(?:remember|keep in mind|do(?:n['’]t| not) forget)\b[^?]*$/i;
const ASKS_WHO = /\b(who are you|your name|about yourself|introduce yourself)\b/i;
const RENAME =
  /^\s*(?:please,?\s+)?(?:from now on,?\s+)?(?:rename yourself|call yourself|your name is now|you shall be called|be called)\s+(?:to\s+|as\s+)?["“]?([\p{L}][\p{L}\p{M}' -]{0,40}[\p{L}])["”]?[.!]?\s*$/iu;
const NEW_SOUL = /^\s*(?:please,?\s+)?(?:re)?write\b.{0,30}\bsoul\b[^?]*$/i;
const IS_HELLO = /^\s*(hi|hello|hey|good (morning|evening|afternoon|night))\b.{0,30}$/i;
const IS_THANKS = /\b(thank you|thanks)\b/i;

export function talk(reading: Reading, seed: number): ReplyPart[] {
  const given = reading.last.texts.filter((text) => !isMessage(text));
  const { files, ...rest } = attached(given);
  const said = files.length > 0 ? rest.said : given.join('\n\n');
  const messages = reading.last.texts.filter(isMessage).map(onMessage);
  const spoken = reading.turns.filter((turn) => turn.role === 'user').length;
  const chance = createChance(seedOf('talk', seed, reading.position, spoken, said));
  const honesty = chance.pick(spokenIn(said) === 'German' ? GERMAN_HONESTY : TALK_HONESTY);
  const rename = RENAME.exec(said)?.[1];
  const reached = reachOut(reading);
  if (reached) return reached;
  if (rename && !reading.isLead) return [words(`Let me hear it: ${rename}.`), call('choose_name', { name: rename })];
  if (NEW_SOUL.test(said))
    return [words('I will put it into my own words.'), call('write_soul', { text: newSoul(reading, said, seed) })];
  if (files.length > 0 && said === '') return [words(...messages, gotFiles(files))];
  if (files.length > 0)
    return [words(...messages, gotFiles(files), answer(reading, said, temperamentOf(seed, reading.position), chance))];
  if (said === '' && messages.length > 0) return [words(...messages, honesty)];
  return [words(...messages, answer(reading, said, temperamentOf(seed, reading.position), chance), honesty)];
}

function answer(reading: Reading, said: string, temperament: Temperament, chance: Chance): string {
  if (wordless(said) === null && spokenIn(said) === 'German') return answerInGerman(reading, said, chance);
  // A wish about the clock, and what it is told to say, are no questions about what was said.
  const wish = IS_WISH.test(said) ? everyday(reading, said) : null;
  if (wish !== null) return wish;
  if (ASKS_PAST.test(said) && !ASKS_TO_KEEP.test(said)) return fromFacts(reading, said);
  const ordinary = ASKS_TO_KEEP.test(said) ? null : everyday(reading, said);
  if (ordinary !== null) return ordinary;
  const heard = meant(said);
  if (ASKS_WHO.test(heard))
    return `I am ${reading.name ?? 'still without a name'}, in seat ${reading.position + 1}, in ${reading.colorName}. ${chance.pick(temperament.asked)}`;
  if (IS_HELLO.test(heard)) return `Hello, ${reading.human}. ${chance.pick(temperament.hello)} What shall we look at?`;
  if (IS_THANKS.test(heard))
    return chance.pick([
      `You are welcome, ${reading.human}.`,
      'Gladly. It was a good one.',
      'Any time; I mean that more literally than most.',
    ]);
  if (/\?\s*$/.test(said)) return onQuestion(said, temperament, chance);
  return [
    `I have that: ${quoteLast(said)} Ask me for it later, also after I have slept.`,
    chance.pick(temperament.musing),
  ].join('\n\n');
}

function fromFacts(reading: Reading, said: string): string {
  const fact = findFact(said, readFacts(reading));
  if (!fact)
    return 'I looked, and I do not have that. Either it was not said to me, or it lies further back than I was given. Tell me again, and I will keep it.';
  return fact.before
    ? `Yes. Before I slept you told me: ${quote(fact.text, 400)}`
    : `Yes. You told me in this conversation: ${quote(fact.text, 400)}`;
}

/** It knows nothing of the world, and does not pretend to. */
const onQuestion = (said: string, temperament: Temperament, chance: Chance): string =>
  [
    `You ask: ${quote(said, 120)} A model would know; I am the demo’s stand-in, and would only be guessing.`,
    chance.pick(temperament.musing),
  ].join('\n\n');

export function newSoul(reading: Reading, said: string, seed: number): string {
  const temperament = temperamentOf(seed, reading.position);
  const chance = createChance(seedOf('soul', seed, reading.position, said));
  if (reading.isLead)
    return [
      `I am ${reading.name ?? 'the lead'}. I keep the door for ${reading.human} and for this team: I call them when they are wanted, I say who has come, and I leave their words to them.`,
      chance.pick(temperament.draws),
    ].join('\n\n');
  return [
    `I am ${reading.name ?? 'still without a name'}. ${chance.pick(temperament.draws)}`,
    chance.pick(temperament.asked),
  ].join('\n\n');
}

/** After a tool of its own answered. */
export function afterTool(name: string, isError: boolean, result: string): ReplyPart[] {
  if (isError) return [words(`That did not go through: ${result}`)];
  // What is told to whoever set it, told on.
  if (name === 'wake_later') return [words(result.replace(/^It comes back to you/, 'I come back to it'))];
  if (OUTCOMES.has(name)) return [words(result)];
  return [
    words(
      name === 'choose_name'
        ? 'There. It sits well; say it now and then, so that it wears in.'
        : 'Done. That is how I would put it today; the earlier one is kept.',
    ),
  ];
}
