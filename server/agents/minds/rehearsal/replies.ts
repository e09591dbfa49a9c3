/** Chooses the demo's reply to a request. It stores nothing between requests. */
import { z } from 'zod';
import { HEAD_SAID_TO, SUMMARY_REQUEST } from '../../../../src/shared/domain/compaction.ts';
import { readSaid, unquote } from '../../../../src/shared/domain/quoting.ts';
import { seatNumber } from '../../../../src/shared/domain/seat.ts';
import { inOneLine } from '../../../../src/shared/domain/talk.ts';
import { parseTranscript } from '../../../../src/shared/domain/transcript.ts';
import { isTeamCall, positionsCalled } from '../../../../src/shared/domain/wake-payload.ts';
import type { Rehearsal } from '../../../../src/shared/protocol/http.ts';
import type { Language, Name, Temperament, TextName, Topic } from './english.ts';
import { sitExam } from './exam.ts';
import {
  calledWell,
  LANGUAGES,
  lastDone,
  lastSaid,
  messageIn,
  personsTurns,
  type Reading,
  spoken,
  type ToolDone,
  withoutFiles,
} from './reading.ts';

// Recognises what the person asks for, by the words of a language's table alone.

/** In lower case, without stops and apostrophes, one space between words. */
const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
function hasOne(text: string, phrases: readonly string[]): boolean {
  const said = ` ${plain(text)} `;
  return phrases.some((phrase) => said.includes(` ${phrase} `));
}
function beginsWithOne(text: string, phrases: readonly string[]): boolean {
  const said = `${plain(text)} `;
  return phrases.some((phrase) => said.startsWith(`${phrase} `));
}
const isOne = (text: string, phrases: readonly string[]) => phrases.includes(plain(text));

/** The language of this text, by its frequent words. In doubt, the language of the page. */
function languageOfWords({ language }: Pick<Reading, 'language'>, said: string): Language {
  const all = plain(said).split(' ');
  const hits = ({ common }: Language) => all.filter((word) => common.includes(word)).length;
  return LANGUAGES.reduce((best, each) => (hits(each) > hits(best) ? each : best), language);
}

const withoutLead = (said: string, { polite }: Language): string => {
  const lead = new RegExp(String.raw`^\s*(?:(?:${polite.join('|')})[\s,]+)+`, 'iu');
  return said.trim().replace(lead, '');
};
/** The sentence without its final stop, and without "please" at either end. */
const bare = (said: string, language: Language): string => {
  const trail = new RegExp(String.raw`(?:[\s,]+(?:${language.polite.join('|')}))*[\s.!?]*$`, 'iu');
  return withoutLead(said, language).replace(trail, '');
};
const isQuestion = (said: string) => /\?\s*$/.test(said);
const asks = (said: string, { commands }: Language): boolean => isQuestion(said) || beginsWithOne(said, commands.asks);

/**
 * Whether the text asks to remember something, even after a question: "Shall we begin? Remember
 * that …".
 */
const isToKeep = (said: string, language: Language): boolean =>
  !isQuestion(said) &&
  said.split(/[.!?…]\s/u).some((sentence) => beginsWithOne(withoutLead(sentence, language), language.commands.keep));

/** "Tell Lyra that …". Null: it names no agent within reach, or has no message. */
function addressed(
  { team }: Pick<Reading, 'team'>,
  said: string,
  language: Language,
  verbs: readonly string[],
): { readonly to: string; readonly message: string } | null {
  const text = withoutLead(said, language);
  const behind = (from: string, start: string) =>
    from.slice(0, start.length).toLowerCase() === start ? from.slice(start.length) : null;
  for (const verb of verbs) {
    const rest = behind(text, `${verb} `)?.trimStart();
    if (rest === undefined) continue;
    for (const name of team)
      for (const link of language.commands.links) {
        const message = behind(behind(rest, name)?.trimStart() ?? '', link)?.trim();
        if (message) return { to: rest.slice(0, name.length), message };
      }
  }
  return null;
}

