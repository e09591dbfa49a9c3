/**
 * Texts of notifications in the person's language, for the page and for its service worker, which
 * has no catalogue.
 */
import type { NotificationKind, ToldTexts } from '../../shared/domain/talk.ts';
import { t } from '../language/t.ts';

export function toldTitle(kind: NotificationKind, name: string): string {
  switch (kind) {
    case 'approval':
      return t`${name} waits for your answer`;
    case 'failure':
      return t`${name} could not finish a piece of work`;
    case 'mention':
      return t`${name} has a message for you`;
    case 'answer':
      return t`${name} has answered`;
    case 'night':
      return t`Your agents were at work while you were away`;
    default:
      return kind satisfies never;
  }
}

const NAME = '{name}';

/** The service worker fills in the placeholders. */
export const toldTexts = (): ToldTexts => ({
  approval: toldTitle('approval', NAME),
  failure: toldTitle('failure', NAME),
  mention: toldTitle('mention', NAME),
  answer: toldTitle('answer', NAME),
  night: toldTitle('night', NAME),
  over: t`Done on another device`,
  unread: t`Something waits for you in Roost`,
});
