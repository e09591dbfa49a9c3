/** The lead of a rehearsal: it follows the protocol to the letter. */
import { isTeamCall, positionsCalled } from '../../../src/domain/wake-payload.ts';
import { createChance, seedOf } from './chance.ts';
import { calledWell, type Reading } from './reading.ts';
import { call, words, type ReplyPart } from './reply.ts';
import { newSoul, talk } from './talk.ts';

const REPORT = '[TEAM REPORT]';

export function lead(reading: Reading, options: { seed: number; leadIgnores: boolean }): ReplyPart[] {
  const teamCall = [...reading.last.texts].reverse().find(isTeamCall);
  if (teamCall !== undefined) return onTeamCall(teamCall, options.leadIgnores);
  const report = [...reading.last.results.map((result) => result.text), ...reading.last.texts].find((text) =>
    text.startsWith(REPORT),
  );
  if (report !== undefined) return withSoul(reading, options.seed, [words(onReport(report, reading, options.seed))]);
  if (reading.last.texts.length > 0) {
    const parts = talk(reading, options.seed);
    return parts.some((part) => part.kind === 'call') ? parts : withSoul(reading, options.seed, parts);
  }
  const failed = reading.last.results.find((result) => result.isError);
  if (failed)
    return [words(`The call could not be made: ${failed.text} Nobody is lost by it; everyone is as they were.`)];
  return [words('That is written down, and I will be given it whenever I wake.')];
}

function onTeamCall(text: string, ignores: boolean): ReplyPart[] {
  if (ignores)
    return [
      words(
        'I read that, and I am leaving it where it is. This rehearsal was told that the lead does not call the team.',
      ),
    ];
  return [call('spawn_team', { seats: positionsCalled(text).map((position) => position + 1) })];
}

function onReport(report: string, reading: Reading, seed: number): string {
  const line = (label: string) => new RegExp(`^${label}: (.+)\\.$`, 'm').exec(report)?.[1] ?? null;
  const here = line('Here')?.replace(/ \(seat \d\)/g, '') ?? null;
  const missing = report.split('\n').filter((row) => row.startsWith('- '));
  const chance = createChance(seedOf('report', seed, report));
  const sentences: string[] = [];
  if (here) {
    const names = here.replace(/, ([^,]+)$/, ' and $1');
    sentences.push(
      chance.pick([
        `Welcome, ${names}. It is good to have you in the room.`,
        `${names}: hello. The room is better for it.`,
        `Good to see you, ${names}. ${reading.human} is here as well.`,
      ]),
    );
  }
  if (missing.length > 0)
    sentences.push(`Not everyone came:\n\n${missing.join('\n')}\n\nThe button is there to try again.`);
  const late = line('Still on the way');
  if (late) sentences.push(`Still on the way: ${late}.`);
  return sentences.length > 0 ? sentences.join('\n\n') : 'Nobody came this time. The button is there to try again.';
}

/** Its first quiet moment: a lead that has no soul writes one, once. */
function withSoul(reading: Reading, seed: number, parts: readonly ReplyPart[]): ReplyPart[] {
  if (reading.hasSoul || calledWell(reading, 'write_soul')) return [...parts];
  return [...parts, call('write_soul', { text: newSoul(reading, '', seed) })];
}