/** The new name that the agent is asked to take; null: none. */
function newName(said: string, language: Language): string | null {
  const text = bare(said, language);
  const phrase = language.commands.rename.find((each) => text.toLowerCase().startsWith(`${each} `));
  if (phrase === undefined || isQuestion(said)) return null;
  return text
    .slice(phrase.length)
    .replace(/["“”„]/g, '')
    .trim();
}

const isCommand = (said: string, language: Language, phrases: readonly string[]): boolean =>
  !isQuestion(said) && isOne(bare(said, language), phrases);
const asksForSoul = (said: string, language: Language): boolean =>
  !isQuestion(said) && beginsWithOne(bare(said, language), language.commands.soul);

/** A reminder, in the form that the tool `wake_later` takes. */
interface Wish {
  readonly message: string;
  readonly when: { readonly delay: string } | { readonly at: string };
  /** Used if the wish names no day and that hour of today is over. */
  readonly otherwise?: { readonly at: string };
}
/** The hour for a day without one. */
const USUAL = '9:00';

interface Span {
  /** Number of words that it takes. */
  readonly length: number;
  readonly wish: Omit<Wish, 'message'>;
}

/** Reads times from the words of a wish. */
function clockReader(words: readonly string[], { reminders }: Language) {
  const { numbers, units, days, oclock } = reminders;
  const word = (at: number) => plain(words[at] ?? '');
  const numberAt = (at: number): number | null => {
    const said = word(at);
    if (/^\d{1,4}$/.test(said)) return Number(said);
    const index = numbers.findIndex((ways) => ways.includes(said));
    return index < 0 ? null : index + 1;
  };
  /** `8`, `8:30`, `acht Uhr`, `3 pm`, `3pm` */
  const clockAt = (at: number) => {
    const joined = /^(\d{1,2})(?:[:.](\d\d))?(am|pm)?[.,:;!?]*$/i.exec(words[at] ?? '');
    const named = joined ? Number(joined[1]) : numberAt(at);
    if (named === null) return null;
    const next = word(at + 1);
    const half = joined?.[3]?.toLowerCase() ?? (['am', 'pm'].includes(next) ? next : null);
    const hour = half === null || named > 12 ? named : (named % 12) + (half === 'pm' ? 12 : 0);
    const minute = Number(joined?.[2] ?? 0);
    const length = oclock.includes(next) ? 2 : 1;
    return hour > 23 || minute > 59 ? null : { length, text: `${hour}:${String(minute).padStart(2, '0')}` };
  };
  const hourAt = (at: number) => {
    const clock = reminders.at.includes(word(at)) ? clockAt(at + 1) : null;
    return clock && { length: clock.length + 1, text: clock.text };
  };
  const dayAt = (at: number) => {
    const skipped = reminders.on.includes(word(at)) ? 1 : 0;
    const day = days[word(at + skipped)];
    return day === undefined ? null : { length: skipped + 1, day };
  };
  const spanAt = (at: number): Span | null => {
    if (word(at) !== reminders.in) return null;
    const count = numberAt(at + 1);
    const unit = (['minutes', 'hours', 'days'] as const).find((each) => units[each].includes(word(at + 2)));
    return count === null || unit === undefined ? null : { length: 3, wish: { when: { delay: `${count} ${unit}` } } };
  };
  const momentAt = (at: number): Span | null => {
    const first = dayAt(at);
    const hour = hourAt(at + (first?.length ?? 0));
    const day = first ?? (hour ? dayAt(at + hour.length) : null);
    const length = (day?.length ?? 0) + (hour?.length ?? 0);
    if (day?.day === 'today' && !hour) return null;
    if (day) return { length, wish: { when: { at: `${day.day} ${hour?.text ?? USUAL}` } } };
    if (!hour) return null;
    return { length, wish: { when: { at: `today ${hour.text}` }, otherwise: { at: `tomorrow ${hour.text}` } } };
  };
  return { at: (at: number) => spanAt(at) ?? momentAt(at), isDay: (at: number) => days[word(at)] !== undefined };
}

/**
 * The reminder that these words ask for. Null: they ask for none, or part of the time was not
 * understood. The demo never sets a time other than the one meant.
 */
function reminderIn(said: string, language: Language): Wish | null {
  const { asks: ways, about, beyond } = language.reminders;
  const text = bare(said, language);
  const way = ways.find(
    (each) => beginsWithOne(text, [each.begins]) && (each.has === undefined || hasOne(text, [each.has])),
  );
  if (!way || hasOne(text, beyond)) return null;
  const words = text.split(/\s+/).slice(way.begins.split(' ').length);
  const rest = words.filter((word) => plain(word) !== way.has);
  const clock = clockReader(rest, language);
  const isAbout = (word: string) => about.includes(plain(word));
  const start = rest.findIndex((word) => !isAbout(word));
  for (const [at] of rest.entries()) {
    const span = clock.at(at);
    if (!span || (at !== start && at + span.length !== rest.length)) continue;
    if (rest.some((_, i) => (i < at || i >= at + span.length) && clock.isDay(i))) return null;
    const left = [...rest.slice(0, at), ...rest.slice(at + span.length)];
    while (left[0] !== undefined && isAbout(left[0])) left.shift();
    // A number at either end may belong to a time that was not understood: "on the 3rd at 9".
    if ([left[0], left.at(-1)].some((word) => word !== undefined && /\d/.test(word))) return null;
    const message = left.join(' ').replace(/^[:,\s]+|[,\s]+$/g, '');
    return { message: message === '' ? said.trim() : message, ...span.wish };
  }
  return null;
}

export type ReplyPart =
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly input: Readonly<Record<string, unknown>> };
type Reply =
  | { readonly kind: 'say'; readonly parts: readonly ReplyPart[]; readonly cut: boolean }
  | { readonly kind: 'fail' }
  | { readonly kind: 'silent' };

const words = (...paragraphs: readonly string[]): ReplyPart => ({ kind: 'words', text: paragraphs.join('\n\n') });
const call = (name: string, input: Readonly<Record<string, unknown>>): ReplyPart => ({ kind: 'call', name, input });

type Values = Readonly<Record<string, string>>;
const fill = (text: string, values: Values): string =>
  text.replace(/\{(\w+)\}/g, (_, key: string) => values[key] ?? '');
const say = ({ texts }: Language, name: TextName, values: Values = {}): string => fill(texts[name], values);

/** A quotation of at most `most` characters within a sentence. */
function quoted({ quotes: [open, close] }: Language, text: string, most = 400): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return `${open}${line.length <= most ? line : `${line.slice(0, most).replace(/\s+\S*$/, '')} …`}${close}`;
}
/** The same at the end of a sentence. A quotation that ends with a stop gets no second one. */
function quotedLast(language: Language, text: string, most?: number): string {
  const quote = quoted(language, text, most);
  return /[.!?…].$/u.test(quote) ? quote : `${quote}.`;
}
const listed = ({ texts }: Language, names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')}${texts.and}${names.at(-1) ?? ''}`;

/** FNV-1a over UTF-16 code units: a seed from any text. */
function seedOf(...parts: readonly (string | number)[]): number {
  let hash = 2166136261;
  for (const char of parts.join('\n')) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16777619);
  return hash >>> 0;
}
/**
 * A deterministic generator of numbers, 0 ≤ n < limit: mulberry32 (Tommy Ettinger, public domain).
 */
