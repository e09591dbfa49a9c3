/**
 * What opens over the page without an address of its own is closed by Back, as people expect it of
 * a phone.
 */
import { useEffect } from 'react';

const MARK = 'roost-overlay';
const isMarked = () => (history.state as Readonly<Record<string, unknown>> | null)?.[MARK] === true;

/**
 * While `isOpen`, there is one step more in the history. Back takes it and closes; where it is
 * closed otherwise, the step is taken back, unless something has gone on from there in its place.
 */
export function useClosedByBack(isOpen: boolean, onClose: () => void): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    // Straight through: no address changes.
    if (!isMarked()) history.pushState({ [MARK]: true }, '', location.href);
    const onBack = () => {
      if (!isMarked()) onClose();
    };
    addEventListener('popstate', onBack);
    return () => {
      removeEventListener('popstate', onBack);
      // What was chosen may go elsewhere first, in place of this step.
      setTimeout(() => {
        if (isMarked() && !document.querySelector('dialog[open]')) history.back();
      });
    };
  }, [isOpen, onClose]);
}
