/** What was stored cannot be read: the owner ends, and the next one brings it back. */
import type { After } from '../../../shared/domain/platform/timers.ts';
import { isUnreadable } from '../problem.ts';

export interface Anew {
  /** Answers false where nothing could bring it back. */
  begin(): Promise<boolean>;
  /** Begins anew where this error says so. */
  look(error: unknown): void;
  /** Nobody is told of a failure that the next start mends: it stays open until then. */
  orAnew<Opened>(opening: Promise<Opened>): Promise<Opened>;
}

export interface AnewDeps {
  /** For the next owner; answers whether it will find it. */
  readonly note: () => Promise<boolean>;
  /** What is not written yet, and can be. */
  readonly flush: () => Promise<void>;
  /** Tabs are told that this owner ends. */
  readonly tell: () => void;
  readonly after: After;
  readonly end: () => void;
  readonly onCrash: (error: unknown) => void;
}

export function createAnew({ note, flush, tell, after, end, onCrash }: AnewDeps): Anew {
  let ending: Promise<boolean> | null = null;
  function begin(): Promise<boolean> {
    ending ??= (async () => {
      if (!(await note())) {
        ending = null;
        return false;
      }
      await flush();
      tell();
      // What was told is on its way before the worker is gone.
      after(0, end);
      return true;
    })();
    return ending;
  }
  return {
    begin,
    look(error) {
      if (isUnreadable(error)) begin().catch(onCrash);
    },
    async orAnew(opening) {
      try {
        return await opening;
      } catch (error) {
        if (isUnreadable(error) && (await begin())) await new Promise<never>(() => undefined);
        throw error;
      }
    },
  };
}
