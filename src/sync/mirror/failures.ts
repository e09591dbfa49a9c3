/**
 * How often the browser's database failed where it was read. A start anew helps against much; where it does not, and there
 * is a mark to come back by, the database is emptied at the next start and filled from files and relay.
 */
import { z } from 'zod';
import { readMark } from './mark.ts';
import { MIRROR } from './settings.ts';
import type { Files } from './files.ts';

const schema = z.object({ times: z.array(z.number()), empty: z.boolean() });
type Noted = z.infer<typeof schema>;
const NONE: Noted = { times: [], empty: false };

export interface Failures {
  /** Is the database to be emptied before anything is read of it? Asked once, at the start; it is over with the answer. */
  isToBeEmptied(): Promise<boolean>;
  /** It failed. Answers whether the owner is to begin anew. */
  note(): Promise<boolean>;
}

export function createFailures(files: Files, now: () => number): Failures {
  async function read(): Promise<Noted> {
    const bytes = await files.read(MIRROR.failuresFile);
    try {
      return bytes === null ? NONE : schema.parse(JSON.parse(new TextDecoder().decode(bytes)));
    } catch {
      // Whatever it was, it is no account of ours.
      return NONE;
    }
  }
  const write = (noted: Noted) => files.write(MIRROR.failuresFile, new TextEncoder().encode(JSON.stringify(noted)));
  return {
    async isToBeEmptied() {
      const noted = await read();
      if (noted.empty) await write({ ...noted, empty: false });
      return noted.empty;
    },
    async note() {
      const times = [...(await read()).times.filter((time) => Math.abs(now() - time) < MIRROR.failuresWithin), now()];
      const mark = await files.read(MIRROR.markFile);
      const canReturn = mark !== null && readMark(new TextDecoder().decode(mark)) !== null;
      if (!canReturn || times.length > MIRROR.failuresMost) return false;
      await write({ times, empty: times.length >= MIRROR.failuresToEmpty });
      return true;
    },
  };
}
