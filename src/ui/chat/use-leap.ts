import { useCallback, type KeyboardEvent, type RefObject } from 'react';
import type { VirtualizerHandle } from 'virtua';
import { useActions } from '../context.tsx';
import type { Stick } from './use-stick.ts';

/** Something that scrolls by itself, and has its own Home and End. */
const SCROLLS_ITSELF = 'pre, .md-table, input, textarea, select';

interface Leap {
  readonly stop: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** Home goes to the very beginning of a conversation, reading all of it on the way; End goes back; Escape stays. */
export function useLeap(
  agentId: string,
  list: RefObject<VirtualizerHandle | null>,
  { toEnd, leaveEnd, onTurnUp }: Stick,
): Leap {
  const actions = useActions();
  const stop = useCallback(() => actions.stopLeap(agentId), [actions, agentId]);
  const toBeginning = useCallback(() => {
    leaveEnd();
    void actions.leap(agentId).then((there) => {
      // A frame later the earliest rows are in the list.
      if (there) requestAnimationFrame(() => list.current?.scrollTo(0));
    });
  }, [actions, agentId, leaveEnd, list]);

  const onKeyDown = useCallback(
    (event: KeyboardEvent) => {
      if (
        event.altKey ||
        event.metaKey ||
        event.shiftKey ||
        (event.target instanceof Element && event.target.closest(SCROLLS_ITSELF))
      )
        return;
      switch (event.key) {
        case 'Home':
          event.preventDefault();
          toBeginning();
          break;
        case 'End':
          event.preventDefault();
          stop();
          toEnd();
          break;
        case 'Escape':
          stop();
          break;
        case 'PageUp':
        case 'ArrowUp':
          onTurnUp();
      }
    },
    [toBeginning, stop, toEnd, onTurnUp],
  );
  return { stop, onKeyDown };
}
