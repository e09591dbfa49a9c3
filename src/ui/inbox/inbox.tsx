import { useState } from 'react';
import type { InboxMessage } from '../../protocol/inbox.ts';
import { reachQueries } from '../../state/reach-queries.ts';
import type { Paged } from '../../state/paged.ts';
import { useRoost } from '../context.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { useNow } from '../use-now.ts';
import { InboxMessageView } from './inbox-message.tsx';
import './inbox.css';

/** Asks for older rows, as long as there are any. */
export function OlderButton({ paged, label }: { paged: Paged<unknown>; label: string }) {
  const [busy, setBusy] = useState(false);
  const older = () => {
    setBusy(true);
    void paged.older().finally(() => setBusy(false));
  };
  return (
    <button type="button" className="ghost older" aria-disabled={busy} onClick={busy ? undefined : older}>
      {busy ? 'Reading…' : label}
    </button>
  );
}

function InboxMessages({ messages, name, label }: { messages: readonly InboxMessage[]; name: string; label: string }) {
  const now = useNow();
  if (messages.length === 0)
    return (
      <p className="quiet inbox-empty">
        Nothing was ever sent to {name}. What others write waits here until {name} reads it; each message is read once.
      </p>
    );
  return (
    <ul className="inbox-messages" aria-label={label}>
      {messages.map((one) => (
        <InboxMessageView key={one.messageId} message={one} now={now} />
      ))}
    </ul>
  );
}

/** All that was put into an agent's inbox, newest first. `first`: only so many, without paging. */
export function Inbox({ agentId, name, first }: { agentId: string; name: string; first?: number }) {
  const query = reachQueries(useRoost()).inbox(agentId);
  return (
    <QueryView query={query} what="The inbox">
      {({ rows, more }) => (
        <>
          <InboxMessages
            messages={first === undefined ? rows : rows.slice(0, first)}
            name={name}
            label={`Inbox of ${name}`}
          />
          {first === undefined && more && <OlderButton paged={query} label="Older messages" />}
        </>
      )}
    </QueryView>
  );
}
