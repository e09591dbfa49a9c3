/** The words that the parts say themselves. The page gives them in its language. */
import { createContext, use } from 'react';

export interface Words {
  readonly close: string;
  readonly keep: string;
  readonly saving: string;
  readonly working: string;
  readonly saved: string;
  readonly undo: string;
}

export const DesignWords = createContext<Words>({
  close: 'Close',
  keep: 'Keep it',
  saving: 'Saving…',
  working: 'Working…',
  saved: 'Saved. It applies now.',
  undo: 'Undo',
});

export const useWords = (): Words => use(DesignWords);
