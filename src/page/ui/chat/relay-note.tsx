import { Link } from 'wouter';
import { addedOf, type AddedToThread } from '../../../shared/domain/threads.ts';
import { t } from '../../language/t.ts';
import { ChevronIcon } from '../parts/icons.tsx';
import { PATHS } from '../routes.ts';
import { useOpened } from './opened-keys.ts';

/** The relay's own messages about what an agent had asked to do have ids of this form. */
const ABOUT_CALL = /^call-/;

/**
 * A line across the conversation where its agent was taken into a thread, with the way there. `by`:
 * who did it; null: the person.
 */
export function AddedCard({ added, name, by }: { added: AddedToThread; name: string; by: string | null }) {
  return (
    <p className="divider" dir="auto">
      <span>
        {t`${by ?? t`You`} took ${name} into the thread ${<Link href={PATHS.thread(added.threadId)}>{added.title}</Link>}`}
      </span>
    </p>
  );
}

/**
 * What the relay put before an agent, in the agent's conversation. One line stands as it is; what
 * is longer was written for the agent, and opens.
 */
export function RelayNote({ messageId, text, name }: { messageId: string; text: string; name: string }) {
  const [open, setOpen] = useOpened(messageId);
  const [first = ''] = text.split('\n', 1);
  const added = addedOf(text);
  if (added) return <AddedCard added={added} name={name} by={null} />;
  if (!text.includes('\n'))
    return (
      <p className="divider" dir="auto">
        {text}
      </p>
    );
  return (
    <details className="tools relay-note" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <ChevronIcon />
        <span>{ABOUT_CALL.test(messageId) ? t`Roost told ${name} what came of its question` : first}</span>
      </summary>
      {open && <pre dir="auto">{text}</pre>}
    </details>
  );
}
