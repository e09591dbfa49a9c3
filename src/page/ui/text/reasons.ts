/** Why an agent sleeps, in words, and what to do about it. */
import { UNREAD_MOST } from '../../../shared/domain/read-marks.ts';
import type { EndReason } from '../../../shared/protocol/documents.ts';
import type { LinkState, StorageProblem } from '../../../shared/protocol/worker.ts';
import { retold, t } from '../../language/t.ts';

// The number of unread messages, as text.

/** `7`, `99+`: of one conversation, or of several together. '' if there are none. */
export function newCount(counts: Iterable<number>): string {
  const all = [...counts];
  const sum = all.reduce((total, n) => total + n, 0);
  return sum === 0 ? '' : `${sum}${all.some((n) => n >= UNREAD_MOST) ? '+' : ''}`;
}

export function endText(reason: EndReason): string {
  switch (reason) {
    case 'ended':
      return t`you ended the session`;
    case 'idle':
      return t`nothing was said for a while`;
    case 'shutdown':
      return t`the relay was shut down`;
    case 'crash':
      return t`the relay crashed`;
    default:
      return reason satisfies never;
  }
}

/**
 * Shortens a reason for a cell: "It said nothing for 120 s." becomes "said nothing for 120 s", with
 * number and unit on one line.
 */
export const briefly = (reason: string): string =>
  retold(reason)
    .replace(/^(It|Er) /, '')
    .replace(/\.$/, '')
    .replace(/(\d) (s|ms|min)\b/g, '$1\u00a0$2');

export interface Trouble {
  readonly title: string;
  readonly advice: string;
}

const LOST: Record<Extract<LinkState, { kind: 'lost' }>['reason'], Trouble> = {
  unreachable: {
    title: t`The relay cannot be reached`,
    advice: t`Everyone sleeps. Check that it is running (npm start); it is tried again by itself.`,
  },
  silent: {
    title: t`The relay fell silent`,
    advice: t`Everyone sleeps until it is heard again. It is tried again by itself.`,
  },
  database: {
    title: t`The relay cannot reach its database`,
    advice: t`What is being said is kept until it can, and shown here then. It is tried again by itself.`,
  },
  failed: {
    title: t`This page cannot follow the relay`,
    advice: t`The relay is there, and the fault is here. Reload the page; until then it is tried again by itself.`,
  },
};

export function linkTrouble(link: LinkState): Trouble | null {
  switch (link.kind) {
    case 'live':
      if (link.databaseAway) return LOST.database;
      return link.held
        ? {
            title: t`Something between this page and the relay holds its event stream back`,
            advice: t`The relay itself answers, so Roost asks it every two seconds: words come later, and nothing is lost. Often it is a proxy that buffers, a virus scanner or an extension.`,
          }
        : null;
    case 'connecting':
      return null;
    case 'locked-out':
      return {
        title: t`This browser is not let in`,
        advice: t`It was not let in yet, or has lost its key. Press Enter in the terminal where Roost runs, and open the link that it prints here.`,
      };
    case 'elsewhere':
      return {
        title: t`This browser shares its sign-in with another household`,
        advice: t`Everyone sleeps: what the relay tells this browser is theirs, and is neither shown nor kept here. Take a sign-in for this browser alone; theirs stays as it is.`,
      };
    case 'lost':
      return LOST[link.reason];
    default:
      return link satisfies never;
  }
}

const STORAGE_TITLES: Record<StorageProblem['kind'], string> = {
  quota: t`The disk is full: nothing can be saved`,
  broken: t`Something is wrong with the storage on this device`,
  unreadable: t`The browser cannot read what it stored here`,
  blocked: t`What is stored here is not open yet`,
  'no-owner': t`This page cannot reach what is stored here`,
  damaged: t`A part of what is stored on this device was damaged`,
  unsupported: t`This browser cannot store what Roost needs`,
};

/** The data worker's message says what to do. */
export const storageTrouble = ({ kind, detail }: StorageProblem): Trouble => ({
  title: STORAGE_TITLES[kind],
  advice: retold(detail),
});
