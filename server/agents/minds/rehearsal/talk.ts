/** Ordinary conversation in a rehearsal: in character, of some use, and plain about what it is. */
import { z } from 'zod';
import { onOneLine, readSaid } from '../../../../src/shared/domain/quoting.ts';
import { temperamentOf } from './birth.ts';
import { createChance, seedOf, type Chance } from './chance.ts';
import { everyday } from './everyday.ts';
import { findFact, quote, quoteLast, readFacts } from './facts.ts';
import { answerInGerman, GERMAN_COMMANDS } from './german.ts';
import { inGerman, meant } from './hearing.ts';
import { attached, isMessage, lastSaid, messageIn, type Reading, type ToolDone } from './reading.ts';
import { IS_WISH, reminderIn } from './reminders.ts';
import { call, words, type ReplyPart } from './reply.ts';
import type { Temperament } from './temperaments.ts';
import type { Wording } from './wording.ts';
import { wordingOf } from './wordings.ts';

/**
 * In a rehearsal agents reach each other too, where they are told to in plain words: nobody needs a
 * model to see how it works.
 */
const NAME = String.raw`["“]?(?<to>[\p{L}][\p{L}\p{M}\d' -]{0,40}?)["”]?`;
const MESSAGE = new RegExp(
  String.raw`^\s*(?:please\s+)?(?:tell|message|write to)\s+${NAME}\s*(?::|,|that\b)\s*(?<text>[\s\S]+)$`,
  'iu',
);
const WAKE = new RegExp(String.raw`^\s*(?:please\s+)?wake\s+${NAME}\s*(?::|,|because\b)\s*(?<text>[\s\S]+)$`, 'iu');
const END = String.raw`(?:\s+now)?(?:,?\s+please)?\s*[.!]*\s*$`;
const SLEEP = new RegExp(String.raw`^\s*(?:please\s+)?(?:go to sleep|sleep now)${END}`, 'i');
const READ = new RegExp(String.raw`^\s*(?:please\s+)?(?:read|check) your (?:inbox|mail)${END}`, 'i');

/**
 * A call that brings it back then, or asks for what comes again; null where the words ask for none.
 */
function remind({ tools, human }: Reading, said: string, wording: Wording): ReplyPart[] | null {
  if (!tools.has('wake_later')) return null;
  const wish = reminderIn(said);
  if (!wish) return null;
  const { message, when, again } = wish;
  if (!again || !tools.has('propose_routine')) return [call('wake_later', { message, ...when })];
  const routine = {
    name: shortened(message),
    instructions: wording.routine(human, onOneLine(message)),
    why: wording.routineWhy(said),
    only_if_something_waits: false,
  };
  return [call('propose_routine', { ...routine, ...again })];
}
/** Characters of a name that is made of the words. */
const NAME_CHARS = 40;
function shortened(text: string): string {
  const line = onOneLine(text);
  return line.length <= NAME_CHARS ? line : `${line.slice(0, NAME_CHARS - 1).trimEnd()}…`;
}
/**
 * The same a day later, where no day was said and that hour of today is over; null: it was none of
 * that.
 */
export function triedLater(reading: Reading, { name, isError, input }: ToolDone): ReplyPart[] | null {
  const wish = name === 'wake_later' && isError ? reminderIn(lastSaid(reading)) : null;
  const { at } = wakeLaterSchema.safeParse(input).data ?? {};
  if (!wish?.otherwise || at !== wish.when.at) return null;
  return [call('wake_later', { message: wish.message, ...wish.otherwise })];
}
const wakeLaterSchema = z.looseObject({ at: z.string().optional() });

/** What it says of a message. It does not write back: two of a rehearsal would never end. */
function onMessage(text: string, wording: Wording): string {
  const due = reminderDue(text);
  if (due !== null) return wording.itIsTime(due);
  const { from, text: said } = messageIn(text) ?? { from: null, text: '' };
  return wording.wroteToMe(from, said);
}
/** What it was to remind of comes back to it as a message of the relay's; null: it is another. */
function reminderDue(text: string): string | null {
  const [due] = readSaid(messageIn(text)?.text ?? '');
  return due?.head.startsWith('[A reminder that you left for yourself, ') ? due.text : null;
}
/** At work alone it is given such messages with its first turn; null: there are none. */
export function onReminders({ german, last }: Reading): ReplyPart[] | null {
  const due = last.texts.flatMap((text) => reminderDue(text) ?? []);
  return due.length === 0 ? null : [words(...due.map(wordingOf(german).itIsTime))];
}
/** The same of a routine that it asked for itself; null: it was set to work by something else. */
export function onRoutine({ german, system }: Reading): ReplyPart[] | null {
  const does = system.split('\n## What you do here\n')[1]?.split('\n')[0] ?? '';
  const due = wordingOf(false).inRoutine(does) ?? wordingOf(true).inRoutine(does);
  return due === null ? null : [words(wordingOf(german).itIsTime(due))];
}