function drawsOf(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * limit);
  };
}
function shuffled<T>(list: readonly T[], seed: number): T[] {
  const [draw, from, out] = [drawsOf(seed), [...list], [] as T[]];
  while (from.length > 0) out.push(...from.splice(draw(from.length), 1));
  return out;
}
const pick = <T>(list: readonly [T, ...T[]], seed: number): T => list[drawsOf(seed)(list.length)] ?? list[0];

/** 0–7: the seats without the lead's. */
const placeOf = (position: number) => (position > 4 ? position - 1 : position);
/**
 * The temperament of a seed and a seat, the same in each language. All seats of one seed differ.
 */
function temperamentOf({ temperaments }: Language, seed: number, position: number): Temperament {
  const order = shuffled(temperaments, seedOf('temperaments', seed));
  return order[placeOf(position) % order.length] ?? temperaments[0];
}

const SAME_NAME = 'Echo' satisfies Name;
/** `birth`: number of earlier births in this seat. No two seats share a name. */
function nameFor({ language, position }: Reading, { seed, sameName }: Rehearsal, birth: number): Name {
  if (sameName.includes(position)) return SAME_NAME;
  const all = (Object.keys(language.names) as Name[]).filter((name) => name !== SAME_NAME);
  const order = shuffled(all, seedOf('names', seed));
  return order[(placeOf(position) + 8 * birth) % order.length] ?? SAME_NAME;
}

