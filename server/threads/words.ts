/** Threads in words, for minds. What was said stands as such (quoting.ts), so that nothing in it can pass for the head of another message. */
import { cutMiddle } from '../../src/domain/cut-middle.ts';
import { titled, writeSaid } from '../../src/domain/quoting.ts';
import { withSeatWhereAlike } from '../../src/domain/teammates.ts';
import { PERSON } from '../../src/domain/threads.ts';
import type { Thread, ThreadMessage } from '../../src/protocol/threads.ts';
import type { TeamMember } from '../../src/protocol/team.ts';
import { QUOTAS } from '../quotas.ts';
import { THREAD_LIMITS } from './settings.ts';
import type { Page } from './types.ts';

const INDENT = '    ';

export interface Words {
  head(thread: Thread): string;
  /** As one line of a list: of a long summary only the beginning. */
  listed(thread: Thread): string;
  /** `more` says where the rest is. */
  page(page: Page, more: string): string;
}

export function createWords(team: readonly TeamMember[], readerId: string): Words {
  function nameOf(id: string): string {
    if (id === PERSON) return 'the human';
    return `${withSeatWhereAlike(team, id)}${id === readerId ? ' (you)' : ''}`;
  }

  function head({ threadId, title, participants, messages, closed }: Thread): string {
    const state =
      closed === null
        ? 'open'
        : `closed by ${nameOf(closed.by)}${closed.summary === '' ? '' : `, who said: ${titled(closed.summary)}`}`;
    return `Thread ${titled(title)}, id ${threadId}, ${messages} ${messages === 1 ? 'message' : 'messages'}, ${state}\n${INDENT}in it: ${participants.map(nameOf).join(', ')}`;
  }

  function said({ place, from, text, mentions, time }: ThreadMessage): string {
    const mentioned = mentions.length === 0 ? '' : `, mentions ${mentions.map(nameOf).join(', ')}`;
    return writeSaid({
      head: `${place}. ${nameOf(from)}, ${new Date(time).toISOString()}${mentioned}:`,
      text: cutMiddle(text, THREAD_LIMITS.pageCharacters),
    });
  }

  return {
    head,
    listed: (thread) =>
      head(
        thread.closed === null
          ? thread
          : {
              ...thread,
              closed: { ...thread.closed, summary: cutMiddle(thread.closed.summary, QUOTAS.listedSummary) },
            },
      ),
    page({ thread, messages, more: isMore }, more) {
      return [head(thread), ...messages.map(said), ...(isMore ? [more] : [])].join('\n');
    },
  };
}
