import { Link } from 'wouter';
import type { AddedToThread } from '../../domain/thread-notice.ts';
import { t } from '../../language/t.ts';
import { PATHS } from '../routes.ts';

/** A line across the conversation where its agent was taken into a thread, with the way there. `by`: who did it; null: the person. */
export function AddedCard({ added, name, by }: { added: AddedToThread; name: string; by: string | null }) {
  return (
    <p className="divider" dir="auto">
      <span>
        {t`${by ?? t`You`} took ${name} into the thread ${<Link href={PATHS.thread(added.threadId)}>{added.title}</Link>}`}
      </span>
    </p>
  );
}
