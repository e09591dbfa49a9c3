/** From a request to what the rehearsal mind does with it. */
import type { Rehearsal } from '../../../src/protocol/http.ts';
import { explain, nudged, thinkAloud } from './birth.ts';
import { greet } from './greeting.ts';
import { lead } from './lead.ts';
import { calledWell, type Reading } from './reading.ts';
import type { Reply, ReplyPart } from './reply.ts';
import { afterTool, talk } from './talk.ts';

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
  !reading.isLead && reading.name === null && (reading.turns[0]?.texts.join('').includes('choose_name') ?? false);

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
  if (first) return greet(reading, seed);
  const [result] = reading.last.results;
  const made = reading.turns.at(-2)?.calls.at(-1);
  if (result && made && reading.last.texts.length === 0) return afterTool(made.name, result.isError, result.text);
  return talk(reading, seed);
}