/** The first message of a new agent is the birth prompt. An agent that has a name was woken. */
export const isBirth = (reading: Reading): boolean =>
  reading.isNew && (reading.turns[0]?.texts.join('').includes('choose_name') ?? false);

/**
 * The parts of a birth. The agent thinks aloud and takes a name, then gives the reason; null: it is
 * born.
 */
function onBirth(reading: Reading, options: Rehearsal, birth: number): ReplyPart[] | null {
  const { language, position, turns, last, human } = reading;
  const { seed } = options;
  const name = nameFor(reading, options, birth);
  const isNameless = options.nameless.includes(position);
  const temperament = temperamentOf(language, seed, position);
  if (turns.length === 1) {
    const tried = shuffled(language.tried, seedOf('tried', seed));
    const triedAt = placeOf(position) + birth;
    const [triedName = '', butNot = ''] = tried[triedAt % tried.length] ?? [];
    const [other = '', otherNot = ''] = tried[(triedAt + 1) % tried.length] ?? [];
    const trying = say(language, 'trying', { name: triedName, butNot, other, otherNot });
    const seat = String(position + 1);
    const thoughts = [fill(temperament.opening, { colour: reading.colorName, seat }), temperament.draws];
    if (isNameless) return [words(...thoughts, `${trying} ${language.texts.noName}`)];
    return [words(...thoughts, `${trying} ${say(language, 'found', { name })}`), call('choose_name', { name })];
  }
  if (calledWell(reading, 'choose_name') === null)
    return isNameless
      ? [words(language.texts.stillNoName)]
      : [words(say(language, 'cameCloser', { name })), call('choose_name', { name })];
  const choices = turns.flatMap(({ calls }) => calls).filter((made) => made.name === 'choose_name');
  const answered = turns.at(-2)?.calls.at(-1)?.name;
  if (last.results.length === 0 || answered !== 'choose_name' || choices.length > 1) return null;
  return [
    words(
      say(language, 'whyThis', { name, settled: temperament.settled, because: language.names[name] }),
      pick(language.birthHonesty, seedOf('honesty', seed, position, birth)),
      say(language, 'meeting', { human }),
    ),
  ];
}

/** The text of a reminder from the relay; null: another message. */
function reminderDue(text: string): string | null {
  const [due] = readSaid(messageIn(text)?.text ?? '');
  return due?.head.startsWith('[A reminder that you left for yourself, ') ? due.text : null;
}
/** The demo does not write back, because two demo agents would never stop. */
function onMessage(language: Language, text: string): string {
  const due = reminderDue(text);
  if (due !== null) return say(language, 'itIsTime', { text: quotedLast(language, due) });
  const { from, text: said } = messageIn(text) ?? { from: '', text: '' };
  return say(language, 'wroteToMe', { from, text: quotedLast(language, said) });
}

/** The first words of a woken agent. It greets, and shows that it remembers. */
function greet({ system, turns, human, position, name, language }: Reading, seed: number): ReplyPart[] {
  const prompt = turns[0]?.texts.join('\n') ?? '';
  const soul = readSaid(`${system}\n${prompt}`)
    .find(({ head }) => head === '<your-soul>')
    ?.text.trim();
  const greeted = parseTranscript(prompt)
    .map(({ author, text }) => ({ author, text: withoutFiles([text]).said }))
    .filter(({ text }) => text !== '');
  const told = greeted.findLast(({ author }) => author === human)?.text;
  const last = told ?? greeted.at(-1)?.text ?? soul?.split('\n\n')[0] ?? '';
  const remembers =
    told !== undefined ? 'lastTold' : greeted.length > 0 ? 'lastWords' : soul ? 'firstDay' : 'nothingBefore';
  const { hello } = temperamentOf(language, seed, position);
  return [
    words(
      say(language, 'greeting', { human, hello }),
      `${say(language, 'stillFits', { name: name ?? language.texts.nobody })} ${say(language, remembers, { text: quotedLast(language, last, 160) })}`,
    ),
  ];
}

