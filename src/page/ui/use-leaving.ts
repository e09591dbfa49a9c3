import { useEffect } from 'react';

/**
 * Runs when the page is left or reloaded, also by the pull of a finger: for what would otherwise be
 * kept a moment later.
 */
export function useLeaving(run: () => void): void {
  useEffect(() => {
    addEventListener('pagehide', run);
    return () => removeEventListener('pagehide', run);
  });
}
