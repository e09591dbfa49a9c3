import { t } from '../../language/t.ts';
import { newCount } from '../text/reasons.ts';
import { useQuery } from '../hooks.ts';
import { useNewInThread, useThreads } from './use-threads.ts';

/** Number of the person's unread messages in threads, beside the link to them. */
export default function ThreadsBadge({ className }: { className: string }) {
  const newIn = useNewInThread();
  const list = useQuery(useThreads().list);
  const count = list.kind === 'ready' ? newCount(list.value.map(newIn)) : '';
  if (count === '') return null;
  return (
    <>
      {' '}
      <span className={className}>
        {count}
        <span className="visually-hidden"> {t`new`}</span>
      </span>
    </>
  );
}