interface Fact {
  readonly text: string;
  readonly isToKeep: boolean;
}
/** What the person said before the agent slept and since, oldest first. Questions are not facts. */
function factsOf(reading: Reading, language: Language): Fact[] {
  const prompt = reading.isLead ? reading.system : (reading.turns[0]?.texts[0] ?? '');
  const before = parseTranscript(prompt).filter(({ author }) => author === reading.human);
  const since = personsTurns(reading).filter((turn) => turn !== reading.last);
  return [...before.map(({ text }) => text), ...since.flatMap(spoken)]
    .map((text) => withoutFiles([text]).said)
    .filter((text) => text !== '' && !/\?\s*$/.test(text))
    .map((text) => ({ text, isToKeep: isToKeep(text, languageOfWords({ language }, text)) }));
}
/**
 * The fact that shares most words with the question, the latest of equals. A question without a
 * subject ("What did I tell you?") gets the last thing to remember. Null: there is none.
 */
function factFor(question: string, facts: readonly Fact[], { empty }: Language): string | null {
  const stems = (text: string) =>
    (text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [])
      .filter((word) => !empty.includes(word))
      .map((word) => word.replace(/(?:ing|ed|es|s)$/, ''));
  const questionStems = new Set(stems(question));
  if (questionStems.size === 0) return facts.findLast((fact) => fact.isToKeep)?.text ?? null;
  const scored = facts.map(({ text }) => ({
    text,
    score: new Set(stems(text).filter((stem) => questionStems.has(stem))).size,
  }));
  const best = Math.max(1, ...scored.map(({ score }) => score));
  return scored.findLast(({ score }) => score === best)?.text ?? null;
}

const isMeant = ({ words: phrases }: Topic, said: string, language: Language): boolean =>
  phrases.some((phrase) => {
    if (phrase.startsWith('=')) return isOne(bare(said, language), [phrase.slice(1)]);
    return phrase.startsWith('^') ? beginsWithOne(bare(said, language), [phrase.slice(1)]) : hasOne(said, [phrase]);
  });

/** Characters. Longer texts are no command or question for the demo. They are remembered. */
const LONGEST_SENTENCE = 1_000;

function answer(reading: Reading, message: string, language: Language, seed: number): string {
  const { human, position, colorName, others } = reading;
  const { hello, draws } = temperamentOf(language, seed, position);
  if (!/[\p{L}\p{N}]/u.test(message)) return language.texts.noWords;
  const quotedMessage = () => say(language, 'iHaveThat', { text: quotedLast(language, message, 160) });
  if (message.length > LONGEST_SENTENCE || isToKeep(message, language)) return quotedMessage();
  if (asks(message, language) && hasOne(message, language.commands.past)) {
    const fact = factFor(message, factsOf(reading, language), language);
    return fact === null ? language.texts.notTold : say(language, 'remembered', { text: quoted(language, fact) });
  }
  const topic = language.topics.find((each) => isMeant(each, message, language));
  if (topic) {
    const [other = ''] = others;
    return fill(topic.says, {
      ...{ human, hello, draws, seat: String(position + 1), colour: colorName },
      name: reading.name ?? language.texts.nobody,
      can: say(language, other === '' ? 'canAlone' : 'can', { other }),
      whoElse: say(language, other === '' ? 'nobodyElse' : 'whoElse', { others: listed(language, others) }),
    });
  }
  const { work } = language.commands;
  if (beginsWithOne(message, work) || beginsWithOne(bare(message, language), work)) return language.texts.work;
  if (asks(message, language)) return say(language, 'youAsk', { text: quoted(language, message, 120) });
  return quotedMessage();
}

function newSoul(reading: Reading, language: Language, seed: number): string {
  const { draws } = temperamentOf(language, seed, reading.position);
  const { isLead, human, name } = reading;
  return `${say(language, isLead ? 'leadSoul' : 'soul', { name: name ?? language.texts.nobody, human })}\n\n${draws}`;
}

