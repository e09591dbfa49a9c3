/** One press of a button that takes a while: idle, at work, or failed with a sentence. */
import { useRef, useState } from 'react';

type Press =
  | { readonly kind: 'idle' }
  | { readonly kind: 'working'; readonly what: string }
  | { readonly kind: 'failed'; readonly why: string };

export interface Action {
  readonly busy: boolean;
  /** What is being done, as the press named it; null: nothing. */
  readonly doing: string | null;
  /** Why the last press failed, until the next one. */
  readonly failed: string | null;
  /**
   * Does the work, unless some is under way. It failed if it resolves with a sentence, or with
   * `{ ok: false, reason }`.
   */
  readonly act: (work: () => Promise<unknown>, what?: string) => void;
  /** Shows a failure without any work, or hides the last one. */
  readonly fail: (why: string | null) => void;
}

const IDLE: Press = { kind: 'idle' };

function reasonOf(ended: unknown): string | null {
  if (typeof ended === 'string') return ended;
  if (typeof ended !== 'object' || ended === null || !('ok' in ended) || ended.ok !== false) return null;
  return 'reason' in ended ? String(ended.reason) : null;
}

const pressAfter = (why: string | null): Press => (why === null ? IDLE : { kind: 'failed', why });

export function useAction(): Action {
  const [press, setPress] = useState<Press>(IDLE);
  // A second press may come before the button is drawn as busy.
  const working = useRef(false);
  async function run(work: () => Promise<unknown>): Promise<void> {
    let after = IDLE;
    try {
      after = pressAfter(reasonOf(await work()));
    } finally {
      working.current = false;
      setPress(after);
    }
  }
  return {
    busy: press.kind === 'working',
    doing: press.kind === 'working' ? press.what : null,
    failed: press.kind === 'failed' ? press.why : null,
    act(work, what = '') {
      if (working.current) return;
      working.current = true;
      setPress({ kind: 'working', what });
      void run(work);
    },
    fail: (why) => setPress(pressAfter(why)),
  };
}
