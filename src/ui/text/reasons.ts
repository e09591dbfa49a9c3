/** Why somebody sleeps, in words, and what to do about it. */
import type { EndReason } from '../../protocol/documents.ts';
import type { LinkState, StorageProblem } from '../../protocol/worker.ts';

export function endText(reason: EndReason): string {
  switch (reason) {
    case 'ended':
      return 'you ended the session';
    case 'idle':
      return 'nothing was said for a while';
    case 'shutdown':
      return 'the relay was shut down';
    case 'crash':
      return 'the relay crashed';
    default:
      return reason satisfies never;
  }
}

/** A reason in the few words a cell has room for: "It said nothing for 120 s." becomes "said nothing for 120 s", figure and unit on one line. */
export const briefly = (reason: string): string => reason.replace(/^It /, '').replace(/\.$/, '').replace(/(\d) (s|ms|min)\b/g, '$1\u00a0$2');

export interface Trouble {
  readonly title: string;
  readonly advice: string;
}

export function linkTrouble(link: LinkState): Trouble | null {
  switch (link.kind) {
    case 'live':
    case 'connecting':
      return null;
    case 'locked-out':
      return {
        title: 'This browser is not let in',
        advice: 'Open the link that the relay printed when it started. If it was used already, start the relay again: it prints a new one.',
      };
    case 'lost':
      return link.reason === 'silent'
        ? { title: 'The relay fell silent', advice: 'Everyone sleeps until it is heard again. It is tried again by itself.' }
        : { title: 'The relay cannot be reached', advice: 'Everyone sleeps. Check that it is running (npm start); it is tried again by itself.' };
    default:
      return link satisfies never;
  }
}

export function storageTrouble({ kind, detail }: StorageProblem): Trouble {
  switch (kind) {
    case 'quota':
      return { title: 'The disk is full: nothing can be saved', advice: 'Free some space on this device. Saving goes on by itself when there is room; what you wrote stays on the page until then.' };
    case 'broken':
      return { title: 'The ledger on this device cannot be read', advice: `Close every tab of Roost and open one again. Nothing is deleted. (${detail})` };
    case 'blocked':
      return { title: 'Another version of this page is open', advice: 'Close the other tabs of Roost, then reload this one.' };
    case 'unexpectedly-empty':
      return { title: 'The ledger came up empty, although it should not be', advice: 'Nothing is written, so that nothing is buried. Close every tab of Roost and open one again.' };
    case 'no-owner':
      return { title: 'This tab can only look', advice: 'Another tab of Roost holds the ledger. Go on there, or close it and reload this one.' };
    default:
      return kind satisfies never;
  }
}