/** Carries out a command in the person's words; null: there is none. */
function command(reading: Reading, said: string, language: Language, seed: number): ReplyPart[] | null {
  const { tools, isLead } = reading;
  const { commands, texts } = language;
  const wake = addressed(reading, said, language, commands.wake);
  if (wake && tools.has('wake_agent')) return [call('wake_agent', { ...wake, reason: 'user_request' })];
  if (wake) return [words(texts.noWaking), call('message_agent', { ...wake })];
  const message = addressed(reading, said, language, commands.message);
  if (message) return [call('message_agent', { ...message })];
  if (said.length > LONGEST_SENTENCE) return null;
  if (isCommand(said, language, commands.sleep))
    return [tools.has('go_to_sleep') ? call('go_to_sleep', {}) : words(texts.staysUp)];
  if (isCommand(said, language, commands.inbox)) return [call('read_inbox', {})];
  if (isCommand(said, language, commands.task)) return [call('get_my_projects', {})];
  const wish = tools.has('wake_later') ? reminderIn(said, language) : null;
  if (wish) return [call('wake_later', { message: wish.message, ...wish.when })];
  const name = isLead ? null : newName(said, language);
  if (name !== null) return [words(say(language, 'hearIt', { name })), call('choose_name', { name })];
  if (asksForSoul(said, language))
    return [words(texts.ownWords), call('write_soul', { text: newSoul(reading, language, seed) })];
  return null;
}

/** The person starts the agent on a task: its first step. Null: they do not. */
function onStart({ last }: Reading): ReplyPart[] | null {
  const told = last.texts.find((text) => text.includes(STARTED));
  const projectId = /Its projectId is ([\w-]+)\./.exec(told ?? '')?.[1];
  const taskId = /^#\d+ .*?, id ([\w-]+),/m.exec(told ?? '')?.[1];
  return projectId === undefined || taskId === undefined ? null : [call('claim_task', { projectId, taskId })];
}

function talk(reading: Reading, seed: number): ReplyPart[] {
  const started = onStart(reading);
  if (started) return started;
  const { said, files } = withoutFiles(spoken(reading.last));
  const language = languageOfWords(reading, said);
  const parts = command(reading, said, language, seed);
  if (parts) return parts;
  const messages = reading.last.texts.filter((text) => messageIn(text) !== null);
  const honesty = pick(language.talkHonesty, seedOf('honesty', seed, reading.position, reading.turns.length));
  const before = [
    ...messages.map((text) => onMessage(language, text)),
    ...(files.length > 0 ? [say(language, 'gotFiles', { files: files.join('; ') })] : []),
  ];
  if (said === '' && files.length > 0) return [words(...before)];
  if (said === '' && before.length > 0) return [words(...before, honesty)];
  return [words(...before, answer(reading, said, language, seed), ...(files.length > 0 ? [] : [honesty]))];
}

/** What an agent is told that the person starts on a task. */
const STARTED = 'It is claimed for you.';
/** What a routine on projects tells its agent names this tool. */
const ON_PROJECTS = '`claim_task`';
/** The path of the demo's file in the checkout of a task. */
const TASK_FILE = 'result.md';
const taskSchema = z.looseObject({ projectId: z.string().optional(), taskId: z.string().optional() });

