import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { wakeQueries } from '../../state/wakes.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { Dialog } from '../design/dialog.tsx';
import { Inbox, useUnreadMessages, WakeToRead } from './inbox.tsx';
import { plural } from '../text/sizes.ts';

/** An agent's complete inbox. */
export default function InboxDialog({
  agentId,
  name,
  onClose,
}: {
  agentId: AgentId;
  name: string;
  onClose: () => void;
}) {
  const unread = useUnreadMessages(agentId);
  const isRead = useQuery(wakeQueries(useRoost()).inbox(agentId)).kind === 'ready';
  return (
    <Dialog title={t`Inbox of ${name}`} shape="wide" onClose={onClose}>
      <p className="under-5 ink-2 text-3" role="status">
        {unread === null || !isRead
          ? ''
          : unread === 0
            ? t`Nothing yet.`
            : t`${plural(unread, 'message')} waiting to be read`}
      </p>
      <WakeToRead agentId={agentId} />
      <Inbox agentId={agentId} name={name} />
    </Dialog>
  );
}
