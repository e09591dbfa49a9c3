/**
 * How often the browser's database failed where it was read. A start anew helps against much; where
 * it does not, and there is a mark to come back by, the database is emptied at the next start and
 * filled from files and relay.
 */
import { z } from 'zod';
import { createDeferred } from '../../../shared/domain/platform/deferred.ts';
import { type After, within } from '../../../shared/domain/platform/timers.ts';
import { readMark } from './mark.ts';
import { MIRROR } from './settings.ts';
import type { Files } from './files.ts';

const schema = z.object({ times: z.array(z.number()), empty: z.boolean() });
type Noted = z.infer<typeof schema>;
const NONE: Noted = { times: [], empty: false };

export interface Failures {
  /**
   * Is the database to be emptied before anything is read of it? Asked once, at the start; it is
   * over with the answer.
   */
  isToBeEmptied(): Promise<boolean>;
  /** It failed. Answers whether the owner is to begin anew. */
  note(): Promise<boolean>;
}

/**
 * The mark that localStorage holds, where the database does not open and nobody else could ask for
 * it.
 */
export function createOffered(after: After) {
  const heard = createDeferred<string | null>();
  return {
    hear: (text: string | null) => heard.resolve(text),
    /** null: none, or no tab has said anything in time. */
    text: (): Promise<string | null> => within(after, MIRROR.offeredWithin, heard.promise),
  };
}

export interface FailuresDeps {
  /** null: there are none. Nothing can be counted then, so nothing is begun anew. */
  readonly files: Files | null;
  /** The mark in localStorage. */
  readonly offered: () => Promise<string | null>;
  /** ms since the epoch */
  readonly now: () => number;
}

export function createFailures({ files, offered, now }: FailuresDeps): Failures {
  async function read(): Promise<Noted> {
    try {
      const bytes = await files?.read(MIRROR.failuresFile);
      return bytes ? schema.parse(JSON.parse(new TextDecoder().decode(bytes))) : NONE;
    } catch {
      // Whatever it was, it is no account of ours; and one that cannot be read keeps nothing from
      // opening.
      return NONE;
    }
  }
  const write = async (noted: Noted) =>
    files?.write(MIRROR.failuresFile, new TextEncoder().encode(JSON.stringify(noted)));
  async function canReturn(): Promise<boolean> {
    const bytes = await files?.read(MIRROR.markFile).catch(() => null);
    return (bytes && readMark(new TextDecoder().decode(bytes)) !== null) || readMark(await offered()) !== null;
  }
  return {
    async isToBeEmptied() {
      const noted = await read();
      if (noted.empty) await write({ ...noted, empty: false });
      return noted.empty;
    },
    async note() {
      if (!files) return false;
      const times = [...(await read()).times.filter((time) => Math.abs(now() - time) < MIRROR.failuresWithin), now()];
      if (times.length > MIRROR.failuresMost || !(await canReturn())) return false;
      await write({ times, empty: times.length >= MIRROR.failuresToEmpty });
      return true;
    },
  };
}