/** The next step of the work on a task; null: the tool is not part of it. */
function onTask(reading: Reading, { name, input, isError, text }: ToolDone, language: Language): ReplyPart[] | null {
  const { projectId = '', taskId = '' } = taskSchema.safeParse(input).data ?? {};
  const { texts } = language;
  const claim = resultsOf(reading, 'claim_task').at(-1);
  const folder = /in the folder “([^”]+)”/.exec(claim?.text ?? '')?.[1];
  const title = /^#\d+ “([^”]*)”/m.exec(claim?.text ?? '')?.[1] ?? '';
  const ids = taskSchema.safeParse(claim?.input).data ?? {};
  const evidence = say(language, 'taskEvidence', { file: TASK_FILE });
  switch (name) {
    case 'read_inbox':
      return reading.system.includes(ON_PROJECTS) && resultsOf(reading, 'get_my_projects').length === 0
        ? [call('search_conversations', { query: texts.aboutWork })]
        : null;
    case 'search_conversations':
      return reading.system.includes(ON_PROJECTS) ? [call('get_my_projects', {})] : null;
    case 'get_my_projects': {
      if (isError) return [words(texts.noProject)];
      const ready = [...text.matchAll(/^Project .*, id (\S+)\. Tasks by column: .*\(ready\): [1-9]/gm)][0]?.[1];
      return ready === undefined ? [words(texts.noTask)] : [call('get_ready_tasks', { projectId: ready })];
    }
    case 'get_ready_tasks': {
      const task = /^#\d+ .*?, id ([\w-]+),/m.exec(text)?.[1];
      return task === undefined ? [words(texts.noTask)] : [call('claim_task', { projectId, taskId: task })];
    }
    case 'claim_task':
      if (isError) return [words(say(language, 'failed', { answer: text }))];
      if (folder === undefined || text.includes('git checkout'))
        return [words(texts.noGit), call('release_task', { projectId, taskId, note: texts.noGit })];
      return [call('get_task_context', { projectId, taskId })];
    case 'get_task_context':
      if (folder === undefined) return null;
      return [call('write_file', { path: `${folder}/${TASK_FILE}`, content: say(language, 'taskFile', { title }) })];
    case 'write_file':
    case 'meet_criterion': {
      if (folder === undefined || isError) return null;
      const met = resultsOf(reading, 'meet_criterion').filter(
        (said) => taskSchema.safeParse(said.input).data?.taskId === ids.taskId,
      ).length;
      const criteria = [...(claim?.text ?? '').matchAll(/^Criterion (\d+), not met/gm)].map(([, number]) =>
        Number(number),
      );
      const next = criteria[met];
      return next === undefined
        ? [call('open_pull_request', { ...ids, title, body: evidence })]
        : [call('meet_criterion', { ...ids, criterion: next, evidence })];
    }
    case 'open_pull_request':
      return isError ? null : [call('transition_task', { ...ids, status: 'review', note: evidence })];
    case 'transition_task':
      return isError ? null : [words(say(language, 'taskDone', { title: quoted(language, title), file: TASK_FILE }))];
    case 'release_task':
      return [words(texts.noTask)];
    default:
      return null;
  }
}
/** Calls of this tool in the conversation, with their results, oldest first. */
function resultsOf({ turns }: Reading, name: string): { readonly input: unknown; readonly text: string }[] {
  const results = new Map(turns.flatMap((turn) => turn.results.map((result) => [result.callId, result] as const)));
  return turns
    .flatMap(({ calls }) => calls)
    .flatMap((made) => {
      const result = made.name === name ? results.get(made.id) : undefined;
      return result === undefined || result.isError ? [] : [{ input: made.input, text: result.text }];
    });
}

/** The text after a tool's result, by tool. */
const OUTCOMES: Readonly<Record<string, TextName>> = {
  message_agent: 'delivered',
  wake_agent: 'granted',
  go_to_sleep: 'asleep',
  read_inbox: 'inbox',
  wake_later: 'comesBack',
  choose_name: 'named',
  write_soul: 'soulWritten',
};
const inputSchema = z.looseObject({ to: z.string().optional(), at: z.string().optional() });
/** The relay's result when the inbox is empty. */
const INBOX_EMPTY = 'Nothing waits for you.';
const COMES_BACK = /^It comes back to you on (.+), (\d\d:\d\d), as “([^”]*)”/;

/** Reports the result of a tool in the language of the person's request. */
function afterTool(reading: Reading, { name, input, isError, text }: ToolDone): ReplyPart[] {
  const language = languageOfWords(reading, lastSaid(reading));
  const step = onTask(reading, { name, input, isError, text }, language);
  if (step) return step;
  const { to = '', at } = inputSchema.safeParse(input).data ?? {};
  const answered = { to, inbox: text, answer: language.name === 'English' ? text : quotedLast(language, text) };
  const wish = name === 'wake_later' && isError ? reminderIn(lastSaid(reading), language) : null;
  if (wish?.otherwise && 'at' in wish.when && at === wish.when.at)
    return [call('wake_later', { message: wish.message, ...wish.otherwise })];
  if (isError) return [words(say(language, 'failed', answered))];
  if (name === 'wake_agent' && !text.startsWith('Granted')) return [words(say(language, 'notWoken', answered))];
  if (text === INBOX_EMPTY) return [words(language.texts.inboxEmpty)];
  const [, day = '', time = '', what = ''] = COMES_BACK.exec(text) ?? [];
  const when = new Date(`${day} UTC`).toLocaleDateString(language.tag, { dateStyle: 'full', timeZone: 'UTC' });
  return [
    words(say(language, OUTCOMES[name] ?? 'written', { ...answered, when, time, text: quotedLast(language, what) })),
  ];
}

const REPORT = '[TEAM REPORT]';
/**
 * Greets the agents in the relay's report of a call, which names them as `Lyra (seat 1)` or `seat
 * 2`.
 */
