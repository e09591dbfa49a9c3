/** From a request to what the rehearsal mind does with it. */
import type { Rehearsal } from '../../../../src/shared/protocol/http.ts';
import { explain, nudged, thinkAloud, temperamentOf } from './birth.ts';
import { createChance, seedOf } from './chance.ts';
import { readSaid } from '../../../../src/shared/domain/quoting.ts';
import { parseTranscript } from '../../../../src/shared/domain/transcript.ts';
import { attached, calledWell, lastDone, type Reading } from './reading.ts';
import { words, type ReplyPart, type Reply, call } from './reply.ts';
import { isTeamCall, positionsCalled } from '../../../../src/shared/domain/wake-payload.ts';
import { afterTool, answersInGerman, newSoul, onReminders, onRoutine, OUTCOMES, talk, triedLater } from './talk.ts';
import type { Wording } from './wording.ts';
import { wordingOf } from './wordings.ts';

/** The lead of a rehearsal: it follows the protocol to the letter. */
const REPORT = '[TEAM REPORT]';

function lead(reading: Reading, options: { seed: number; leadIgnores: boolean }): ReplyPart[] {
  const teamCall = [...reading.last.texts].reverse().find(isTeamCall);
  if (teamCall !== undefined) return onTeamCall(reading, teamCall, options.leadIgnores);
  const report = [...reading.last.results.map((result) => result.text), ...reading.last.texts].find((text) =>
    text.startsWith(REPORT),
  );
  if (report !== undefined) return withSoul(reading, options.seed, [words(onReport(report, reading, options.seed))]);
  if (reading.last.texts.length > 0) {
    const parts = talk(reading, options.seed);
    return parts.some((part) => part.kind === 'call') ? parts : withSoul(reading, options.seed, parts);
  }
  const failed = reading.last.results.find((result) => result.isError);
  const done = lastDone(reading);
  const later = done && triedLater(reading, done);
  if (later) return later;
  if (done && OUTCOMES.has(done.name)) return afterTool(reading, done);
  if (failed) return [words(wordingOf(answersInGerman(reading)).noCall(failed.text))];
  return [words(wordingOf(answersInGerman(reading)).writtenDown)];
}

function onTeamCall({ german }: Reading, text: string, ignores: boolean): ReplyPart[] {
  if (ignores) return [words(wordingOf(german).leftAlone)];
  return [call('spawn_team', { seats: positionsCalled(text).map((position) => position + 1) })];
}

function onReport(report: string, reading: Reading, seed: number): string {
  const line = (label: string) => new RegExp(`^${label}: (.+)\\.$`, 'm').exec(report)?.[1] ?? null;
  const here = line('Here')?.replace(/ \(seat \d\)/g, '') ?? null;
  const missing = report.split('\n').filter((row) => row.startsWith('- '));
  const chance = createChance(seedOf('report', seed, report));
  const wording = wordingOf(reading.german);
  const sentences: string[] = [];
  if (here) sentences.push(chance.pick(wording.welcomes(here.split(', '), reading.human)));
  if (missing.length > 0) sentences.push(wording.missing(missing));
  const late = line('Still on the way');
  if (late) sentences.push(wording.late(late));
  return sentences.length > 0 ? sentences.join('\n\n') : wording.nobodyCame;
}

/** Its first quiet moment: a lead that has no soul writes one, once. */
function withSoul(reading: Reading, seed: number, parts: readonly ReplyPart[]): ReplyPart[] {
  if (reading.hasSoul || calledWell(reading, 'write_soul')) return [...parts];
  return [...parts, call('write_soul', { text: newSoul(reading, '', seed) })];
}

/** How an agent of a rehearsal wakes: it greets, and shows that it remembers. */
function soulIn(prompt: string): string | null {
  const inside = readSaid(prompt).find(({ head }) => head === '<your-soul>')?.text;
  return inside?.trim() ? inside.trim() : null;
}

function greet(reading: Reading, seed: number): ReplyPart[] {
  const prompt = reading.turns[0]?.texts.join('\n') ?? '';
  // Of what was only shown to it nothing is to be told.
  const said = parseTranscript(prompt).map((message) => ({ ...message, text: attached([message.text]).said }));
  const theirs = said.filter((message) => message.author === reading.human && message.text !== '').at(-1);
  const last = said.filter((message) => message.text !== '').at(-1);
  const soul = soulIn(prompt);
  const chance = createChance(seedOf('greeting', seed, reading.position, theirs?.text ?? '', said.length));
  const wording = wordingOf(reading.german);
  const temperament = temperamentOf(seed, reading.position, wording);
  const hellos = wording.hellos(reading.human).map((hello) => `${hello} ${chance.pick(temperament.hello)}`);
  const hello = hellos[chance.below(hellos.length)] ?? '';
  return [words(hello, `${wording.waking(reading.name)} ${lastTalkOf(wording, theirs?.text, last, soul)}`)];
}

function lastTalkOf(
  wording: Wording,
  theirs: string | undefined,
  last: { author: string; text: string } | undefined,
  soul: string | null,
): string {
  if (theirs) return wording.lastTold(theirs);
  if (last) return wording.lastWords(last.text);
  return soul ? wording.firstDay(soul.split(/\n\n/)[0] ?? soul) : wording.nothingBefore;
}

/** `birth`: how many were born in this seat before. */
export function replyTo(reading: Reading, options: Rehearsal, birth: number): Reply {
  const applies = (seats: readonly number[]) => seats.includes(reading.position);
  if (applies(options.fail)) return { kind: 'fail' };
  if (applies(options.silent)) return { kind: 'silent' };
  const parts = reading.isLead ? lead(reading, options) : agent(reading, options, birth);
  return { kind: 'say', parts, cut: applies(options.cut) };
}

/** A new agent's first message is the birth prompt; who has a name was woken. */
export const isBirth = (reading: Reading): boolean =>
  reading.isNew && (reading.turns[0]?.texts.join('').includes('choose_name') ?? false);

function agent(reading: Reading, options: Rehearsal, birth: number): ReplyPart[] {
  const { seed } = options;
  const first = reading.turns.length === 1;
  if (isBirth(reading)) {
    const birthOptions = {
      seed,
      birth,
      sameName: options.sameName.includes(reading.position),
      nameless: options.nameless.includes(reading.position),
    };
    if (first) return thinkAloud(reading, birthOptions);
    const named = calledWell(reading, 'choose_name') !== null;
    const answered = reading.turns.at(-2)?.calls.at(-1)?.name;
    const justNamed =
      reading.last.results.length > 0 &&
      answered === 'choose_name' &&
      reading.turns.filter((turn) => turn.calls.some((made) => made.name === 'choose_name')).length === 1;
    if (named && justNamed) return explain(reading, birthOptions);
    if (!named) return nudged(reading, birthOptions);
  }
  if (first) return onReminders(reading) ?? onRoutine(reading) ?? greet(reading, seed);
  const done = lastDone(reading);
  if (done && reading.last.texts.length === 0) return triedLater(reading, done) ?? afterTool(reading, done);
  return talk(reading, seed);
}