/**
 * A call of the tool that the person's words ask for; null where they ask for none. "Tell me about
 * yourself" names nobody of the team.
 */
function reachOut(reading: Reading, wording: Wording): ReplyPart[] | null {
  const { last, team, tools } = reading;
  const said = last.texts.filter((text) => !isMessage(text)).at(-1) ?? '';
  const named = (pattern: RegExp, german: RegExp) => {
    const groups = (pattern.exec(said) ?? german.exec(said))?.groups;
    return groups && team.has((groups['to'] ?? '').toLowerCase()) ? groups : null;
  };
  const wake = named(WAKE, GERMAN_COMMANDS.wake);
  if (wake) {
    const message = { to: wake['to'] ?? '', message: wake['text'] ?? '' };
    if (tools.has('wake_agent')) return [call('wake_agent', { ...message, reason: 'user_request' })];
    return [words(wording.noWaking), call('message_agent', message)];
  }
  const message = named(MESSAGE, GERMAN_COMMANDS.message);
  if (message) return [call('message_agent', { to: message['to'] ?? '', message: message['text'] ?? '' })];
  if (SLEEP.test(said) || GERMAN_COMMANDS.sleep.test(said))
    return [tools.has('go_to_sleep') ? call('go_to_sleep', {}) : words(wording.staysUp)];
  const reminder = remind(reading, said, wording);
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
  'propose_routine',
]);

const ASKS_PAST =
  /\b(remember|recall|remind|forg[eo]t|did (?:i|we)|(?:i|we) (?:told|said|tell|say)|told you|do you (?:still )?know)\b/i;
/** Not a question, but something to be kept, also after one: "Shall we begin? Remember that …". */
const ASKS_TO_KEEP = /(?:^|[.!?…]\s)\s*(?:please\s+)?(?:remember|keep in mind|do(?:n['’]t| not) forget)\b[^?]*$/i;
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
  const german = inGerman(reading, said);
  const wording = wordingOf(german);
  const messages = reading.last.texts.filter(isMessage).map((text) => onMessage(text, wording));
  const spoken = reading.turns.filter((turn) => turn.role === 'user').length;
  const chance = createChance(seedOf('talk', seed, reading.position, spoken, said));
  const honesty = chance.pick(wording.talkHonesty);
  const rename = RENAME.exec(said)?.[1] ?? GERMAN_COMMANDS.rename.exec(said)?.[1];
  const reached = reachOut(reading, wording);
  if (reached) return reached;
  if (rename && !reading.isLead) return [words(wording.hearIt(rename)), call('choose_name', { name: rename })];
  if (NEW_SOUL.test(said) || GERMAN_COMMANDS.newSoul.test(said))
    return [words(wording.ownWords), call('write_soul', { text: newSoul(reading, said, seed) })];
  if (files.length > 0 && said === '') return [words(...messages, wording.gotFiles(files))];
  if (files.length > 0) return [words(...messages, wording.gotFiles(files), answer(reading, said, seed, chance))];
  if (said === '' && messages.length > 0) return [words(...messages, honesty)];
  return [words(...messages, answer(reading, said, seed, chance), honesty)];
}

function answer(reading: Reading, said: string, seed: number, chance: Chance): string {
  const german = inGerman(reading, said);
  const temperament = temperamentOf(seed, reading.position, wordingOf(german));
  if (german) return answerInGerman(reading, said, temperament, chance);
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
  const wording = wordingOf(reading.german || inGerman(reading, said));
  const temperament = temperamentOf(seed, reading.position, wording);
  const chance = createChance(seedOf('soul', seed, reading.position, said));
  const { name, human, isLead } = reading;
  if (isLead) return [wording.leadSoul(name, human), chance.pick(temperament.draws)].join('\n\n');
  return [`${wording.soul(name)} ${chance.pick(temperament.draws)}`, chance.pick(temperament.asked)].join('\n\n');
}

/** Whether it answers the person's last words in German, whatever came between. */
export const answersInGerman = (reading: Reading): boolean => inGerman(reading, lastSaid(reading));

/** After a tool of its own answered. */
export function afterTool(reading: Reading, { name, isError, text }: ToolDone): ReplyPart[] {
  const wording = wordingOf(answersInGerman(reading));
  if (isError) return [words(wording.notDone(text))];
  const once = name === 'wake_later' && reminderIn(lastSaid(reading))?.again !== undefined;
  if (OUTCOMES.has(name)) return [words(`${wording.outcome(name, text)}${once ? ` ${wording.onlyOnce}` : ''}`)];
  return [words(name === 'choose_name' ? wording.named : wording.soulWritten)];
}