function onReport(report: string, language: Language): string {
  const line = (label: string) => new RegExp(`^${label}: (.+)\\.$`, 'm').exec(report)?.[1] ?? null;
  const inWords = (text: string) => text.replace(/seat (\d)/g, (_, seat: string) => say(language, 'seat', { seat }));
  const here =
    line('Here')
      ?.replace(/ \(seat \d\)/g, '')
      .split(', ') ?? [];
  const late = line('Still on the way');
  const rows = report.split('\n').flatMap((row) => /^(- [^:]+)/.exec(row)?.[1] ?? []);
  const sentences = [
    ...(here.length > 0 ? [say(language, 'welcome', { names: listed(language, here) })] : []),
    ...(rows.length > 0 ? [say(language, 'missing', { rows: inWords(rows.join('\n')) })] : []),
    ...(late === null ? [] : [say(language, 'late', { names: inWords(late) })]),
  ];
  return sentences.length > 0 ? sentences.join('\n\n') : language.texts.nobodyCame;
}

function lead(reading: Reading, { seed, leadIgnores }: Rehearsal): ReplyPart[] {
  const { last, language } = reading;
  const teamCall = last.texts.findLast(isTeamCall);
  if (teamCall !== undefined && leadIgnores) return [words(language.texts.leftAlone)];
  if (teamCall !== undefined) return [call('spawn_team', { seats: positionsCalled(teamCall).map(seatNumber) })];
  /** A lead without a soul writes one, once, in its first quiet moment. */
  const withSoul = (parts: readonly ReplyPart[]): ReplyPart[] =>
    reading.hasSoul || calledWell(reading, 'write_soul') || parts.some(({ kind }) => kind === 'call')
      ? [...parts]
      : [...parts, call('write_soul', { text: newSoul(reading, language, seed) })];
  const report = [...last.results.map(({ text }) => text), ...last.texts].find((text) => text.startsWith(REPORT));
  if (report !== undefined) return withSoul([words(onReport(report, language))]);
  if (last.texts.length > 0) return withSoul(talk(reading, seed));
  const done = lastDone(reading);
  if (done && (done.isError || done.name !== 'write_soul')) return afterTool(reading, done);
  return [words(language.texts.written)];
}

function agent(reading: Reading, options: Rehearsal, birth: number): ReplyPart[] {
  const born = isBirth(reading) ? onBirth(reading, options, birth) : null;
  if (born) return born;
  if (reading.turns.length === 1) {
    // In a run outside a session, a reminder comes with the first turn.
    const due = reading.last.texts.filter((text) => reminderDue(text) !== null);
    if (due.length > 0) return [words(...due.map((text) => onMessage(reading.language, text)))];
    // A routine on projects: its first step.
    if (reading.system.includes(ON_PROJECTS)) return [call('read_inbox', {})];
    return onStart(reading) ?? greet(reading, options.seed);
  }
  const done = reading.last.texts.length === 0 ? lastDone(reading) : null;
  return done ? afterTool(reading, done) : talk(reading, options.seed);
}

/** The most lines of a summary. */
const SUMMARY_LINES = 40;
const SUMMARY_LINE_CHARS = 200;
/** What was said to the demo, a line each. Null: no summary is asked for. */
function summaryOf({ last }: Reading): string | null {
  const request = last.texts.find((text) => text.startsWith(SUMMARY_REQUEST));
  if (request === undefined) return null;
  const lines = readSaid(unquote(request)).filter(({ head }) => head === HEAD_SAID_TO);
  return (
    lines
      .slice(-SUMMARY_LINES)
      .map(({ text }) => `- ${inOneLine(text, SUMMARY_LINE_CHARS)}`)
      .join('\n') || '-'
  );
}

/** `birth`: number of earlier births in this seat. */
export function replyTo(reading: Reading, options: Rehearsal, birth: number): Reply {
  if (options.fail.includes(reading.position)) return { kind: 'fail' };
  if (options.silent.includes(reading.position)) return { kind: 'silent' };
  const asked = summaryOf(reading) ?? sitExam(reading);
  if (asked !== null) return { kind: 'say', parts: [{ kind: 'words', text: asked }], cut: false };
  const parts = reading.isLead ? lead(reading, options) : agent(reading, options, birth);
  return { kind: 'say', parts, cut: options.cut.includes(reading.position) };
}
