/**
 * What was said, found while somebody types: the newest question counts, and ends those before it.
 */
import { errorText } from '../../state/ports.ts';
import { useEffect, useRef, useState } from 'react';
import type { SearchAnswer, SearchQuery } from '../../../shared/protocol/search.ts';
import { useRoost } from '../context.tsx';

/**
 * Letters from which on it is looked for; a single sign of some scripts is a word, and so is an
 * emoji.
 */
const LEAST = 2;
const WORD = /[\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{Extended_Pictographic}]/u;
/** ms between two looks while not everything can be found yet. */
const LOOK_AGAIN = 1_500;

export interface Searched {
  /** To the question that was asked last and is answered; null: none is. */
  readonly answer: SearchAnswer | null;
  /** What is typed is not answered yet. */
  readonly waits: boolean;
  /** Why it could not be looked for; null: it could. */
  readonly problem: string | null;
}
const NOTHING: Searched = { answer: null, waits: false, problem: null };

export const isSearch = (text: string): boolean => text.trim().length >= LEAST || WORD.test(text);

export function useSearch(query: SearchQuery): Searched {
  const { owner, device } = useRoost();
  const [searched, setSearched] = useState(NOTHING);
  const asked = isSearch(query.text) ? JSON.stringify(query) : null;
  /** The question that counts: one that was superseded answers nothing. */
  const newest = useRef<object | null>(null);
  const [line] = useState(device.newId);
  const [look, setLook] = useState(0);
  useEffect(() => {
    newest.current = null;
    if (asked === null) {
      setSearched(NOTHING);
      return;
    }
    setSearched((held) => ({ ...held, waits: true }));
    const question = {};
    newest.current = question;
    const ask = async () => {
      try {
        // As it was put together above.
        const answer = await owner.call('search', { ...(JSON.parse(asked) as SearchQuery), line });
        if (newest.current === question) setSearched({ answer, waits: false, problem: null });
      } catch (error) {
        const problem = errorText(error);
        if (newest.current === question) setSearched({ answer: null, waits: false, problem });
      }
    };
    void ask();
  }, [asked, owner, look, line]);
  useEffect(() => {
    // Read ahead; what goes wrong is told where something is asked.
    owner.call('search', { text: '', limit: 1 }).catch(() => undefined);
  }, [owner]);
  useEffect(
    () => () => {
      newest.current = null;
    },
    [],
  );
  const isBuilding = searched.answer?.state.kind === 'building';
  useEffect(
    () => (isBuilding ? device.after(LOOK_AGAIN, () => setLook((times) => times + 1)) : undefined),
    [isBuilding, look, device],
  );
  return asked === null ? NOTHING : searched;
}
