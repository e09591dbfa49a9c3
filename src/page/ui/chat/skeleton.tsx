/** Where a conversation is still read. */
import { t } from '../../language/t.ts';
export function Skeleton({ label = t`Reading the conversation` }: { label?: string }) {
  return (
    <div className="chat-skeleton" role="status" aria-label={label}>
      {[0, 1, 2].map((row) => (
        <div key={row}>
          <i />
          <span />
          <span />
        </div>
      ))}
    </div>
  );
}
