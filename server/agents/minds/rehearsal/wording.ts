/**
 * All that any agent of a rehearsal says by itself: as it is born, wakes, reports, and tells what
 * came of a tool. One table for each language that it speaks; a text that one of
 * them lacks is an error of types.
 */
import type { OnNames } from './names.ts';
import type { Temperament } from './temperaments.ts';

type Some = readonly [string, ...string[]];
/** Of a name that was tried: the name, and why not. */
export interface Tried {
  readonly name: string;
  readonly butNot: string;
}

export interface Wording {
  readonly temperaments: readonly [Temperament, ...Temperament[]];
  readonly names: OnNames;
  /** What an egg makes of the two things it is given: `{colour}` and `{seat}`. */
  readonly onColour: Some;
  /** Said at the end of a birth: plain about what this is. */
  readonly birthHonesty: Some;
  /** Closes ordinary answers. */
  readonly talkHonesty: Some;

  trying(first: Tried, second: Tried): string;
  readonly noName: string;
  found(name: string): string;
  /** `settled`: how it sat; `because`: without a capital or a stop. */
  whyThis(name: string, settled: string, because: string): string;
  meeting(human: string): string;
  readonly stillNoName: string;
  cameCloser(name: string): string;

  leadSoul(name: string | null, human: string): string;
  soul(name: string | null): string;

  hellos(human: string): Some;
  waking(name: string | null): string;
  lastTold(text: string): string;
  lastWords(text: string): string;
  firstDay(text: string): string;
  readonly nothingBefore: string;

  /** `names`: of those who are here, one or more. */
  welcomes(names: readonly string[], human: string): Some;
  /** `rows`: who did not come and why, as the relay says it: `- Lyra (seat 1): …`. */
  missing(rows: readonly string[]): string;
  /** `late`: `Lyra (seat 1), seat 2`. */
  late(late: string): string;
  readonly nobodyCame: string;
  readonly leftAlone: string;
  noCall(why: string): string;
  readonly writtenDown: string;

  wroteToMe(from: string | null, text: string): string;
  /** Where a reminder comes back. */
  itIsTime(text: string): string;
  /**
   * What is done in a routine that it asks for: on one line, and found in it again by `inRoutine`.
   */
  routine(human: string, text: string): string;
  /** Null: it is none that it asked for. */
  inRoutine(does: string): string | null;
  /** For the person who is asked for it; `said`: their words. */
  routineWhy(said: string): string;
  /** Behind an answer, where it was to come again and may not ask for that. */
  readonly onlyOnce: string;
  gotFiles(files: readonly string[]): string;
  readonly noWaking: string;
  readonly staysUp: string;
  hearIt(name: string): string;
  readonly ownWords: string;
  /** What the relay has answered, told on: `tool` is one whose answer is for the person. */
  outcome(tool: string, answer: string): string;
  notDone(answer: string): string;
  readonly named: string;
  readonly soulWritten: string;
}
