/** Why an agent sleeps, in words, and what to do about it. */
import { UNREAD_MOST } from '../../../shared/domain/read-marks.ts';
import type { EndReason } from '../../../shared/protocol/documents.ts';
import type { LinkState } from '../../../shared/protocol/worker.ts';
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
    advice: t`Everyone sleeps. Check that the relay is running (npm start). Roost keeps trying.`,
  },
  silent: {
    title: t`The relay stopped answering`,
    advice: t`Everyone sleeps until the relay answers. Roost keeps trying.`,
  },
  database: {
    title: t`The relay cannot reach its database`,
    advice: t`The relay stores new messages, and sends them here when the database is back. It keeps trying.`,
  },
  failed: {
    title: t`This page cannot follow the relay`,
    advice: t`The relay works, and the error is in this page. Reload the page. Until then Roost keeps trying.`,
  },
};

export function linkTrouble(link: LinkState): Trouble | null {
  switch (link.kind) {
    case 'live':
      if (link.databaseAway) return LOST.database;
      return link.held
        ? {
            title: t`Something between this page and the relay delays its event stream`,
            advice: t`The relay itself answers, so Roost polls it every two seconds. Words arrive later, and nothing is lost. The usual cause is a buffering proxy, a virus scanner or a browser extension.`,
          }
        : null;
    case 'connecting':
      return null;
    case 'locked-out':
      return {
        title: t`This browser is not signed in`,
        advice: t`Press Enter in the terminal where Roost runs, and open the link that it prints.`,
      };
    case 'elsewhere':
      return {
        title: t`This browser shares its sign-in with another household`,
        advice: t`Everyone sleeps. The relay sends this browser the other household’s events, which are neither shown nor stored here. Get a separate sign-in for this browser. The other household’s sign-in stays valid.`,
      };
    case 'lost':
      return LOST[link.reason];
    default:
      return link satisfies never;
  }
}
